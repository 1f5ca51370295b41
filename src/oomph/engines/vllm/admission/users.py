"""How many users a pool holds at once before somebody waits, and before somebody is thrown back.

Knows how to look for the largest number. More users are not always worse: another number meets the ends of blocks at
other steps. So the number found is the last before the first that was seen to fail, and it is said where a larger one
was seen to pass.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from oomph.engines.history import Release
from oomph.engines.vllm.admission.admitted import Lack, Moment
from oomph.engines.vllm.admission.scheduling import Blocks, Scheduling
from oomph.engines.vllm.admission.simulate import simulate
from oomph.engines.vllm.admission.workload import Request, closed_loop
from oomph.engines.vllm.pool.limits import Limits


class Trouble(StrEnum):
    """What is not to happen."""

    WAITING = "waiting"  # for blocks or for a seat; to wait for the tokens of a step is no lack of room
    PREEMPTION = "preemption"


@dataclass(frozen=True, slots=True, kw_only=True)
class Most:
    """The largest number of users without trouble, of those that were tried."""

    users: int
    limited: bool  # one more is too many; False: no number up to the one asked for was
    steady: bool  # no larger number was seen to pass
    tried: tuple[int, ...]


def most_users(
    pool: Blocks,
    requests: Sequence[Request],
    limits: Limits,
    scheduling: Scheduling,
    release: Release,
    *,
    trouble: Trouble,
    upto: int | None = None,
) -> Most:
    """So many users, each with all these requests one after the other and all beginning at once, meet no trouble."""
    passes = partial(_passes, pool, requests, limits, scheduling, release, trouble)
    longest = max(request.prompt_tokens + request.answer_tokens for request in requests)
    each = max(1, sum(-(-min(longest, limits.context_tokens) // group.block_tokens) for group in pool.groups))
    return largest(passes, first=pool.blocks // each, upto=scheduling.sequences if upto is None else upto)


def largest(passes: Callable[[int], bool], *, first: int, upto: int) -> Most:
    """The largest number that passes, from 0 to `upto`, looked for from a first guess outwards."""
    tried: dict[int, bool] = {0: True}

    def passed(number: int) -> bool:
        return tried[number] if number in tried else tried.setdefault(number, passes(number))

    low, high = 0, upto + 1
    guess, stride = min(max(first, 1), upto), 1
    while high - low > 1:
        if passed(guess):
            low = guess
            guess = low + stride if high > upto else (low + high) // 2
        else:
            high = guess
            guess = high - stride if low == 0 else (low + high) // 2
        stride *= 2
        guess = min(max(guess, low + 1), high - 1)
    for further in range(high + 1, min(high + 3, upto + 1)):
        passed(further)
    return Most(
        users=low,
        limited=high <= upto,
        steady=not any(good for number, good in tried.items() if number > low),
        tried=tuple(sorted(tried)),
    )


def _passes(
    pool: Blocks,
    requests: Sequence[Request],
    limits: Limits,
    scheduling: Scheduling,
    release: Release,
    trouble: Trouble,
    users: int,
) -> bool:
    met = False

    def watch(moment: Moment) -> bool:
        nonlocal met
        waits = moment.lack in {Lack.BLOCKS, Lack.SEATS}
        met |= waits if trouble is Trouble.WAITING else moment.preempted > 0
        return met

    seen = simulate(pool, closed_loop(users, requests), limits, scheduling, release, watch=watch)
    return not met and seen.stuck is None
