"""Which flags are still missing from the figures."""

import pytest

from oomph.engines.vllm.unread import not_modelled
from oomph.ledger.quantization import Format, Method, Quantization, Scheme
from oomph.ledger.settings import Flags, Value

AWQ = Quantization(method=Method.AWQ, scheme=Scheme(format=Format.AWQ, bits=4, group=128))


@pytest.mark.parametrize(
    "flags",
    [
        {"dtype": "float32", "load_format": "runai_streamer", "cpu_offload_gb": 4.0},
        {"quantization": "fp8"},
        {"quantization": "bitsandbytes", "load_format": "bitsandbytes"},
        {"enable_lora": True, "max_loras": 4},
        {"data_parallel_size": 2, "enable_eplb": True, "decode_context_parallel_size": 2},
        {"compilation_config": '{"cudagraph_mode": "NONE"}', "optimization_level": 0, "performance_mode": "throughput"},
        {"hf_overrides": '{"max_position_embeddings": 1000}'},
        {"speculative_config": '{"method": "ngram", "num_speculative_tokens": 4}'},
        {"speculative_config": '{"method": "eagle3", "model": "a/b", "num_speculative_tokens": 4}'},
    ],
    ids=str,
)
def test_what_is_computed_or_bounded_is_not_named(flags: dict[str, Value]) -> None:
    assert not_modelled(Flags(flags)) is None


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ({"quantization": "torchao"}, "--quantization"),
        ({"quantization": "awq"}, "--quantization"),  # of a checkpoint that is not stored so
        ({"load_format": "tensorizer"}, "--load-format"),
        ({"hf_overrides": '{"num_hidden_layers": 2}'}, "--hf-overrides"),
        ({"speculative_config": '{"model": "a/b-1B", "num_speculative_tokens": 4}'}, "--speculative-config"),
        ({"offload_backend": "prefetch"}, "--offload-backend"),
        ({"kv_transfer_config": "{}", "use_replayssm": True}, "--kv-transfer-config, --use-replayssm"),
    ],
)
def test_what_is_missing_is_named(flags: dict[str, Value], named: str) -> None:
    words = not_modelled(Flags(flags))

    assert words is not None
    assert f"what {named} changes" in words


def test_a_name_is_known_by_how_the_checkpoint_is_stored() -> None:
    assert not_modelled(Flags({"quantization": "awq_marlin"}), AWQ) is None
    assert not_modelled(Flags({"quantization": "fp8"}), AWQ) is not None
