"""Every step of a workload by us and by vLLM's own scheduler, on every release that can be asked."""

from typing import cast

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from engine.arrivals import STEPS, case, ours
from engine.pipe import RELEASES, Bench
from oomph.engines.history import release

MANY = 25  # workloads of one batch
few = settings(max_examples=2, deadline=None, phases=[Phase.generate])  # a workload by its number cannot shrink
seeds = st.lists(st.integers(0, 2**32), min_size=MANY, max_size=MANY, unique=True)


@pytest.mark.parametrize("name", RELEASES)
@few
@given(numbers=seeds)
def test_every_step_has_as_many_running_waiting_and_preempted_requests_and_free_blocks_as_in_the_engine(
    judges: Bench, name: str, numbers: list[int]
) -> None:
    asked = release(name)
    told = [case(number, asked) for number in numbers]

    for number, each, answer in zip(numbers, told, judges[name].ask_many("served", told), strict=True):
        theirs, here = cast("list[list[int]]", answer.value), ours(each, asked)
        assert here == theirs[: len(here)], number
        if len(here) < len(theirs):  # we saw that somebody is stuck, and the engine tries for ever
            assert theirs[-1][0] == STEPS
            assert theirs[-1][2] > 0, number


@pytest.mark.parametrize("name", ["0.11.0", "0.19.1", "0.26.0", "0.32.0"])
def test_the_workloads_are_not_all_easy(name: str) -> None:
    asked = release(name)
    seen = [ours(case(number, asked), asked) for number in range(60)]

    assert sum(any(step[3] for step in steps) for steps in seen) > 3, "somebody is thrown back"
    assert sum(any(step[2] for step in steps) for steps in seen) > 30, "somebody waits"
