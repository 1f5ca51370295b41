"""What guides say about memory, held against the forecast: ten commands from published guides, each with its claim.

The guides are the ones that oomph was begun with. Where they are right the test says so too.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engines.vllm.models import LLAMA as LLAMA_8B
from oomph.cli.main import main
from oomph.units import GIB

LLAMA_70B = LLAMA_8B | {
    "hidden_size": 8192,
    "intermediate_size": 28_672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
}
QWEN_72B = LLAMA_70B | {
    "architectures": ["Qwen2ForCausalLM"],
    "intermediate_size": 29_568,
    "vocab_size": 152_064,
    "max_position_embeddings": 32_768,
}
FOUR_BIT = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"}
MODELS = {
    "Llama-3-8B": LLAMA_8B,
    "Llama-3-8B-GPTQ": LLAMA_8B | {"quantization_config": FOUR_BIT},
    "Llama-3-70B": LLAMA_70B,
    "Llama-3-70B-AWQ": LLAMA_70B | {"quantization_config": AWQ},
    "Qwen2-72B": QWEN_72B,
}
SERVER = "python -m vllm.entrypoints.openai.api_server --model"

Plan = Callable[..., dict]  # type: ignore[type-arg] # what json gives


@pytest.fixture
def plan(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Ask `oomph plan`; models are folders of these names."""
    for name, config in MODELS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(config))
    monkeypatch.chdir(tmp_path)

    def ask(command: str, *, gpu: str = "rtx-4090", release: str = "0.19.1") -> dict:  # type: ignore[type-arg] # as above
        main(["plan", "--json", "--gpu", gpu, "--release", release, "--", *command.split()])
        found: dict = json.loads(capsys.readouterr().out)  # type: ignore[type-arg] # as above
        return found

    return ask


def pool(found: dict) -> int:  # type: ignore[type-arg] # what json gives
    return int(found["kv"]["size"]["likely"])


def weights(found: dict) -> float:  # type: ignore[type-arg] # what json gives
    return float(sum(entry["size"]["likely"] for entry in found["ledger"] if entry["account"] == "weights")) / GIB


def test_a_shorter_max_model_len_does_not_shrink_the_pool_by_8_times(plan: Plan) -> None:
    """Claim: cutting --max-model-len from 32768 to 4096 reduces KV cache memory by roughly 8 times."""
    long, short = (
        plan(f"{SERVER} Llama-3-8B --max-model-len {tokens} --gpu-memory-utilization 0.90") for tokens in (32_768, 4096)
    )

    assert pool(long) == pool(short)
    # What it does change: what one request may need, and so how many of full length are sure to run at once.
    assert long["kv"]["need"] == 8 * short["kv"]["need"]
    assert short["kv"]["concurrency"] == pytest.approx(8 * long["kv"]["concurrency"])
    assert (long["verdict"], short["verdict"]) == ("fits", "fits")


def test_a_larger_share_does_enlarge_the_pool_by_exactly_that_share(plan: Plan) -> None:
    """Claim: --gpu-memory-utilization 0.95 gives 5 percent more; right, and all of it goes to the pool."""
    usual, more = (
        plan(f"{SERVER} Llama-3-8B --max-model-len 8192 --gpu-memory-utilization {share}") for share in ("0.90", "0.95")
    )

    assert pool(more) - pool(usual) == pytest.approx(0.05 * more["device"]["total"], abs=2)
    assert more["verdict"] != "overflows"


def test_four_bits_of_8b_are_5_gib_not_4(plan: Plan) -> None:
    """Claim: a 4-bit 8B model uses roughly 4 GB instead of 14 GB; embedding and head stay in 16 bit."""
    plain, packed = (plan(f"{SERVER} {name} --max-model-len 16384") for name in ("Llama-3-8B", "Llama-3-8B-GPTQ"))

    assert weights(plain) == pytest.approx(14.99, abs=0.01)
    assert weights(packed) == pytest.approx(5.4, abs=0.1)
    assert pool(packed) / pool(plain) == pytest.approx(2.5, abs=0.2)  # not three times


def test_70b_in_16_bit_does_not_run_on_four_24_gb_cards(plan: Plan) -> None:
    """Claim: a 70B model runs comfortably across four 24 GB cards."""
    found = plan(f"{SERVER} Llama-3-70B --tensor-parallel-size 4 --max-model-len 8192", gpu="rtx-4090 x4")

    assert (found["verdict"], found["gate"]) == ("overflows", "load")
    assert weights(found) == pytest.approx(32.9, abs=0.2)
    assert "--gpu-memory-utilization" in found["gates"][1]["inert"]


