import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.units import GIB, KIB, MIB, Bounds, Bytes, largest
from strategies import bounds, sizes


@pytest.mark.parametrize(
    ("size", "printed"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (KIB, "1.00 KiB"),
        (1_677_721_600, "1.56 GiB"),  # 512 blocks of 3,276,800 B: one tensor of the pool in which graphs are profiled
        (33_661_000_000, "31.35 GiB"),
        (3 << 40, "3.00 TiB"),
        (-512 * MIB, "-512.00 MiB"),
    ],
)
def test_a_size_prints_in_the_largest_unit_that_it_reaches(size: int, printed: str) -> None:
    assert str(Bytes(size)) == printed


def test_what_is_needed_rounds_up_and_what_is_there_rounds_down() -> None:
    size = Bytes(GIB + 1)

    assert (size.down, str(size), size.up) == ("1.00 GiB", "1.00 GiB", "1.01 GiB")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("24GiB", 24 * GIB),
        ("512MiB", 512 * MIB),
        ("1048576", MIB),
        (" 1.5 GiB ", 3 * GIB // 2),
        ("7B", 7),
        ("18.47GiB", 19_832_011_489),
    ],
)
def test_our_notation_is_read(text: str, size: int) -> None:
    assert Bytes.parse(text) == size


@pytest.mark.parametrize("text", ["24GB", "", "GiB", "-1", "1e9", "0.3B", "²GiB", "9" * 41, "1.2.3GiB"])
def test_what_means_two_sizes_or_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape("(write 24GiB, 512MiB or 1048576)")):
        Bytes.parse(text)


@given(sizes)
def test_a_printed_size_read_back_is_within_half_a_step(size: int) -> None:
    read = Bytes.parse(str(Bytes(size)).replace(" ", "")) if size < KIB else None
    number, unit = str(Bytes(size)).split()
    step = {"B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": 1 << 40}[unit] / 100

    assert abs(float(number) * 100 * step - size) <= step / 2 + 1
    assert read in {None, size}


@given(sizes)
def test_rounding_up_never_prints_less_than_rounding_down(size: int) -> None:
    def number(text: str) -> float:
        return float(text.split(maxsplit=1)[0])

    assert number(Bytes(size).down) <= number(str(Bytes(size))) <= number(Bytes(size).up)


def test_bounds_of_one_number_are_exact() -> None:
    assert Bounds(5) == Bounds(5, 5, 5)
    assert Bounds(5).exact
    assert not Bounds(5, 6).exact


def test_bounds_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="bounds out of order: low 3, likely 2, high 1"):
        Bounds(3, 1)


@given(bounds, bounds, st.data())
def test_arithmetic_on_bounds_contains_the_arithmetic_on_what_they_bound(
    one: Bounds, two: Bounds, data: st.DataObject
) -> None:
    first = data.draw(st.integers(one.low, one.high))
    second = data.draw(st.integers(two.low, two.high))
    times = data.draw(st.integers(-9, 9))

    assert first + second in one + two
    assert first - second in one - two
    assert first * times in one * times
    assert max(first, second) in largest(one, two)


@given(bounds, sizes)
def test_taking_away_what_was_added_never_narrows_the_doubt(size: Bounds, other: int) -> None:
    assert ((size + other) - other) == size
    assert ((size + size) - size).doubt >= size.doubt


def test_bounds_print_what_is_likely_and_how_far_off_it_may_be() -> None:
    assert str(Bounds(GIB)) == "1.00 GiB"
    assert str(Bounds(GIB, 3 * GIB)) == "2.00 GiB (1.00 GiB to 3.00 GiB)"
