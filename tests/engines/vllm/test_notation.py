import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.vllm import notation
from oomph.engines.vllm.given import human
from oomph.units import GIB, MIB
from strategies import sizes


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("32768", 32768),
        ("32k", 32000),
        ("32K", 32768),
        ("25.6k", 25600),
        ("5G", 5 * GIB),
        ("2g", 2 * 10**9),
        ("-1", -1),
    ],
)
def test_lower_case_counts_in_thousands_and_upper_case_in_1024s(text: str, number: int) -> None:
    assert human(text) == number


def test_a_fraction_goes_through_a_float_as_it_does_in_vllm() -> None:
    assert human("1.001m") == int(1.001 * 10**6) == 1000999


@pytest.mark.parametrize("text", ["1.5G", "5GiB", "", "k", "1e3", "--1", "9" * 30])
def test_what_vllm_would_not_take_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="vLLM"):
        human(text)


@given(sizes, st.integers(0, 4))
def test_a_number_printed_with_fixed_decimals_contains_the_truth(size: int, decimals: int) -> None:
    assert size in notation.fixed(f"{size / GIB:.{decimals}f}")


@given(sizes)
def test_a_number_printed_by_round_contains_the_truth(size: int) -> None:
    assert size in notation.rounded(notation.format_gib(size))


@given(sizes)
def test_a_number_printed_in_mib_contains_the_truth(size: int) -> None:
    assert size in notation.fixed(f"{size / MIB:.2f}", unit=MIB)


def test_dropped_zeros_do_not_widen_the_doubt() -> None:
    assert notation.rounded("7.5") == notation.fixed("7.50")
    assert notation.fixed("7.5").doubt > notation.fixed("7.50").doubt


@pytest.mark.parametrize("text", ["", "nan", "inf", "1e3", "1.", "1,5"])
def test_what_is_no_printed_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a printed size"):
        notation.fixed(text)
