"""What vLLM chooses by itself on a GPU: sequences and tokens of a step, and captured sizes, the same as ours."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.pipe import RELEASES, Bench
from engine.test_formulas import Case, differing
from oomph.engines.history import Release, release
from oomph.engines.vllm import facts
from oomph.engines.vllm.formulas.batches import Usage
from oomph.engines.vllm.formulas.captures import Wish
from oomph.engines.vllm.resolve import resolve
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Device
from oomph.ledger.settings import Flags, Value

GPUS = ("t4", "rtx-3090", "rtx-5090", "a100-80gb", "h100-80gb", "b200")
PAIRS = [(name, gpu) for name in RELEASES for gpu in GPUS]
few = settings(max_examples=4, deadline=None)

TINY = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 256,
    "max_position_embeddings": 8192,
    "torch_dtype": "float16",
}


def told(device: Device) -> Mapping[str, object]:
    """A device in the judge's words."""
    assert device.capability is not None
    capability = [device.capability.major, device.capability.minor]
    return {"name": device.name, "capability": capability, "total": int(device.total)}


def limits(device: Device) -> st.SearchStrategy[Case]:
    return st.fixed_dictionaries(
        {
            "device": st.just(told(device)),
            "sequences": st.none() | st.integers(1, 4096),
            "tokens": st.none() | st.integers(1, 65536),
            "context_tokens": st.integers(1, 1 << 20),
            "usage": st.sampled_from(["server", "offline"]),
        }
    )


@pytest.mark.parametrize(("name", "gpu"), PAIRS)
def test_sequences_and_tokens_of_a_step_are_vllms(name: str, gpu: str, judges: Bench) -> None:
    asked, device = release(name), CATALOGUE[gpu]

    def ours(case: Case) -> object:
        default = facts.batch.at(asked)(device, Usage(str(case["usage"])))
        found = facts.batch_limits.at(asked)(
            default,
            sequences=_whole(case["sequences"]),
            tokens=_whole(case["tokens"]),
            context_tokens=_whole(case["context_tokens"]) or 0,
        )
        return [found.sequences, found.tokens]

    @few
    @given(st.lists(limits(device), min_size=1, max_size=50))
    def equal(cases: list[Case]) -> None:
        assert differing(judges[name], "batch", cases, ours) == []

    equal()


def grids(device: Device) -> st.SearchStrategy[Case]:
    return st.fixed_dictionaries(
        {
            "device": st.just(told(device)),
            "sequences": st.integers(1, 2048),
            "tokens": st.integers(1, 20000),
            "speculative": st.integers(0, 9),
            "largest": st.none() | st.integers(1, 2048),
        }
    )


def our_grid(device: Device, asked: Release, case: Case) -> object:
    wish = Wish(
        sequences=_whole(case["sequences"]) or 0,
        tokens=_whole(case["tokens"]) or 0,
        speculative_tokens=_whole(case["speculative"]) or 0,
        capability=device.capability,
        largest=_whole(case["largest"]),
    )
    return list(facts.capture_sizes.at(asked)(wish))


@pytest.mark.parametrize(("name", "gpu"), PAIRS)
def test_captured_sizes_are_vllms(name: str, gpu: str, judges: Bench) -> None:
    asked, device = release(name), CATALOGUE[gpu]

    @few
    @given(st.lists(grids(device).map(lambda case: _fitting(name, case)), min_size=1, max_size=50))
    def equal(cases: list[Case]) -> None:
        assert differing(judges[name], "captures", cases, lambda case: our_grid(device, asked, case)) == []

    equal()


def _fitting(name: str, case: Case) -> Case:
    """0.11.0 has no largest size to give, and refuses a step that cannot hold all sequences."""
    if name != "0.11.0":
        return case
    tokens, sequences = _whole(case["tokens"]) or 1, _whole(case["sequences"]) or 1
    return {**case, "largest": None, "tokens": max(tokens, sequences)}


def test_a_grid_that_ends_one_step_early_is_caught(judges: Bench) -> None:
    device, asked = CATALOGUE["h100-80gb"], release("0.32.0")
    case = {"device": told(device), "sequences": 256, "tokens": 8192, "speculative": 0, "largest": None}

    def early(wrong: Case) -> object:
        right = our_grid(device, asked, wrong)
        assert isinstance(right, list)
        return right[:-1]

    assert differing(judges["0.32.0"], "captures", [case], early) != []


# A whole configuration takes about a second, so one of each release and, for the newest, one of each device.
WHOLE = [(name, GPUS[index % len(GPUS)]) for index, name in enumerate(RELEASES)] + [("0.32.0", gpu) for gpu in GPUS]


@pytest.mark.parametrize(("name", "gpu"), WHOLE)
@pytest.mark.parametrize("flags", [{}, {"max_num_seqs": 13, "max_num_batched_tokens": 300}], ids=["defaults", "given"])
def test_a_whole_configuration_of_vllm_has_our_settings(
    flags: dict[str, Value], name: str, gpu: str, judges: Bench
) -> None:
    device = CATALOGUE[gpu]
    theirs = judges[name].ask("defaults", device=told(device), config=TINY, flags=flags)
    ours = resolve(Flags(flags), device=device, release=release(name), context_tokens=8192)
    assert isinstance(theirs, dict)

    assert {
        "gpu_memory_utilization": ours["gpu_memory_utilization"].value,
        "max_num_seqs": ours["max_num_seqs"].value,
        "max_num_batched_tokens": ours["max_num_batched_tokens"].value,
    } == {key: theirs[key] for key in ("gpu_memory_utilization", "max_num_seqs", "max_num_batched_tokens")}
    assert ours["cudagraph_capture_sizes"].value == tuple(sorted(theirs["capture_sizes"]))
    assert theirs["block_size"] in {None, facts.block_tokens.at(release(name))}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
