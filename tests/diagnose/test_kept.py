"""Which lines are kept, however many there are."""

from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.finding import Said
from oomph.diagnose.hearing.kept import Kept, kind


def kept(*texts: str, failing: int | None = None) -> list[int]:
    lines = Kept()
    for number, text in enumerate(texts):
        lines.take(Said(line=number, text=text))
        if number == failing:
            lines.failing()
    return [said.line for said in lines.lines()]


def test_a_short_log_is_kept_whole() -> None:
    assert kept(*["x"] * 1_000) == list(range(1_000))


def test_of_a_long_one_the_beginning_and_the_end_and_what_surrounds_the_failure() -> None:
    found = kept(*["the same"] * 10_000, failing=5_000)

    assert set(range(600)) <= set(found)
    assert set(range(4_401, 5_601)) <= set(found)
    assert set(range(9_400, 10_000)) <= set(found)
    assert len(found) < 2_600


def test_the_first_and_the_last_of_each_kind_are_kept() -> None:
    texts = ["the same"] * 10_000
    texts[3_000:3_100] = [f"another kind {number}" for number in range(100)]
    found = kept(*texts)

    assert set(range(3_000, 3_008)) <= set(found)
    assert set(range(3_092, 3_100)) <= set(found)
    assert not set(range(3_010, 3_090)) & set(found)


def test_lines_that_differ_in_numbers_are_of_one_kind() -> None:
    def alike(one: str, other: str) -> bool:
        return kind(Said(line=1, text=one)) == kind(Said(line=2, text=other))

    assert alike("request 12 took 3.5 s", "request 13 took 17.25 s")
    assert not alike("request 12 failed", "request 12 took 3.5 s")


@given(st.lists(st.sampled_from("abcd"), max_size=200), st.integers(0, 200))
def test_each_line_is_kept_once_and_in_order(texts: list[str], failing: int) -> None:
    found = kept(*texts, failing=failing)

    assert found == sorted(set(found))


def test_what_is_kept_is_bounded_whatever_is_said() -> None:
    texts = (f"{'abcdefghijklmnop'[number % 16] * (number % 40)} {number}" for number in range(100_000))

    assert len(kept(*texts)) < 20_000
