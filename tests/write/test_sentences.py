from dataclasses import replace

from hypothesis import given

from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step
from oomph.units import GIB, Bounds
from oomph.write.plan_text import plan_text
from oomph.write.sentences import outcome, pool_facts, sides, together
from write.forecasts import fits, gib, refused_at_one_request, unsure_at_capture
from write.made import forecasts


def moved(made: Forecast, step: Step, needs: Bounds) -> Forecast:
    """The same with other needs at one gate."""
    return replace(made, gates=tuple(replace(gate, needs=needs) if gate.step is step else gate for gate in made.gates))


def on(made: Forecast, step: Step) -> Gate:
    return next(gate for gate in made.gates if gate.step is step)


def test_what_cannot_be_told_says_how_well_both_sides_are_known() -> None:
    assert outcome(unsure_at_capture()) == (
        "cannot tell at capture; it likely fits, but what it needs and has is only known to within 2.59 GiB"
    )


def test_a_later_gate_that_is_likelier_to_fail_is_named_in_the_answer() -> None:
    made = moved(unsure_at_capture(), Step.SERVING, Bounds(gib(20), gib(25), gib(24)))

    assert outcome(made) == "cannot tell at capture, where it likely fits; likely short at serving"


def test_the_first_of_several_later_gates_that_likely_fall_short_is_named() -> None:
    likely_short = Bounds(gib(20), gib(25), gib(24))
    made = moved(moved(unsure_at_capture(), Step.SERVING, likely_short), Step.WARM_UP, likely_short)

    assert outcome(made).endswith("likely short at warm-up")


def test_where_the_first_gate_already_likely_falls_short_no_other_is_named() -> None:
    short = Bounds(gib(20), gib(25), gib(24))
    made = moved(moved(unsure_at_capture(), Step.SERVING, short), Step.CAPTURE, short)

    assert outcome(made).startswith("cannot tell at capture; it likely falls short, but")
    assert "serving" not in outcome(made)


def test_together_is_as_sure_as_the_gate_and_not_as_the_sum_of_its_parts() -> None:
    gate = on(unsure_at_capture(), Step.CAPTURE)
    surer = Bounds(gate.needs.likely - GIB, gate.needs.likely + GIB, gate.needs.likely)
    made = moved(unsure_at_capture(), Step.CAPTURE, surer)
    ends = Bounds(made.device.total) - on(made, Step.CAPTURE).spare

    assert together(made) == f"{ends.low} to {ends.high}"
    assert together(made) in plan_text(made)


def test_once_it_serves_together_is_what_the_last_gate_holds() -> None:
    ends = Bounds(fits().device.total) - on(fits(), Step.SERVING).spare

    assert together(fits()) == f"{ends.low} to {ends.high}"


def test_where_the_pool_takes_what_the_others_leave_that_is_said_instead_of_bounds() -> None:
    assert together(refused_at_one_request()) == "the pool takes the rest"


def test_the_pool_has_one_size_on_one_screen() -> None:
    made = fits()
    pool = Bounds(gib(2.551), gib(2.567), gib(2.558))
    other = replace(made, pool=pool)

    assert dict(pool_facts(other))["size"] == str(pool) == "2.56 GiB (2.55 GiB to 2.57 GiB)"


@given(forecasts())
def test_a_side_of_a_gate_reads_the_same_wherever_it_stands(forecast: Forecast) -> None:
    for gate in forecast.gates:
        assert sides(gate) == (str(gate.needs), str(gate.has))
