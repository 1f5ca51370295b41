"""The pool is full, and requests that run are thrown out of it.

## What happened
A request needed one more block and none was free: the engine stopped another one, gave its blocks away, and will
compute it again from its prompt. The counter of preemptions rises.

## Why
More requests run at once than the pool holds at their full length: each grows with every token that it answers.

## What to do
Let fewer run at once (`--max-num-seqs`): the rest waits at the door and is computed once. Or make the pool larger.
"""

from oomph.diagnose.serving.average import average_length
from oomph.diagnose.serving.course import Course
from oomph.diagnose.serving.notice import Level, Notice
from oomph.diagnose.serving.words import counted, percent, seconds

NAME = "pool-saturated"
_OFTEN = 0.05  # of the requests that ran: from there on the work done twice is felt


def check(course: Course) -> Notice | None:
    """Preemptions in the last minute, and how many requests the pool would hold."""
    preempted = course.gain("preemptions")
    if not preempted:
        return None
    recent = course.recent()
    fullest = max((scrape.kv_used for scrape in recent if scrape.kv_used is not None), default=None)
    ran = (course.gain("requests") or 0) + (course.last.running or 0)
    full = "the pool" if fullest is None else f"the pool was {percent(fullest)} full and"
    return Notice(
        name=NAME,
        level=Level.ERROR if preempted > _OFTEN * ran else Level.WARNING,
        summary=f"{full} threw out {counted(preempted, 'request')} in {seconds(recent[-1].at - recent[0].at)}, "
        f"each to be computed again",
        evidence=(
            f"preemptions {recent[-1].preemptions or 0:,}, {preempted:,} of them in that time",
            f"running {course.last.running}, waiting {course.last.waiting}",
            *_held(course),
        ),
        do=(*_fewer(course), "a larger pool: `oomph fit` says which flags, or which device, would hold this load"),
    )


def _held(course: Course) -> tuple[str, ...]:
    length = average_length(course.last)
    tokens = course.last.tokens
    if length is None or tokens is None:
        return ()
    return (f"the pool holds {tokens:,} tokens: {counted(tokens // length, 'request')} of the average {length:,}",)


def _fewer(course: Course) -> tuple[str, ...]:
    length, tokens = average_length(course.last), course.last.tokens
    running = max(scrape.running or 0 for scrape in course.recent())
    if length is None or tokens is None or not 0 < tokens // length < running:
        return ("lower --max-num-seqs, so that requests wait at the door and are computed once",)
    return (f"--max-num-seqs {tokens // length}: the others wait at the door, and are computed once",)
