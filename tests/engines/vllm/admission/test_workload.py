"""Who comes when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.vllm.admission.pools import asks
from oomph.engines.vllm.admission.workload import Request, burst, closed_loop, constant, poisson

SOME = [asks(10, 5)] * 1000


def test_a_burst_comes_at_once_and_a_loop_one_after_the_other() -> None:
    assert [user.start for user in burst(SOME[:3], start=7)] == [7, 7, 7]
    assert [len(user.requests) for user in closed_loop(2, SOME[:3])] == [3, 3]
    assert [user.start for user in closed_loop(3, SOME[:1], stagger=10)] == [1, 11, 21]


def test_a_steady_rate_of_one_in_four_steps_comes_every_fourth_step() -> None:
    assert [user.start for user in constant(SOME[:4], per_step=0.25)] == [1, 5, 9, 13]


@given(st.integers(0, 100), st.floats(0.05, 5))
def test_random_arrivals_keep_their_rate_and_their_seed(seed: int, rate: float) -> None:
    users = poisson(SOME, per_step=rate, seed=seed)

    assert users == poisson(SOME, per_step=rate, seed=seed)
    assert [user.start for user in users] == sorted(user.start for user in users)
    assert 800 < users[-1].start * rate < 1250 + rate


@pytest.mark.parametrize(("prompt", "answer", "prefix"), [(0, 1, 0), (1, 0, 0), (5, 5, 6), (5, 5, -1)])
def test_a_request_that_makes_no_sense_is_refused(prompt: int, answer: int, prefix: int) -> None:
    with pytest.raises(ValueError, match=r"request|prefix"):
        Request(prompt_tokens=prompt, answer_tokens=answer, prefix_tokens=prefix)
