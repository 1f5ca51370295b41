from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.proof.spread import arrivals, by_second, speed, spread
from oomph.ledger.proof import Failure
from proofs import answered, failed, stage


def test_the_99th_of_100_is_the_99th_and_the_median_of_four_is_the_second() -> None:
    hundred = spread(float(number) for number in range(100, 0, -1))

    assert hundred is not None
    assert (hundred.least, hundred.p50, hundred.p90, hundred.p99, hundred.most) == (1, 50, 90, 99, 100)
    assert getattr(spread([1.0, 2.0, 3.0, 4.0]), "p50", None) == 2
    assert spread([]) is None


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_every_percentile_was_measured_and_they_never_fall(values: list[float]) -> None:
    found = spread(values)

    assert found is not None
    figures = [found.least, found.p50, found.p90, found.p99, found.most]
    assert figures == sorted(figures)
    assert set(figures) <= set(values)


def test_speed_is_of_requests_that_ended_well_from_the_first_sent_to_the_last_end() -> None:
    measured = speed(stage([answered(0, sent=1.0), answered(1, sent=1.5), failed(2, Failure.CUT)]))

    assert measured.answer_rate == pytest.approx(10 / 1.0)  # from 1.0 to 1.5 + 0.1 + 4 × 0.1
    assert measured.total_rate == pytest.approx(210 / 1.0)
    assert measured.whole is not None
    assert measured.whole.count == 2
    assert measured.whole.p50 == pytest.approx(0.5)
    assert getattr(measured.first_token, "p50", None) == pytest.approx(0.1)
    assert getattr(measured.between_tokens, "count", None) == 8


def test_tokens_are_counted_in_the_second_in_which_they_came() -> None:
    outcome = answered(0, first=0.5, gap=0.4)  # at 0.5, 0.9, 1.3, 1.7, 2.1

    assert by_second([outcome], 0.0, 2.5) == [2, 2]
    assert sum(tokens for _, tokens in arrivals([outcome])) == 5


def test_an_answer_whose_gaps_were_not_kept_came_evenly() -> None:
    told = list(arrivals([replace(answered(0, first=1.0, gap=1.0), gaps=())]))

    assert [tokens for _, tokens in told] == [1.0] * 5
    assert [at for at, _ in told] == pytest.approx([1.0, 1.8, 2.6, 3.4, 4.2])  # from 1 s to 5 s
