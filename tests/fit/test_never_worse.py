"""More memory, fewer users or shorter requests never make the answer worse."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import inf
from typing import Final

import pytest

from fit.problems import generated
from oomph.errors import UsageError
from oomph.fit.choice import Lever
from oomph.fit.fit import searched
from oomph.fit.question import Question
from oomph.fit.search import Found, order
from oomph.fit.workload import Workload
from oomph.ledger.device import Device
from oomph.ledger.lengths import Lengths
from oomph.units import GIB, Bounds, Bytes

FIRST: Final = 30_000
COUNT: Final = 26
MOST: Final = 2  # GPUs: more take long to search
Better = Callable[[Question], Question]


def more_memory(question: Question) -> Question:
    devices = {device: _larger(device) for device in question.startup.devices}
    return replace(
        question, startup=replace(question.startup, devices=tuple(devices[each] for each in question.startup.devices))
    )


def _larger(device: Device) -> Device:
    """By three and a half GiB, all of which are free."""
    more = 7 * GIB // 2
    free = None if device.free is None else Bounds(device.free.low + more, device.free.high + more)
    return replace(device, total=Bytes(device.total + more), free=free)


def fewer_users(question: Question) -> Question:
    return replace(question, workload=replace(question.workload, users=-(-question.workload.users * 2 // 3)))


def shorter_requests(question: Question) -> Question:
    work = question.workload
    return replace(question, workload=replace(work, prompt=_shorter(work.prompt), answer=_shorter(work.answer)))


def _shorter(lengths: Lengths) -> Lengths:
    return Lengths.given(-(-lengths.p99 * 3 // 5))


def answer(question: Question) -> tuple[float, ...] | None:
    """What is held of the users, then every lever by what it is set to, the dearest first; the least is the best."""
    judge, found = searched(question)
    if not found:
        return None
    levers = order(question.preference)
    best = min(found, key=lambda each: each.rank(levers))
    return (-judge.space.workload.users, *(_absolute(best, lever, question.workload) for lever in levers))


def _absolute(found: Found, lever: Lever, work: Workload) -> float:
    """Numbers by themselves, because the same number may stand at another place; batches beyond the users are equal."""
    settings = found.judged.forecast.settings
    flags = found.judged.startup.flags
    match lever:
        case Lever.GRAPHS:
            return 0 if flags.get("enforce_eager") else -(flags.whole("max_cudagraph_capture_size") or inf)
        case Lever.STEP:
            return -settings.whole("max_num_batched_tokens")
        case Lever.SEQUENCES:
            return -min(settings.whole("max_num_seqs"), max(256, work.users))
        case Lever.LENGTH:
            return -settings.whole("max_model_len")
        case _:
            return found.places[lever]


def no_worse(after: tuple[float, ...] | None, before: tuple[float, ...] | None, most: int) -> bool:
    """Of users no more count than there are; only where as many are held, the rest is compared."""
    if before is None or after is None:
        return before is None
    held, was = (max(each[0], -most) for each in (after, before))
    return (held, *after[1:]) <= (was, *before[1:])


def asked(number: int) -> Question:
    """Without a beginning that is shared, which an easier question would have to share as well."""
    question = generated(number)
    few = replace(question.startup, devices=question.startup.devices[:MOST])
    return replace(question, startup=few, workload=replace(question.workload, prefix=0))


@cache
def first_answer(number: int) -> tuple[float, ...] | None:
    """Before anything is easier."""
    return answer(asked(number))


@pytest.mark.parametrize("better", [more_memory, fewer_users, shorter_requests])
def test_an_easier_question_never_has_a_worse_answer(better: Better, capsys: pytest.CaptureFixture[str]) -> None:
    compared = improved = 0
    for number in range(FIRST, FIRST + COUNT):
        easier = better(asked(number))
        try:
            before, after = first_answer(number), answer(easier)
        except UsageError:
            continue

        assert no_worse(after, before, easier.workload.users), (number, before, after)
        compared, improved = compared + 1, improved + (before != after)
    with capsys.disabled():
        name = better.__name__.replace("_", " ")
        print(f"\n  {name}: {improved} of {compared} answers become better, none worse", end="")  # noqa: T201 - the figure

    assert compared >= COUNT // 2
    assert improved
