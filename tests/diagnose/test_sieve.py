"""No advice that is idle at the gate that failed, whoever gives it."""

from itertools import product

import pytest

from oomph.diagnose.case import Case, Failure, Phase
from oomph.diagnose.failed_gate import failed_gate
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.sieve import sifted
from oomph.engines.history import release
from oomph.engines.vllm.levers.effects import INERT, idle
from oomph.engines.vllm.levers.names import SHARE_DOWN, SHARE_UP, levers
from oomph.engines.vllm.levers.table import LEVERS
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.observation import Line, Observation, Quantity, Reading
from oomph.units import GIB, MIB, Bounds

PHASES = {
    Phase.LOAD: Step.LOAD,
    Phase.PROFILE: Step.PROFILE,
    Phase.GRAPH_PROFILE: Step.GRAPH_PROFILE,
    Phase.GRAPH_CAPTURE: Step.CAPTURE,
    Phase.WARM_UP: Step.WARM_UP,
    Phase.SERVING_PREFILL: Step.SERVING,
}


def case(phase: Phase, *spoken: str, **sizes: int) -> Case:
    said = tuple(Line(name=name, rank="", line=1, text=name) for name in spoken)
    readings = {Quantity(name): Reading(value=Bounds(size), line=1, text="") for name, size in sizes.items()}
    return Case(
        engine="vLLM",
        phase=phase,
        observation=Observation(engine="vLLM", lines=said, ranks={"": readings}),
        failures=(Failure(kind="RuntimeError", said=Said(line=1, text="out of memory")),),
    )


def advising(*all_levers: str, cause: str = "weights_exceed_gpu") -> Finding:
    remedies = tuple(Remedy(change={}, act="do", price="something", lever=lever) for lever in all_levers)
    return Finding(code="LD001", name="a-condition", summary="it is so", cause=cause, remedies=remedies)


def kept(finding: Finding, of: Case) -> list[str | None]:
    return [remedy.lever for remedy in sifted(finding, of).remedies]


@pytest.mark.parametrize(("lever", "phase"), list(product(INERT, PHASES)))
def test_a_rule_that_advises_an_idle_lever_is_not_heard(lever: str, phase: Phase) -> None:
    is_idle = idle(lever, PHASES[phase], None) is not None

    assert (lever in kept(advising(lever, "something_else"), case(phase))) is not is_idle
    assert "something_else" in kept(advising(lever, "something_else"), case(phase))


# What the engine's own files say, by hand: at these gates these change nothing, or make it worse.
@pytest.mark.parametrize(
    ("step", "names"),
    [
        (Step.START_CHECK, {SHARE_UP, "max_model_len_down", "max_num_seqs_down", "enforce_eager"}),
        (Step.LOAD, {SHARE_DOWN, SHARE_UP, "max_model_len_down", "max_num_seqs_down", "enforce_eager"}),
        (Step.PROFILE, {SHARE_DOWN, SHARE_UP, "max_model_len_down", "enforce_eager", "kv_cache_memory_bytes"}),
        (Step.GRAPH_PROFILE, {SHARE_DOWN, SHARE_UP, "max_model_len_down", "max_num_batched_tokens_down"}),
        (Step.POOL_SIZE, {SHARE_DOWN, "max_model_len_down"}),
        (Step.ONE_REQUEST, {SHARE_DOWN}),
        (Step.CAPTURE, {SHARE_UP, "max_model_len_down"}),
        (Step.WARM_UP, {SHARE_UP, "max_model_len_down"}),
        (Step.SERVING, {SHARE_UP, "max_model_len_down", "enforce_eager", "fewer_cudagraph_sizes"}),
    ],
)
def test_the_table_says_what_is_known_of_each_gate(step: Step, names: set[str]) -> None:
    moving = {SHARE_DOWN, SHARE_UP, "max_model_len_down", "max_num_seqs_down", "enforce_eager", "kv_cache_memory_bytes"}
    moving |= {"max_num_batched_tokens_down", "fewer_cudagraph_sizes"}
    found = {lever for lever in moving if idle(lever, step, None) is not None}

    assert names <= found
    assert SHARE_DOWN in found or step in {Step.START_CHECK, Step.CAPTURE, Step.WARM_UP, Step.SERVING}