def test_lowering_the_share_takes_from_the_pool_and_from_nothing_else(plan: Plan) -> None:
    """Claim: the default share is aggressive, start at 0.85 on 24 GB cards."""
    usual, lower = (
        plan(f"{SERVER} Llama-3-8B --max-model-len 8192 --gpu-memory-utilization {share}") for share in ("0.90", "0.85")
    )

    assert weights(usual) == weights(lower)
    assert pool(usual) - pool(lower) == pytest.approx(0.05 * usual["device"]["total"], abs=2)
    assert usual["verdict"] == lower["verdict"] == "fits"


def test_eight_requests_of_32k_of_70b_are_80_gib_but_the_pool_is_not_made_for_them(plan: Plan) -> None:
    """Claim: at 32k with eight sequences it costs about 80 GB of KV; right. And the pool is sized to that; wrong."""
    few, many = (
        plan(
            f"{SERVER} Llama-3-70B --tensor-parallel-size 4 --max-model-len 32768 --max-num-seqs {count}",
            gpu="a100-80gb x4",
        )
        for count in (8, 64)
    )

    assert 8 * 4 * few["kv"]["need"] == 80 * GIB  # four ranks with a quarter each
    assert pool(few) == pytest.approx(pool(many), rel=0.02)


def test_fewer_sequences_free_what_sampling_takes_not_a_block_each(plan: Plan) -> None:
    """Claim: each sequence consumes its own KV block, so --max-num-seqs 16 saves memory."""
    usual, few = (plan(f"{SERVER} Llama-3-8B --max-model-len 8192 --max-num-seqs {count}") for count in (256, 16))

    assert 0 < pool(few) - pool(usual) < GIB / 2  # a few hundred MiB of logits, on a dense model
    assert few["kv"]["need"] == usual["kv"]["need"]


def test_prefix_caching_reserves_nothing(plan: Plan) -> None:
    """Claim: without shared prefixes the cache reserves VRAM that the live KV could have used."""
    cached, not_cached = (
        plan(f"{SERVER} Llama-3-8B --max-model-len 8192 {flag}")
        for flag in ("--enable-prefix-caching", "--no-enable-prefix-caching")
    )

    assert pool(cached) == pool(not_cached)
    assert cached["kv"]["blocks"] == not_cached["kv"]["blocks"]


def test_the_reference_config_for_70b_awq_on_40_gb_does_not_start(plan: Plan) -> None:
    """Claim: a ready config for a 40 GB A100: 70B AWQ, share 0.88, 8192 tokens, 16 sequences."""
    found = plan(
        "vllm serve Llama-3-70B-AWQ --quantization awq --gpu-memory-utilization 0.88 --max-model-len 8192"
        " --max-num-seqs 16 --enable-prefix-caching",
        gpu="a100-40gb",
    )

    assert weights(found) == pytest.approx(37.1, abs=0.3)
    assert (found["verdict"], found["gate"]) == ("overflows", "pool-size")


def test_the_reference_config_for_8b_on_24_gb_starts(plan: Plan) -> None:
    """Claim: a ready config for a 24 GB card: 8B, share 0.85, 8192 tokens, 32 sequences; right."""
    found = plan(
        "vllm serve Llama-3-8B --gpu-memory-utilization 0.85 --max-model-len 8192 --max-num-seqs 32"
        " --no-enable-prefix-caching"
    )

    assert (found["verdict"], found["gate"]) == ("fits", None)
    assert found["kv"]["concurrency"] < 5  # of full length at once, not the 32 that it lets in


def test_a_smaller_block_changes_nothing_of_the_pool(plan: Plan) -> None:
    """Claim: --block-size changes the total KV capacity, so adjust the share."""
    small, usual = (
        plan(
            f"{SERVER} Qwen2-72B --tensor-parallel-size 4 --max-model-len 32768 --block-size {tokens}",
            gpu="a100-80gb x4",
        )
        for tokens in (16, 32)
    )

    assert pool(small) == pool(usual)
    assert small["kv"]["tokens"] == pytest.approx(usual["kv"]["tokens"], rel=0.001)


def test_flags_of_the_start_script_are_refused_by_name(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    """Claim: --swap-space 8 swaps unused blocks, --max-num-on-the-fly-batches 4 controls concurrent batches."""
    del plan
    said = {}
    for flag in ("--swap-space 8", "--max-num-on-the-fly-batches 4"):
        asked = ["plan", "--gpu", "a100-80gb x4", "--release", "0.19.1", "--", *f"{SERVER} Qwen2-72B {flag}".split()]
        assert main(asked) == 2
        said[flag] = capsys.readouterr().err

    assert "removed in 0.18.0" in said["--swap-space 8"]
    assert "no release of vLLM" in said["--max-num-on-the-fly-batches 4"]
