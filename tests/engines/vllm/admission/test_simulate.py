"""Small workloads whose every step can be followed by hand, and what must hold for all."""

import time
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.arrivals import case, ours
from engines.vllm.admission.pools import NEWEST, asks, attention, pool, run
from oomph.engines.history import Release, release
from oomph.engines.vllm.admission.admitted import Lack, Moment
from oomph.engines.vllm.admission.scheduling import Scheduling
from oomph.engines.vllm.admission.simulate import simulate
from oomph.engines.vllm.admission.workload import User, burst, closed_loop
from oomph.engines.vllm.pool.caches import Keeps
from oomph.engines.vllm.pool.limits import Limits
from oomph.errors import UnknownRelease, UsageError


def test_one_request_takes_a_step_per_token_of_its_answer_and_blocks_for_all_but_the_last() -> None:
    seen = run(pool(10), burst([asks(20, 13)]))

    assert seen.steps == 13  # the prompt's step brings the first token
    assert seen.peak_blocks == 2  # 20 + 12 tokens in blocks of 16: the last token is never computed
    assert seen.peak_usage == 0.2
    assert (seen.peak_running, seen.peak_waiting, seen.preemptions, seen.first_wait) == (1, 0, 0, {})


def test_the_last_admitted_is_thrown_back_when_the_first_lacks_a_block_and_goes_on_from_what_is_left_of_it() -> None:
    seen = run(pool(4), burst([asks(16, 20), asks(16, 20)]))

    # Both hold 2 blocks from step 2 on. Before step 18 both have 32 tokens computed: the first takes a third block.
    assert seen.first_preemption == 18
    assert seen.first_wait == {Lack.BLOCKS: 18}
    first, second = seen.served
    assert (first.ended, first.waited) == (20, 0)
    # 17 tokens of its answer are known; in step 21 they are computed again, and that step brings the 18th.
    assert (second.ended, second.waited, second.preemptions) == (23, 3, 1)


def test_what_waits_for_the_tokens_of_a_step_does_not_wait_for_room() -> None:
    seen = run(pool(100), burst([asks(60, 2)] * 3), step_tokens=60)

    assert seen.first_wait == {Lack.TOKENS: 1}
    assert seen.waits_for_room is None
    assert [each.waited for each in seen.served] == [0, 1, 2]  # step 2: one token of the first, then 59 of the second


def test_no_more_run_than_there_are_seats() -> None:
    seen = run(pool(100), burst([asks(10, 5)] * 3), sequences=2)

    assert seen.peak_running == 2
    assert seen.first_wait == {Lack.SEATS: 1}
    assert seen.waits_for_room == 1
    assert seen.served[2].waited == 5


def test_a_shared_prefix_is_held_once() -> None:
    users = [User(requests=(asks(40, 5, prefix=32),), start=start) for start in (1, 2)]

    assert run(pool(10), users).peak_blocks == 4  # 2 of both, and one each
    assert run(pool(10), users, caching=False).peak_blocks == 6


def test_a_window_gives_back_what_it_has_passed() -> None:
    local = attention(Keeps.WINDOW, window=16)
    seen: list[Moment] = []
    run(pool(10, local), burst([asks(100, 3)]), seen=seen)

    # 7 blocks for the prompt; then tokens 85 to 100 are in the window, which are in the 6th and 7th block.
    assert [10 - each.free for each in seen] == [7, 2, 2]
    assert run(pool(10, local), burst([asks(100, 3)]), step_tokens=16).peak_blocks == 2


def test_a_prompt_is_admitted_by_its_first_chunk_before_0_19_and_as_a_whole_since() -> None:
    users = burst([asks(64, 20), asks(64, 20)])

    old = run(pool(6), users, asked=release("0.18.1"), step_tokens=80, caching=False)
    new = run(pool(6), users, asked=release("0.19.1"), step_tokens=80, caching=False)

    assert (old.peak_running, old.preemptions) == (2, 1)
    assert (new.peak_running, new.preemptions) == (1, 0)


def test_an_overlapped_engine_frees_what_ended_a_step_later() -> None:
    users = closed_loop(1, [asks(10, 5)] * 2)

    assert run(pool(10), users).steps == 10
    assert run(pool(10), users, overlapped=True).steps == 12


