"""The same question to our formulas and to vLLM's own code, on every release that can be asked: the same bytes."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.pipe import RELEASES, Bench, Judge
from oomph.engines.history import release
from oomph.engines.vllm import facts
from oomph.engines.vllm.forecast import forecast
from oomph.engines.vllm.formulas import budget
from oomph.engines.vllm.given import human
from oomph.engines.vllm.lines import spoken
from oomph.engines.vllm.pool import layers
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.ledger.device import Device
from oomph.ledger.gate import Verdict
from oomph.ledger.geometry import Attention, Latent
from oomph.ledger.settings import Flags
from oomph.units import GIB, MIB, Bounds, Bytes

Case: TypeAlias = Mapping[str, object]
REFUSED = "refused"

DTYPES = ("bfloat16", "float32", "fp8")
few = settings(max_examples=8, deadline=None)


def many(case: st.SearchStrategy[Case]) -> st.SearchStrategy[list[Case]]:
    """So many that a question's way through the pipe does not matter."""
    return st.lists(case, min_size=1, max_size=60)


def differing(judge: Judge, question: str, cases: Sequence[Case], ours: Callable[[Case], object]) -> list[object]:
    """Every case in which our answer is not the engine's."""
    theirs = judge.ask_many(question, [dict(case) for case in cases])
    return [
        (case, mine, answer)
        for case, answer in zip(cases, theirs, strict=True)
        if (mine := ours(case)) != (REFUSED if answer.refusal else answer.value)
    ]


# --- pages

KEPT = {"full": {}, "sliding": {"window": 1024}, "chunked": {"chunk": 8192}}
attention_specs = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["full", "sliding", "chunked"]),
        "block_tokens": st.sampled_from([16, 32, 64, 128, 544, 1600]),
        "kv_heads": st.integers(1, 64),
        "head_dim": st.sampled_from([64, 80, 96, 128, 192, 256, 576]),
        "dtype": st.sampled_from(DTYPES),
    }
).map(lambda spec: spec | KEPT[str(spec["kind"])])

latent_specs = st.fixed_dictionaries(
    {
        "kind": st.just("mla"),
        "block_tokens": st.sampled_from([16, 32, 64, 128]),
        "head_dim": st.integers(2, 1024),
        "dtype": st.sampled_from(DTYPES),
    }
)


def our_page(name: str) -> Callable[[Case], int]:
    asked = release(name)

    def ours(case: Case) -> int:
        spec = case["spec"]
        assert isinstance(spec, dict)
        tokens, kept = spec["block_tokens"], KvFormat(spec["dtype"])
        if spec["kind"] == "mla":
            layer = Latent(heads=1, rank=spec["head_dim"] - 1, rope_dim=1)
            return layers.latent(layer, asked, block_tokens=tokens, kept=kept).page
        heads = Attention(
            heads=spec["kv_heads"],
            kv_heads=spec["kv_heads"],
            head_dim=spec["head_dim"],
            window=spec.get("window"),
            chunk=spec.get("chunk"),
        )
        return layers.attention(heads, asked, block_tokens=tokens, kept=kept).page

    return ours


specs = many((attention_specs | latent_specs).map(lambda spec: {"spec": spec}))


@pytest.mark.parametrize("name", RELEASES)
def test_a_page_is_vllms_page(name: str, judges: Bench) -> None:
    @few
    @given(specs)
    def equal(cases: list[Case]) -> None:
        assert differing(judges[name], "page", cases, our_page(name)) == []

    equal()


# --- the memory that the engine asks for, and its start check

# Totals and free memory as drivers report them: whole pages, but also odd numbers, to catch a rounding.
totals = st.integers(1 * GIB, 300 * GIB) | st.integers(512, 150_000).map(lambda mib: mib * 2 * MIB)
shares = st.floats(0.05, 1.0) | st.sampled_from([0.8, 0.88, 0.9, 0.92, 0.95, 1.0])


