"""Memory grows and does not come back.

## What happened
What the server's process holds of the host, or what is used of a device, rose from third to third of the time watched,
and in the last as fast as before.

## Why
Something is kept that should be let go: unfinished requests, logs of requests, a cache without a limit, fragments of an
allocator. The pool is no reason: it is taken whole at the start.

## What to do
Find what grows while there is time, and restart before the memory ends.
"""

from collections.abc import Sequence
from statistics import median
from typing import Final

from oomph.diagnose.serving.notice import Level, Notice
from oomph.diagnose.serving.words import grown, seconds
from oomph.ledger.answer import Answer
from oomph.units import MIB, Bytes

NAME: Final = "memory-creeps"
LONG: Final = 600.0  # seconds: warming up and the first large requests take less
_POINTS: Final = 9
_LEAST: Final = 256 * MIB
_SHARE: Final = 0.05
_STEADY: Final = 0.5  # of the growth before: what levels off is no leak


def check(answers: Sequence[Answer]) -> Notice | None:
    """Of the process that answers, while it is the same."""
    last = answers[-1].scrapes[0] if answers[-1].scrapes else None
    if last is None:
        return None
    mine = [answer.scrapes[0] for answer in answers if answer.scrapes and answer.scrapes[0].started == last.started]
    points = [(scrape.at, int(scrape.resident)) for scrape in mine if scrape.resident is not None]
    return creeping(points, what="host memory of the server's process", limit=None)


def creeping(points: Sequence[tuple[float, int]], *, what: str, limit: int | None) -> Notice | None:
    """From pairs of time and size; `limit` is where it ends, if that is known."""
    if len(points) < _POINTS or points[-1][0] - points[0][0] < LONG:
        return None
    first, middle, end = _thirds(points)
    growth = end - first
    if growth < max(_LEAST, _SHARE * first) or end - middle < _STEADY * (middle - first) or middle <= first:
        return None
    span = points[-1][0] - points[0][0]
    pace = growth / (span * 2 / 3)  # from the middle of the first third to that of the last
    left = None if limit is None else max(0.0, (limit - points[-1][1]) / pace)
    return Notice(
        name=NAME,
        level=Level.WARNING,
        summary=f"{what} grows: {grown(first, end)} in {seconds(span)}"
        + ("" if left is None else f"; at this pace it ends in {seconds(left)}"),
        evidence=(f"thirds of the time watched: {Bytes(first)}, {Bytes(middle)}, {Bytes(end)}",),
        do=("find what is kept while there is time and restart before it ends",),
    )


def _thirds(points: Sequence[tuple[float, int]]) -> tuple[int, int, int]:
    """The middle size of each third of the time."""
    begin, span = points[0][0], points[-1][0] - points[0][0]
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for at, size in points:
        parts[min(2, int(3 * (at - begin) / span))].append(size)
    first, middle, end = (int(median(part)) if part else points[0][1] for part in parts)
    return first, middle, end
