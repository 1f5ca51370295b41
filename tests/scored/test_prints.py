import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.units import GIB, MIB, Bounds
from scored.prints import gib, noted


def test_two_decimals_stand_for_a_hundredth_of_a_gib() -> None:
    found = gib(44.59)

    assert found is not None
    assert found.low == round(44.585 * GIB)
    assert found.high == round(44.595 * GIB)


def test_four_decimals_are_closer() -> None:
    found = gib(74.2812)

    assert found is not None
    assert found.doubt == 2 * round(0.00005 * GIB)


def test_a_figure_with_more_decimals_was_printed_in_mib() -> None:
    found = gib(136 / 1024)

    assert found == Bounds(136 * MIB - MIB // 2, 136 * MIB + MIB // 2, 136 * MIB)


@given(st.floats(0.01, 500.0))
def test_what_was_printed_may_have_been_what_it_was(size: float) -> None:
    found = gib(round(size, 2))

    assert found is not None
    assert found.low - 1 <= size * GIB <= found.high + 1


def test_a_remark_gives_its_figure() -> None:
    assert noted("a; requested=83.78; b", "requested=") == pytest.approx(83.78)
    assert noted("Initial free memory: 91.25 GiB.", "Initial free memory:") == pytest.approx(91.25)
    assert noted("nothing", "requested=") is None
