from hypothesis import given

from oomph.ledger.gate import Verdict
from oomph.units import GIB, Bounds
from strategies import bounds, gate, sizes


def test_a_need_that_is_just_met_fits_and_one_byte_more_overflows() -> None:
    has = Bounds(10 * GIB)

    assert gate(has, Bounds(10 * GIB)).verdict is Verdict.FITS
    assert gate(has, Bounds(10 * GIB + 1)).verdict is Verdict.OVERFLOWS


def test_bounds_that_cross_leave_the_verdict_open() -> None:
    assert gate(Bounds(9 * GIB, 11 * GIB), Bounds(10 * GIB)).verdict is Verdict.UNSURE


@given(bounds, bounds, sizes)
def test_more_doubt_never_makes_us_surer(has: Bounds, needs: Bounds, doubt: int) -> None:
    wider = Bounds(needs.low, needs.high + doubt)
    before, after = gate(has, needs).verdict, gate(has, wider).verdict

    assert after in {before, Verdict.UNSURE}


@given(bounds, bounds, sizes)
def test_more_memory_never_turns_fits_into_anything_else(has: Bounds, needs: Bounds, more: int) -> None:
    if gate(has, needs).verdict is Verdict.FITS:
        assert gate(has + more, needs).verdict is Verdict.FITS
    if gate(has + more, needs).verdict is Verdict.OVERFLOWS:
        assert gate(has, needs).verdict is Verdict.OVERFLOWS


@given(bounds, bounds)
def test_what_is_spare_agrees_with_the_verdict(has: Bounds, needs: Bounds) -> None:
    judged = gate(has, needs)

    assert (judged.spare.low >= 0) is (judged.verdict is Verdict.FITS)
    assert (judged.spare.high < 0) is (judged.verdict is Verdict.OVERFLOWS)