@st.composite
def starts(draw: st.DrawFn) -> Case:
    total, share = draw(totals), draw(shares)
    near = math.ceil(total * share) + draw(st.integers(-2, 2))  # where one byte decides
    free = draw(st.integers(0, total) | st.just(max(0, min(near, total))))
    return {"total": total, "free": free, "utilization": share}


def our_request(name: str) -> Callable[[Case], object]:
    asked = release(name)

    def ours(case: Case) -> object:
        total, free, share = case["total"], case["free"], case["utilization"]
        assert isinstance(total, int)
        assert isinstance(free, int)
        assert isinstance(share, float)
        device = Device(name="card", total=Bytes(total), free=Bounds(free))
        flags = Flags({"gpu_memory_utilization": share})
        (gate,) = forecast(flags, model=None, devices=(device,), release=asked).gates
        if gate.verdict is Verdict.OVERFLOWS:
            return REFUSED
        assert gate.verdict is Verdict.FITS
        return {"requested": facts.requested.at(asked)(total=total, share=share)}

    return ours


@pytest.mark.parametrize("name", RELEASES)
def test_what_is_asked_for_and_whether_the_start_check_passes_is_vllms(name: str, judges: Bench) -> None:
    @few
    @given(many(starts()))
    def equal(cases: list[Case]) -> None:
        assert differing(judges[name], "request_memory", cases, our_request(name)) == []

    equal()


@pytest.mark.parametrize("name", RELEASES)
def test_a_real_refusal_is_read_by_the_sentence_of_its_release(name: str, judges: Bench) -> None:
    total, free, share = 25_757_220_864, 20_000_000_000, 0.95
    (answer,) = judges[name].ask_many("request_memory", [{"total": total, "free": free, "utilization": share}])

    assert answer.refusal is not None
    wordings = spoken("too little free", release(name))
    (said,) = filter(None, (sentence.read(answer.refusal.message) for sentence in wordings))
    for figure, truth in {"total": total, "free": free, "budget": math.ceil(total * share)}.items():
        read = said[figure]
        assert isinstance(read, Bounds)
        assert truth in read
    assert said["share"] == share


# --- the budget: what profiling leaves for KV


@st.composite
def profiles(draw: st.DrawFn) -> Case:
    """A start-up in bytes; in the order in which it happens, with nothing freed by others."""
    sizes = st.integers(0, 40 * GIB)
    weights, buffers, activations, kept = draw(sizes), draw(st.integers(0, GIB)), draw(sizes), draw(st.integers(0, GIB))
    before = weights + buffers
    after = before + kept
    reserved_after = after + draw(st.integers(0, GIB))
    growth = draw(st.integers(1, 2 * GIB))
    total = reserved_after + growth + activations + draw(st.integers(0, 80 * GIB))
    return {
        "total": total,
        "initial_free": total,
        "utilization": draw(shares),
        "weights": weights,
        "torch_before": before,
        "torch_peak": max(before, after) + activations,
        "torch_after": after,
        "reserved_after": reserved_after,
        "nontorch_growth": growth,
        "graph_estimate": draw(st.integers(-GIB, 4 * GIB)),
        "charge_graphs": draw(st.none() | st.booleans()),
    }


def our_available(name: str) -> Callable[[Case], int]:
    asked = release(name)

    def ours(case: Case) -> int:
        number = {key: value for key, value in case.items() if isinstance(value, int)}
        profile = budget.Profile(
            total=number["total"],
            free_at_start=number["initial_free"],
            free_at_peak=number["initial_free"],  # not used by any release that can be asked
            free_after=number["initial_free"] - number["reserved_after"] - number["nontorch_growth"],
            reserved_at_start=0,
            reserved_before=number["torch_before"],
            reserved_after=number["reserved_after"],
            weights=number["weights"],
            allocated_before=number["torch_before"],
            peak=number["torch_peak"],
            allocated_after=number["torch_after"],
        )
        share = case["utilization"]
        assert isinstance(share, float)
        default = facts.graphs_charged.at(asked)
        charged = default is not None and (default if case["charge_graphs"] is None else bool(case["charge_graphs"]))
        requested = facts.requested.at(asked)(total=number["total"], share=share)
        return int(
            budget.available(
                requested=requested,
                non_kv=facts.non_kv.at(asked)(profile),
                graphs=number["graph_estimate"] if charged else 0,
            )
        )

    return ours


