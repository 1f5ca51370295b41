"""What the weights take once they are loaded, and what loading takes besides, on models small enough for a pencil."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.architectures.registry import geometry
from oomph.engines.history import release
from oomph.engines.vllm.formulas.allocator import held
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.weights.loaded import load_peak, resident
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.errors import UsageError
from oomph.ledger.device import Capability
from oomph.ledger.ledger import Account, Basis
from oomph.ledger.quantization import Format, Grain, Method, Quantization, Scheme
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB, MIB, Bounds

HIDDEN, INNER, WORDS, LAYERS, CONTEXT = 1024, 2048, 4096, 3, 8192
SMALL: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"],
    "torch_dtype": "bfloat16",
    "hidden_size": HIDDEN,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "vocab_size": WORDS,
    "max_position_embeddings": CONTEXT,
}
ATTENTION = 4 * HIDDEN * HIDDEN  # queries, keys, values and back
FEED = 3 * HIDDEN * INNER
NORMS = (2 * LAYERS + 1) * HIDDEN
TABLES = 2 * WORDS * HIDDEN
TURNED = CONTEXT * 128  # one row for each position, as wide as a head
LINEAR = LAYERS * (ATTENTION + FEED)
HOPPER, TURING = Capability(major=9, minor=0), Capability(major=7, minor=5)
NEWEST = release("0.32.0")
MODEL = Model(name="small", geometry=geometry(SMALL))


def size(model: Model = MODEL, *, at: str = "0.32.0", ranks: Ranks | None = None, **flags: Value) -> Bounds:
    return resident(model, Flags(flags), HOPPER, release(at), ranks=ranks or Ranks()).size


def peak(model: Model = MODEL, *, at: str = "0.32.0", **flags: Value) -> Bounds:
    return load_peak(model, Flags(flags), HOPPER, release(at), ranks=Ranks())


def test_a_small_model_is_its_parameters_and_its_tables() -> None:
    entry = resident(MODEL, Flags(), HOPPER, NEWEST, ranks=Ranks())

    assert entry.size == Bounds(2 * (LINEAR + NORMS + TABLES + TURNED))
    assert (entry.account, entry.basis) == (Account.WEIGHTS, Basis.COMPUTED)
    assert "tables for positions: 2.00 MiB" in entry.because


def test_every_tensor_is_a_block_of_the_allocator() -> None:
    odd = Model(name="odd", geometry=geometry(SMALL | {"intermediate_size": 2056, "vocab_size": 4032 * 5}))
    # 2056 × 1024 and twice that are held as they are; 20,160 rows of words are 39.375 MiB, held as 40.
    assert held(20160 * HIDDEN * 2) == 40 * MIB
    exact = 2 * (LAYERS * (ATTENTION + 3 * HIDDEN * 2056) + NORMS + TURNED)

    assert size(odd) == Bounds(exact + 2 * 40 * MIB)


@pytest.mark.parametrize(("dtype", "width"), [("auto", 2), ("half", 2), ("bfloat16", 2), ("float32", 4), ("float", 4)])
def test_the_format_that_is_asked_for_decides_the_width(dtype: str, width: int) -> None:
    assert size(dtype=dtype) == Bounds(width * (LINEAR + NORMS + TABLES + TURNED))


def test_bfloat16_is_refused_where_the_device_has_none() -> None:
    with pytest.raises(UsageError, match=r"8\.0, this one has 7\.5"):
        resident(MODEL, Flags({"dtype": "bfloat16"}), TURING, NEWEST, ranks=Ranks())


def test_a_model_that_is_unstable_in_float16_is_served_at_full_width_where_there_is_no_bfloat16() -> None:
    gemma = Model(name="gemma", geometry=geometry(SMALL | {"architectures": ["Gemma2ForCausalLM"], "head_dim": 128}))
    new, old = (resident(gemma, Flags(), each, NEWEST, ranks=Ranks()).size.likely for each in (HOPPER, TURING))

    assert old == 2 * new


def test_fp8_while_loading_halves_the_matrices_but_not_words_and_head() -> None:
    scales = LAYERS * 4 * 512  # one tensor of a few numbers for each of four matrices

    assert size(quantization="fp8") == Bounds(LINEAR + scales + 2 * (NORMS + TABLES + TURNED))


def test_older_releases_hold_the_whole_model_in_16_bits_before_they_quantize_it() -> None:
    before = size().likely - size(quantization="fp8").likely

    assert peak(quantization="fp8", at="0.15.1").low == before
    assert peak(quantization="fp8").low == 0
    assert peak(quantization="fp8").high == 2 * 2 * 2 * HIDDEN * INNER * 1  # the widest matrix, up and gate, twice


def test_bitsandbytes_is_bounded_by_what_its_scales_take() -> None:
    fixed = LINEAR // 2 + 2 * (NORMS + TABLES + TURNED)

    found = size(quantization="bitsandbytes", at="0.19.1")
    assert found.low == fixed + LINEAR // 64
    assert found.high == fixed + LINEAR // 64 * 4
    assert found.low < found.likely < found.high


def test_bitsandbytes_is_refused_by_releases_that_have_it_no_more() -> None:
    with pytest.raises(UsageError, match=r"vLLM 0\.28\.0 cannot read bitsandbytes"):
        size(quantization="bitsandbytes", at="0.28.0")


def test_a_name_under_which_a_checkpoint_is_read_as_it_is_changes_nothing() -> None:
    scheme = Scheme(format=Format.AWQ, bits=4, grain=Grain.GROUP, group=128, symmetric=False)
    stored = replace(MODEL, quantization=Quantization(method=Method.AWQ, scheme=scheme))

    assert size(stored) == size(stored, quantization="awq") == size(stored, quantization="awq_marlin")
    entry = resident(stored, Flags({"quantization": "gguf"}), HOPPER, NEWEST, ranks=Ranks())
    assert (entry.size, entry.basis) == (size(stored), Basis.ASSUMED)


def test_adapters_have_two_thin_matrices_beside_each_that_they_change() -> None:
    inward = 3 * HIDDEN + HIDDEN + 2 * HIDDEN + INNER  # to the rank: from the inputs of each fused matrix
    outward = 3 * HIDDEN + HIDDEN + 2 * INNER + HIDDEN  # and from it, to its outputs
    rank, slots = 16, 3
    layers = 2 * slots * rank * LAYERS * (inward + outward)
    ends = 2 * 2 * slots * rank * (WORDS + HIDDEN)

    found = size(enable_lora=True, max_loras=slots)
    assert found - size() == Bounds(layers, layers + ends, layers + ends)
    assert size(enable_lora=True, max_loras=slots, lora_dtype="float32").low - size().low == 2 * layers


def test_experts_have_adapters_since_0_11_1() -> None:
    routed = {"architectures": ["MixtralForCausalLM"], "num_local_experts": 4, "num_experts_per_tok": 2}
    model = Model(name="routed", geometry=geometry(SMALL | routed))
    older, newer = (
        size(model, at=each, enable_lora=True).low - size(model, at=each).low for each in ("0.11.0", "0.11.1")
    )

    assert newer - older == 2 * 16 * LAYERS * 4 * 3 * (HIDDEN + INNER)


def test_parameters_go_to_the_host_until_the_budget_is_reached() -> None:
    moved = size() - size(cpu_offload_gb=0.01).likely

    assert moved.likely == int(0.01 * GIB)
    assert size(cpu_offload_gb=0.01).low == size().low - int(0.01 * GIB) - 4 * HIDDEN * INNER  # the last moves whole
    assert size(cpu_offload_gb=100).high == 2 * (TABLES + HIDDEN + TURNED)  # only layers move


def test_a_draft_of_its_own_layers_shares_words_and_head_once_it_is_loaded() -> None:
    layer = ATTENTION + FEED + 2 * HIDDEN + 3 * HIDDEN  # with biases of queries, keys and values
    joins = 2 * HIDDEN * HIDDEN + 3 * HIDDEN
    mimo = SMALL | {"architectures": ["MiMoForCausalLM"], "num_nextn_predict_layers": 1}
    model = Model(name="mimo", geometry=geometry(mimo))
    guesses = '{"method": "mtp", "num_speculative_tokens": 1}'

    assert size(model, speculative_config=guesses) - size(model).likely == Bounds(2 * (layer + joins))
    assert peak(model, speculative_config=guesses) == Bounds(2 * TABLES)
    assert size(model, speculative_config='{"method": "ngram", "num_speculative_tokens": 3}') == size(model)


def test_a_draft_stands_on_the_last_stage_with_words_of_its_own() -> None:
    mimo = SMALL | {"architectures": ["MiMoForCausalLM"], "num_nextn_predict_layers": 1}
    model = Model(name="mimo", geometry=geometry(mimo))
    guesses = '{"method": "mtp", "num_speculative_tokens": 1}'
    first, last = (Ranks(pipeline=2, stage=stage) for stage in (0, 1))

    assert size(model, ranks=first, speculative_config=guesses) == size(model, ranks=first)
    alone = size(model, speculative_config=guesses).likely - size(model).likely
    apart = size(model, ranks=last, speculative_config=guesses).likely - size(model, ranks=last).likely
    assert apart == alone + 2 * WORDS * HIDDEN


@pytest.mark.parametrize("method", ["eagle", "eagle3", "medusa"])
def test_a_head_that_is_only_named_is_bounded_and_assumed(method: str) -> None:
    flags = Flags({"speculative_config": f'{{"method": "{method}", "model": "x/y", "num_speculative_tokens": 3}}'})
    entry = resident(MODEL, flags, HOPPER, NEWEST, ranks=Ranks())

    assert entry.basis is Basis.ASSUMED
    assert entry.size.low > size().low
    # EAGLE's own head for Llama 3.1 8B: a layer, what joins three states, and 32,000 words.
    own = 3 * HIDDEN**2 + 2 * ATTENTION + FEED + min(32_000, WORDS) * HIDDEN
    assert size().likely + 2 * own in entry.size


def test_a_draft_model_is_as_large_as_its_name_says() -> None:
    flags = Flags({"speculative_config": '{"model": "Qwen/Qwen3-0.6B", "num_speculative_tokens": 3}'})
    entry = resident(MODEL, flags, HOPPER, NEWEST, ranks=Ranks())
    drafts = entry.size - size()

    assert entry.basis is Basis.ASSUMED
    assert 1_192_099_840 in drafts  # of Qwen3 0.6B in bfloat16, its words once


def test_room_to_move_experts_is_at_most_a_layer_of_them() -> None:
    routed = {"architectures": ["MixtralForCausalLM"], "num_local_experts": 4, "num_experts_per_tok": 2}
    model = Model(name="routed", geometry=geometry(SMALL | routed))
    whole = Ranks(tensor=2, experts_whole=True)
    alone, more = size(model, ranks=whole), size(model, ranks=replace(whole, redundant=2))

    assert more.low - alone.low == LAYERS * 2 * FEED  # three experts on each rank instead of two
    assert size(model, ranks=whole, enable_eplb=True) == alone + Bounds(0, 2 * 2 * FEED)


@given(
    st.fixed_dictionaries(
        {
            "dtype": st.sampled_from(["auto", "float32"]),
            "quantization": st.sampled_from([None, "fp8", "fp8_per_block", "mxfp8", "bitsandbytes"]),
            "load_format": st.sampled_from(["auto", "dummy", "runai_streamer", "fastsafetensors"]),
            "enable_lora": st.booleans(),
            "max_loras": st.integers(1, 8),
            "cpu_offload_gb": st.floats(0, 1),
        }
    ),
    st.sampled_from(["0.9.2", "0.15.1", "0.19.1"]),
    st.sampled_from([1, 2, 4]),
)
def test_bounds_are_in_order_and_more_adapters_never_take_less(flags: dict[str, Value], at: str, ranks: int) -> None:
    there, given = Ranks(tensor=ranks), Flags(flags)
    found, more = (
        resident(MODEL, each, HOPPER, release(at), ranks=there).size for each in (given, given.but(max_loras=9))
    )

    assert 0 < found.low <= found.likely <= found.high
    assert more.low >= found.low
    assert load_peak(MODEL, given, HOPPER, release(at), ranks=there).low >= 0
