"""A forecast that the log contradicts promises nothing; one that it does not has one gate in picture and words."""

import pytest

from diagnose.startups import seed_a
from oomph.diagnose.case import Case, Failure, Phase
from oomph.diagnose.explain import explain
from oomph.diagnose.finding import Finding, Said
from oomph.diagnose.moment import moment
from oomph.diagnose.reconcile import reconcile
from oomph.diagnose.trials import at
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.observation import Observation, Quantity, Reading
from oomph.ledger.settings import Flags
from oomph.units import GIB, MIB, Bounds

TENSOR = 512 * 3_276_800  # of the first seed: 512 blocks of 1,600 tokens
WEIGHTS = round(18.47 * GIB)


def case(tensor: int, phase: Phase = Phase.GRAPH_PROFILE) -> Case:
    """The first seed, run out of memory when it asked for a tensor of this size."""
    sizes = {
        Quantity.TRIED: tensor,
        Quantity.DEVICE_TOTAL: 32 * GIB,
        Quantity.DEVICE_FREE: GIB,
        Quantity.IN_USE: 31 * GIB,
        Quantity.ALLOCATED: WEIGHTS + 4 * TENSOR,
        Quantity.WEIGHTS: WEIGHTS,
    }
    readings = {quantity: Reading(value=Bounds(size), line=7, text="as said") for quantity, size in sizes.items()}
    observation = Observation(engine=HISTORY.engine, ranks={"": readings})
    startup = seed_a(max_model_len=262_144)
    return Case(
        engine=HISTORY.engine,
        release=startup.release,
        phase=phase,
        flags=Flags({"kv_cache_dtype": "fp8"}),
        observation=observation,
        failures=(Failure(kind="OutOfMemoryError", said=Said(line=7, text="CUDA out of memory.")),),
        startup=startup,
        forecast=startup.forecast(),
    )


def gp001(asked: Case) -> Finding:
    return next(finding for finding in explain(asked) if finding.code == "GP001")


def test_no_remedy_is_promised_by_a_forecast_that_the_log_contradicts() -> None:
    finding = gp001(case(TENSOR + 32 * MIB))

    assert finding.remedies
    assert all(remedy.verdict is not Verdict.FITS and remedy.spare is None for remedy in finding.remedies)
    (words,) = finding.missing
    assert "the whole command" in words
    assert "--speculative-config" in words
    assert "--kv-cache-dtype" not in words  # it is known


def test_a_forecast_that_agrees_may_promise() -> None:
    finding = gp001(case(TENSOR))

    assert any(remedy.spare is not None for remedy in finding.remedies)
    assert not finding.missing


@pytest.mark.parametrize("phase", [Phase.LOAD, Phase.PROFILE, Phase.SERVING_PREFILL])
def test_what_is_asked_for_in_another_phase_is_no_tensor_of_the_throw_away_pool(phase: Phase) -> None:
    assert all(each.what != "tensor of the throw-away pool" for each in reconcile(case(TENSOR, phase)).compared)


def test_the_picture_has_the_two_sides_that_the_words_have() -> None:
    asked = case(TENSOR)
    assert asked.forecast is not None
    gate, shown = at(asked.forecast, Step.GRAPH_PROFILE), moment(asked, reconcile(asked).ledger)

    assert gate is not None
    assert shown is not None
    assert (shown.needs.likely, shown.has.likely) == (gate.needs.likely, gate.has.likely)


def test_a_flag_for_a_later_gate_says_so_in_its_price() -> None:
    """The share does not move this gate; without it one request of the longest length would not fit."""
    several = [remedy for remedy in gp001(case(TENSOR)).remedies if len(remedy.change) > 1]

    assert several
    for remedy in several:
        assert list(remedy.change)[1:] == ["gpu_memory_utilization"]
        assert "--gpu-memory-utilization is not for this gate but for a later one: without it one req" in remedy.price


def test_a_given_pool_has_a_size_where_there_is_a_forecast_and_stands_there_once() -> None:
    asked = case(TENSOR)
    sized = [remedy for remedy in gp001(asked).remedies if remedy.lever == "kv_cache_memory_bytes"]
    assert asked.startup is not None

    assert len(sized) == 1
    assert isinstance(sized[0].change["kv_cache_memory_bytes"], int)
    assert asked.startup.but(sized[0].change).forecast().verdict is not Verdict.OVERFLOWS