def differing_budgets(judge: Judge, cases: Sequence[Case], ours: Callable[[Case], object]) -> list[object]:
    theirs = judge.ask_many("available_memory", [dict(case) for case in cases])
    return [
        (case, ours(case), answer)
        for case, answer in zip(cases, theirs, strict=True)
        if not isinstance(answer.value, dict) or ours(case) != answer.value["available"]
    ]


@pytest.mark.parametrize("name", RELEASES)
def test_what_profiling_leaves_for_kv_is_vllms(name: str, judges: Bench) -> None:
    @few
    @given(many(profiles()))
    def equal(cases: list[Case]) -> None:
        assert differing_budgets(judges[name], cases, our_available(name)) == []

    equal()


# --- numbers on the command line

NUMBERS = st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,3})?[kKmMgG]?", fullmatch=True)


def our_number(case: Case) -> object:
    try:
        return human(str(case["text"]))
    except ValueError:
        return REFUSED


@pytest.mark.parametrize("name", RELEASES)
def test_a_number_on_the_command_line_is_read_as_vllm_reads_it(name: str, judges: Bench) -> None:
    @few
    @given(many(NUMBERS.map(lambda text: {"text": text})))
    def equal(cases: list[Case]) -> None:
        assert differing(judges[name], "human_readable_int", cases, our_number) == []

    equal()


# --- the test of the tests: a planted mistake of one byte is caught by the same comparison


def test_a_page_that_is_one_byte_off_is_caught(judges: Bench) -> None:
    cases = [{"spec": {"kind": "full", "block_tokens": 16, "kv_heads": 8, "head_dim": 128, "dtype": "bfloat16"}}]

    right = our_page("0.32.0")

    assert differing(judges["0.32.0"], "page", cases, right) == []
    assert differing(judges["0.32.0"], "page", cases, lambda case: right(case) + 1) != []


@pytest.mark.parametrize("name", ["0.13.0", "0.14.0"])
def test_the_rounding_of_the_other_side_of_0_14_0_is_caught(name: str, judges: Bench) -> None:
    asked = "0.12.0" if name == "0.13.0" else "0.14.1"
    wrong = our_request("0.14.1" if name == "0.13.0" else "0.12.0")
    cases = [{"total": 25_757_220_863, "free": 25_757_220_863, "utilization": 0.9}]

    assert differing(judges[asked], "request_memory", cases, our_request(asked)) == []
    assert differing(judges[asked], "request_memory", cases, wrong) != []


def test_a_budget_that_is_one_byte_off_is_caught(judges: Bench) -> None:
    case = {
        "total": 24 * GIB,
        "initial_free": 24 * GIB,
        "utilization": 0.9,
        "weights": 15 * GIB,
        "torch_before": 15 * GIB,
        "torch_peak": 17 * GIB,
        "torch_after": 15 * GIB,
        "reserved_after": 16 * GIB,
        "nontorch_growth": 300 * MIB,
        "graph_estimate": 500 * MIB,
        "charge_graphs": None,
    }
    for name in ("0.19.1", "0.32.0"):
        right = our_available(name)

        assert differing_budgets(judges[name], [case], right) == []
        assert differing_budgets(judges[name], [case], _one_less(right)) != []


def _one_less(right: Callable[[Case], int]) -> Callable[[Case], int]:
    return lambda case: right(case) - 1