def test_a_request_that_the_pool_can_never_hold_is_noticed() -> None:
    whole = run(pool(3), burst([asks(64, 5)]))
    grown = run(pool(3), burst([asks(40, 30)]))

    assert whole.stuck == 1
    assert grown.stuck == 11  # the 10th step needs a fourth block; the 11th cannot admit 49 tokens again
    assert grown.served[0].ended is None


def test_a_prompt_longer_than_the_context_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be answered"):
        run(pool(100), burst([asks(400, 1)]))


def test_a_release_of_which_nothing_is_known_is_refused() -> None:
    with pytest.raises(UnknownRelease):
        run(pool(10), burst([asks(1, 1)]), asked=release("0.7.3"))


def test_a_watcher_ends_it_by_answering_true() -> None:
    limits, scheduling = Limits(context_tokens=400, step_tokens=500), Scheduling(sequences=5)
    seen = simulate(pool(10), burst([asks(10, 300)]), limits, scheduling, NEWEST, watch=lambda _: True)

    assert seen.steps == 1


releases = st.sampled_from([release(name) for name in ("0.8.5", "0.12.0", "0.19.1", "0.26.0", "0.29.0", "0.32.0")])
some = settings(max_examples=60, deadline=None)


@some
@given(st.integers(0, 2**32), releases)
def test_passing_over_steps_changes_nothing(number: int, asked: Release) -> None:
    told = case(number, asked)
    every, few = ours(told, asked), ours(told, asked, skip=True)

    looked_at = {step[0]: step[1:] for step in few}
    assert looked_at.keys() <= {step[0] for step in every}
    last: list[int] = []
    for step, *figures in every:
        last = looked_at.get(step) or [last[0], last[1], 0, last[3]]  # nobody is thrown back in a step passed over
        assert figures == last, step


@some
@given(st.integers(0, 2**32), releases)
def test_no_block_is_held_twice_and_no_seat_is_taken_twice(number: int, asked: Release) -> None:
    told = case(number, asked)
    blocks, settings_ = cast("int", told["blocks"]), cast("dict[str, int]", told["settings"])
    steps = ours(told, asked, skip=True)

    assert all(0 <= free < blocks for *_, free in steps)
    assert all(running <= settings_["max_num_seqs"] for _, running, *_ in steps)


def test_sixty_four_users_with_answers_of_a_thousand_tokens_take_far_less_than_a_second() -> None:
    users = closed_loop(64, [asks(300, 1000, prefix=100)])
    limits, scheduling = Limits(context_tokens=4096, step_tokens=8192), Scheduling(sequences=64)
    held = pool(64 * 82, attention())
    seen: list[Moment] = []
    began = time.process_time()

    found = simulate(held, users, limits, scheduling, NEWEST, watch=seen.append)

    assert time.process_time() - began < 1.0  # 0.1 s where it was written
    assert found.peak_running == 64
    assert len(seen) < found.steps / 2


workloads = st.lists(
    st.builds(
        User,
        requests=st.lists(st.builds(asks, st.integers(1, 90), st.integers(1, 90)), min_size=1, max_size=3).map(tuple),
        start=st.integers(1, 40),
        pause=st.integers(0, 5),
    ),
    min_size=1,
    max_size=8,
)


@some
@given(
    workloads,
    st.integers(12, 60),
    st.builds(Scheduling, sequences=st.just(5), prefix_caching=st.booleans(), overlapped=st.booleans()),
)
def test_everybody_is_answered_and_every_step_of_waiting_is_somebodys(
    users: list[User], blocks: int, scheduling: Scheduling
) -> None:
    seen: list[Moment] = []
    limits = Limits(context_tokens=400, step_tokens=64)
    found = simulate(pool(blocks), users, limits, scheduling, NEWEST, skip=False, watch=seen.append)

    assert found.stuck is None
    assert len(found.served) == sum(len(user.requests) for user in users)
    assert all(each.admitted is not None and each.ended is not None for each in found.served)
    assert sum(each.waited for each in found.served) == sum(each.waiting for each in seen)
    assert sum(each.preemptions for each in found.served) == found.preemptions == sum(each.preempted for each in seen)


@some
@given(workloads)
def test_a_pool_that_holds_all_at_once_throws_nobody_back(users: list[User]) -> None:
    found = run(pool(8 * 12), users)

    assert found.preemptions == 0
    assert found.waits_for_room is None
