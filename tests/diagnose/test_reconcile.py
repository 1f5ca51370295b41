"""The forecast beside the figures of a log, in numbers by hand."""

from dataclasses import replace

import pytest

from diagnose.startups import seed_a
from oomph.diagnose.case import Case, Phase
from oomph.diagnose.moment import device_total, moment
from oomph.diagnose.reconcile import reconcile
from oomph.ledger.gate import Step
from oomph.ledger.ledger import Account
from oomph.ledger.observation import Observation, Quantity, Reading
from oomph.units import GIB, MIB, Bounds

TENSOR = 512 * 3_276_800  # of the first seed: 512 blocks of 1,600 tokens
RAN_OUT = {
    Quantity.TRIED: TENSOR,
    Quantity.DEVICE_TOTAL: 32 * GIB,
    Quantity.DEVICE_FREE: GIB,
    Quantity.IN_USE: 31 * GIB,
    Quantity.ALLOCATED: 18 * GIB + 4 * TENSOR + 200 * MIB,
    Quantity.RESERVED: 300 * MIB,
}


def case(phase: Phase | None = Phase.GRAPH_PROFILE, **sizes: int) -> Case:
    said = {**RAN_OUT, **{Quantity(name.replace("_", " ")): size for name, size in sizes.items()}}
    readings = {quantity: Reading(value=Bounds(size), line=7, text="as said") for quantity, size in said.items()}
    return Case(engine="vLLM", phase=phase, observation=Observation(engine="vLLM", ranks={"": readings}))


def foreseen(found: Case) -> Case:
    startup = seed_a()
    return replace(found, startup=startup, forecast=startup.forecast())


def test_a_case_without_figures_has_nothing_to_reconcile() -> None:
    found = reconcile(Case())

    assert found.compared == ()
    assert found.ledger.entries == ()
    assert found.unaccounted is None


def test_without_a_forecast_what_was_seen_stands_in_accounts_and_adds_up() -> None:
    outside = 31 * GIB - 18 * GIB - 4 * TENSOR - 500 * MIB
    found = reconcile(case(weights=18 * GIB, outside=outside))

    assert found.ledger.of(Account.WEIGHTS) == Bounds(18 * GIB)
    assert found.ledger.of(Account.ACTIVATIONS) == Bounds(4 * TENSOR + 200 * MIB + 300 * MIB)
    assert found.ledger.of(Account.DRIVER) == Bounds(outside)
    assert found.unaccounted == Bounds(0)
    assert found.ledger.total == Bounds(31 * GIB)
    assert [each.agrees for each in found.compared] == [None, None]


def test_with_one_the_tensors_of_the_throw_away_pool_are_counted() -> None:
    found = reconcile(foreseen(case(weights=18 * GIB)))
    agrees = {each.what: each.agrees for each in found.compared}

    assert found.ledger.of(Account.KV_POOL) == Bounds(4 * TENSOR)
    assert agrees["tensor of the throw-away pool"] is True
    assert found.ledger.total.likely == 31 * GIB


def test_more_outside_of_pytorch_than_usual_is_unaccounted() -> None:
    found = reconcile(foreseen(case(weights=18 * GIB, outside=5 * GIB)))

    usual = found.ledger.of(Account.DRIVER)
    assert usual is not None
    assert usual.likely < 2 * GIB
    assert found.unaccounted is not None
    assert found.unaccounted.likely > 3 * GIB


def test_much_outside_of_pytorch_speaks_for_driver_or_collectives_but_only_late() -> None:
    late, early = (reconcile(case(phase, weights=18 * GIB, outside=5 * GIB)) for phase in (Phase.WARM_UP, Phase.LOAD))

    assert "5.00 GiB" in late.speaks["cudagraph_driver_or_nccl_overhead"]
    assert "cudagraph_driver_or_nccl_overhead" not in early.speaks


def test_weights_that_are_heavier_than_computed_speak_for_ranks_that_hold_them_whole() -> None:
    startup = seed_a()
    heavy = replace(case(weights=60 * GIB), startup=startup, forecast=startup.forecast())

    assert "weights_replicated_per_rank" in reconcile(heavy).speaks
    assert reconcile(foreseen(case(weights=18 * GIB))).speaks == {}


def test_the_moment_is_the_gate_of_the_forecast_with_all_that_was_still_to_come() -> None:
    whole = foreseen(case(weights=18 * GIB))
    gate = moment(whole, reconcile(whole).ledger)
    stopped = None if whole.forecast is None else whole.forecast.stopped_at

    assert gate is not None
    assert stopped is not None
    assert gate.step is stopped.step is Step.GRAPH_PROFILE
    assert (gate.needs.likely, gate.has.likely) == (stopped.needs.likely, stopped.has.likely)
    assert gate.ledger.of(Account.KV_POOL) == Bounds(17 * TENSOR)
    assert device_total(whole) == 32 * GIB


def test_without_a_forecast_it_needs_what_was_asked_for() -> None:
    found = case(Phase.WARM_UP, weights=18 * GIB)
    gate = moment(found, reconcile(found).ledger)

    assert gate is not None
    assert gate.needs == Bounds(TENSOR)
    assert gate.ledger.of(Account.ACTIVATIONS) is not None


@pytest.mark.parametrize("free", [2 * GIB, 20 * GIB])
def test_a_device_that_was_not_full_is_not_drawn_as_full(free: int) -> None:
    found = case(Phase.LOAD, device_free=free)

    assert moment(found, reconcile(found).ledger) is None
