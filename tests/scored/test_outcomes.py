import pytest

from oomph.ledger.gate import Gate, Step, Verdict
from oomph.units import Bounds
from scored.foreseen import Foreseen
from scored.outcomes import Ending, Told, ended, ending, starts, verdicts

FITS = (Bounds(1), Bounds(2))
OVERFLOWS = (Bounds(2), Bounds(1))
UNSURE = (Bounds(1, 3), Bounds(2))


def gate(step: Step, sides: tuple[Bounds, Bounds]) -> Gate:
    return Gate(step=step, needs=sides[0], has=sides[1], said="by hand")


def foreseen(*gates: Gate) -> Foreseen:
    """As if these were all gates."""
    for verdict in (Verdict.OVERFLOWS, Verdict.UNSURE):
        stopping = next((each for each in gates if each.verdict is verdict), None)
        if stopping is not None:
            return Foreseen(gates=gates, verdict=verdict, gate=stopping)
    return Foreseen(gates=gates, verdict=Verdict.FITS)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Step.START_CHECK, Ending.REFUSED),
        (Step.POOL_SIZE, Ending.REFUSED),
        (Step.ONE_REQUEST, Ending.REFUSED),
        (Step.LOAD, Ending.OOM),
        (Step.PROFILE, Ending.OOM),
        (Step.GRAPH_PROFILE, Ending.OOM),
        (Step.CAPTURE, Ending.OOM),
        (Step.WARM_UP, Ending.OOM),
        (Step.SERVING, Ending.RUNTIME_OOM),
    ],
)
def test_every_gate_that_overflows_ends_in_its_own_way(step: Step, said: Ending) -> None:
    assert ending(foreseen(gate(step, OVERFLOWS))) is said


def test_what_fits_serves_and_what_may_not_fit_is_unsure() -> None:
    assert ending(foreseen(gate(Step.LOAD, FITS))) is Ending.SERVES
    assert ending(foreseen(gate(Step.LOAD, UNSURE))) is Ending.UNSURE
    assert ending(Foreseen(refused="unknown")) is None


def test_a_start_up_does_not_meet_the_worst_step() -> None:
    assert starts(foreseen(gate(Step.LOAD, FITS), gate(Step.SERVING, UNSURE))) is Ending.SERVES
    assert starts(foreseen(gate(Step.LOAD, FITS), gate(Step.SERVING, OVERFLOWS))) is Ending.SERVES
    assert starts(foreseen(gate(Step.LOAD, UNSURE), gate(Step.SERVING, OVERFLOWS))) is Ending.UNSURE
    assert starts(foreseen(gate(Step.LOAD, UNSURE))) is Ending.UNSURE


def test_what_is_not_sure_counts_neither_as_right_nor_as_wrong() -> None:
    def told(said: Ending, ended: Ending) -> Told:
        return Told(id="x", said=said, ended=ended, step=None)

    found = verdicts(
        [
            told(Ending.SERVES, Ending.SERVES),
            told(Ending.REFUSED, Ending.REFUSED),
            told(Ending.SERVES, Ending.OOM),
            told(Ending.UNSURE, Ending.SERVES),
        ]
    )

    assert found.right == pytest.approx(2 / 3)
    assert found.unsure == pytest.approx(1 / 4)
    assert found.table[Ending.SERVES, Ending.OOM] == 1


def test_how_many_of_each_ending_there_were_is_said_and_so_is_none() -> None:
    found = verdicts(
        [
            Told(id="x", said=said, ended=ended, step=None)
            for said, ended in [
                (Ending.SERVES, Ending.SERVES),
                (Ending.UNSURE, Ending.SERVES),
                (Ending.REFUSED, Ending.REFUSED),
            ]
        ]
    )

    assert ended(found) == (
        "3 verdicts: 2 served, 1 was refused, none ran out of memory at start, none ran out of memory in service"
    )
    assert (found.count, found.decided) == (3, 2)