@pytest.mark.parametrize("number", ["0.19.1", "0.32.0"])
def test_no_lever_that_a_forecast_would_try_at_a_gate_is_called_idle_there(number: str) -> None:
    """Up to the pool; after it, what takes less only leaves more, and that is advised where a forecast shows it."""
    known = release(number)
    before = list(Step)[: list(Step).index(Step.CAPTURE)]
    for lever, step in product(LEVERS, before):
        (name,) = levers({lever.flag: 1})
        if name != SHARE_DOWN and lever.acts_at(step, known):
            assert idle(name, step, known) is None, (name, step)


def test_where_one_prompt_is_one_step_its_length_does_help() -> None:
    old, new = (Case(engine="vLLM", phase=Phase.PROFILE, release=release(text)) for text in ("0.5.4", "0.19.1"))

    assert kept(advising("max_model_len_down"), old) == ["max_model_len_down"]
    assert kept(advising("max_model_len_down"), new) == []
    of_its_own = advising("max_model_len_down", cause="profile_full_context_no_chunked_prefill")
    assert kept(of_its_own, new) == ["max_model_len_down"]


def test_what_the_forecast_has_passed_is_kept() -> None:
    proven = Remedy(change={"max_model_len": 1}, price="much", verdict=Verdict.FITS, lever="max_model_len_down")
    finding = Finding(code="GP001", name="n", summary="s", remedies=(proven,))

    assert sifted(finding, case(Phase.GRAPH_PROFILE)).remedies == (proven,)


def test_levers_are_read_off_a_change_where_no_rule_names_them() -> None:
    unnamed = Remedy(change={"gpu_memory_utilization": 0.8}, price="a smaller pool")
    finding = Finding(code="LD001", name="n", summary="s", remedies=(unnamed,))

    assert sifted(finding, case(Phase.LOAD)).remedies == ()
    assert sifted(finding, case(Phase.WARM_UP)).remedies == (unnamed,)


@pytest.mark.parametrize(
    ("phase", "spoken", "expected"),
    [
        (Phase.LOAD, "too little free", Step.START_CHECK),
        (Phase.LOAD, "weights", Step.LOAD),
        (Phase.PROFILE, "no pool", Step.POOL_SIZE),
        (Phase.PROFILE, "weights", Step.PROFILE),
        (Phase.KV_ALLOC, "pool below request", Step.ONE_REQUEST),
        (Phase.KV_ALLOC, "pool", Step.CAPTURE),
        (Phase.HOST, "weights", None),
    ],
)
def test_a_phase_of_a_log_holds_several_gates(phase: Phase, spoken: str, expected: Step | None) -> None:
    assert failed_gate(case(phase, spoken)) is expected


def test_popular_advice_that_fails_here_is_named_once() -> None:
    told = Finding(code="LD001", name="n", summary="s", unhelpful={"--max-model-len": "said by the rule"})
    vain = sifted(told, case(Phase.LOAD)).unhelpful or {}

    assert vain["--max-model-len"] == "said by the rule"
    assert {"--gpu-memory-utilization", "--enforce-eager", "--max-num-seqs, fewer"} <= set(vain)
    assert sum("--gpu-memory-utilization" in flag for flag in vain) == 1


def test_a_direction_that_helps_is_not_called_vain() -> None:
    vain = sifted(advising(SHARE_DOWN), case(Phase.WARM_UP)).unhelpful or {}

    assert "--gpu-memory-utilization, higher" in vain
    assert "--gpu-memory-utilization, lower" not in vain


def test_the_hint_of_the_allocator_is_refuted_by_its_own_figures() -> None:
    few = case(Phase.SERVING_PREFILL, tried=4 * GIB, reserved=100 * MIB)
    many = case(Phase.SERVING_PREFILL, tried=4 * GIB, reserved=5 * GIB)

    hint = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
    assert "100.00 MiB" in (sifted(advising(), few).unhelpful or {})[hint]
    assert hint not in (sifted(advising(), many).unhelpful or {})
    fragments = advising(cause="allocator_fragmentation")
    assert hint not in (sifted(fragments, few).unhelpful or {})


def test_other_engines_have_other_levers() -> None:
    other = Case(engine="SGLang", phase=Phase.LOAD)
    finding = advising(SHARE_DOWN)

    assert sifted(finding, other) is finding
