"""The scorer's arithmetic on numbers made by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.units import GIB, Bounds
from scored.figures import Point, median, quantile, score


def point(measured: float, low: float, likely: float, high: float, *, device: float = 100) -> Point:
    """In GiB; printed with two decimals."""
    printed = Bounds(round((measured - 0.005) * GIB), round((measured + 0.005) * GIB), round(measured * GIB))
    ours = Bounds(round(low * GIB), round(high * GIB), round(likely * GIB))
    return Point(id="x", measured=printed, foreseen=ours, device=round(device * GIB))


def test_the_median_is_the_middle_or_between_the_two_in_the_middle() -> None:
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 2, 3]) == 2.5
    assert median([]) is None


def test_nine_of_ten_do_not_exceed_the_p90() -> None:
    assert quantile(range(1, 11), 0.9) == 9
    assert quantile([5], 0.9) == 5
    assert quantile([], 0.9) is None


@given(st.lists(st.floats(0, 1), min_size=1))
def test_a_quantile_is_one_of_the_values_and_no_more_lie_above_it_than_it_says(values: list[float]) -> None:
    found = quantile(values, 0.9)

    assert found in values
    assert sum(value > found for value in values) <= 0.1 * len(values)


def test_an_error_counts_from_what_rounds_to_the_printed_figure() -> None:
    assert point(10.0, 9, 10.004, 11).off == 0
    assert point(10.0, 9, 10.105, 11).error == pytest.approx(0.01, rel=1e-6)
    assert point(10.0, 9, 9.895, 11).error == pytest.approx(-0.01, rel=1e-6)


def test_bounds_hold_a_figure_that_may_have_been_within_them_before_rounding() -> None:
    assert point(10.0, 9, 9.5, 9.996).inside
    assert not point(10.0, 9, 9.5, 9.99).inside
    assert not point(10.0, 10.01, 10.5, 11).inside


def test_a_score_by_hand() -> None:
    found = score(
        [
            point(10.0, 9, 10, 11),  # right, inside, 2 % of the device wide
            point(10.0, 10.2, 11.005, 12),  # a tenth too high, outside
            point(20.0, 17, 18.995, 22),  # a twentieth too low, inside, 5 % wide
        ]
    )

    assert found.count == 3
    assert found.median == pytest.approx(0.05, rel=1e-6)
    assert found.p90 == pytest.approx(0.10, rel=1e-6)
    assert found.median_gib == pytest.approx(1.0, rel=1e-6)
    assert found.inside == pytest.approx(2 / 3)
    assert found.width == pytest.approx(0.02, rel=1e-6)
    assert found.exact == pytest.approx(1 / 3)


def test_of_no_points_nothing_is_said() -> None:
    found = score([])

    assert found.count == 0
    assert found.median is None
    assert found.inside is None
    assert found.width is None


@given(st.floats(1, 80), st.floats(0, 5), st.floats(0, 5))
def test_wider_bounds_never_hold_less(measured: float, narrow: float, more: float) -> None:
    tight = point(measured, measured + 1 - narrow, measured + 1, measured + 1 + narrow)
    wide = point(measured, measured + 1 - narrow - more, measured + 1, measured + 1 + narrow + more)

    assert wide.inside or not tight.inside


def test_near_is_within_half_a_percent_of_what_rounds_to_the_printed_figure() -> None:
    found = score([point(10.0, 10.054, 10.054, 10.054), point(10.0, 10.056, 10.056, 10.056)])

    assert found.near == 0.5
    assert found.inside == 0
