"""How many users fit: by hand, and against trying every number."""

from hypothesis import given, settings
from hypothesis import strategies as st

from engines.vllm.admission.pools import NEWEST, asks, attention, pool
from oomph.engines.vllm.admission.scheduling import Scheduling
from oomph.engines.vllm.admission.simulate import simulate
from oomph.engines.vllm.admission.users import Trouble, largest, most_users
from oomph.engines.vllm.admission.workload import closed_loop
from oomph.engines.vllm.pool.caches import Keeps
from oomph.engines.vllm.pool.limits import Limits

LIMITS = Limits(context_tokens=400, step_tokens=500)


def test_a_pool_of_ten_requests_holds_ten_users() -> None:
    held, seats = pool(10 * 5), Scheduling(sequences=64)  # 80 tokens in blocks of 16
    found = most_users(held, [asks(60, 20)] * 2, LIMITS, seats, NEWEST, trouble=Trouble.PREEMPTION)
    waiting = most_users(held, [asks(60, 20)] * 2, LIMITS, seats, NEWEST, trouble=Trouble.WAITING)

    assert (found.users, found.limited, found.steady) == (10, True, True)
    # Four blocks are enough to be admitted: the eleventh waits only once the others have grown.
    assert waiting.users == 10


def test_seats_limit_those_who_run_but_nobody_is_thrown_back_for_them() -> None:
    held, seats = pool(1000), Scheduling(sequences=4)
    waiting = most_users(held, [asks(60, 20)], LIMITS, seats, NEWEST, trouble=Trouble.WAITING, upto=16)
    thrown = most_users(held, [asks(60, 20)], LIMITS, seats, NEWEST, trouble=Trouble.PREEMPTION, upto=16)

    assert (waiting.users, waiting.limited) == (4, True)
    assert (thrown.users, thrown.limited) == (16, False)


def test_a_pool_that_cannot_hold_one_holds_none() -> None:
    found = most_users(
        pool(3), [asks(60, 20)], LIMITS, Scheduling(sequences=4), NEWEST, trouble=Trouble.PREEMPTION, upto=8
    )

    assert (found.users, found.limited) == (0, True)


@given(st.integers(0, 300), st.integers(1, 300), st.integers(-5, 400))
def test_the_largest_number_is_found_from_any_guess(true: int, upto: int, first: int) -> None:
    found = largest(lambda number: number <= true, first=first, upto=upto)

    assert found.users == min(true, upto)
    assert found.limited == (true < upto)
    assert found.steady
    assert len(found.tried) < 25


def test_a_larger_number_that_passes_is_told() -> None:
    found = largest(lambda number: number not in {5, 8}, first=5, upto=9)

    assert not found.steady
    assert found.users in {4, 7}


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 60),
    st.integers(1, 60),
    st.integers(10, 60),
    st.sampled_from(Trouble),
    st.sampled_from([Keeps.ALL, Keeps.WINDOW]),
)
def test_it_is_what_trying_every_number_finds_unless_it_says_otherwise(
    prompt: int, answer: int, blocks: int, trouble: Trouble, keeps: Keeps
) -> None:
    caches = (attention(), attention(Keeps.WINDOW, window=20)) if keeps is Keeps.WINDOW else (attention(),)
    held, seats = pool(blocks, *caches), Scheduling(sequences=12)
    found = most_users(held, [asks(prompt, answer)] * 2, LIMITS, seats, NEWEST, trouble=trouble, upto=14)

    passed = []
    for users in range(1, 15):
        seen = simulate(held, closed_loop(users, [asks(prompt, answer)] * 2), LIMITS, seats, NEWEST, skip=False)
        met = seen.waits_for_room if trouble is Trouble.WAITING else seen.first_preemption
        passed.append(met is None and seen.stuck is None)
    assert found.users == 0 or passed[found.users - 1]
    assert not found.limited or not passed[found.users]
    if found.steady and all(passed[: found.users]):
        assert not any(passed[found.users : found.users + 2])
