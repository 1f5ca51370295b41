"""Requests wait, look after look.

## What happened
Some requests have been waiting at every look of the last half minute.

## Why
The engine admits a request when it has a seat (`--max-num-seqs`), blocks for its prompt, and room in a step
(`--max-num-batched-tokens`). Releases from 0.20.0 on say whether it waits for such capacity or was deferred: for an
adapter's turn, a transfer of KV, a grammar.

## What to do
Give what is short. If all is taken, this engine is at its limit: add another, or refuse at the door.
"""

from oomph.diagnose.serving.course import Course
from oomph.diagnose.serving.notice import Level, Notice
from oomph.diagnose.serving.words import counted, percent, seconds
from oomph.ledger.scrape import Scrape

NAME = "backlog"
_HALF_A_MINUTE = 30.0
_LOOKS = 3
_FULL = 0.90  # of the pool
_GROWS = 1.2


def check(course: Course) -> Notice | None:
    """Whoever waits at every look of half a minute; of one look alone, only who waits before a full pool."""
    recent = course.recent(_HALF_A_MINUTE)
    waiting = [scrape.waiting or 0 for scrape in recent]
    if min(waiting) == 0 or (len(recent) < _LOOKS and not _full(recent)):
        return None
    why, do = _why(recent)
    grows = waiting[-1] > _GROWS * waiting[0]
    span = recent[-1].at - recent[0].at
    return Notice(
        name=NAME,
        level=Level.ERROR if grows else Level.WARNING,
        summary=f"{counted(waiting[-1], 'request')} waiting{', and more and more' if grows else ''}: {why}",
        evidence=(
            f"waiting {waiting[0]:,} → {waiting[-1]:,} in {seconds(span)}" if span else f"waiting {waiting[-1]:,}",
            *_reasons(recent[-1]),
            f"running {recent[-1].running}, pool {'?' if recent[-1].kv_used is None else percent(recent[-1].kv_used)}",
            *_drain(course, waiting[-1]),
        ),
        do=do,
    )


def _why(recent: tuple[Scrape, ...]) -> tuple[str, tuple[str, ...]]:
    last = recent[-1]
    if 2 * last.waiting_by.get("deferred", 0) > (last.waiting or 0):
        return "most were deferred, not for want of room", (
            "see what they need: an adapter that is not loaded (--max-loras), KV from another engine, a grammar",
        )
    if _full(recent):
        return "the pool is full", (
            "a larger pool (`oomph fit`), shorter requests, or another engine beside this one",
            "more seats (--max-num-seqs) would only lead to preemptions",
        )
    running = {scrape.running for scrape in recent}
    if len(running) == 1 and len(recent) >= _LOOKS and last.running:
        return f"all {last.running} seats seem to be taken, and the pool is not full", _more_seats(last)
    return "neither seats nor pool are short: steps are full of prompts", (
        "raise --max-num-batched-tokens (`oomph plan` says whether its peak fits), or add an engine",
    )


def _full(recent: tuple[Scrape, ...]) -> bool:
    return any(scrape.kv_used is not None and scrape.kv_used >= _FULL for scrape in recent)


def _more_seats(last: Scrape) -> tuple[str, ...]:
    """As many as would fill the pool to nine tenths, at what each takes now."""
    if not last.kv_used or not last.running:
        return ("raise --max-num-seqs (`oomph plan` says whether its peak fits)",)
    seats = max(last.running + 1, int(last.running * min(_FULL / last.kv_used, 4.0)))
    return (f"--max-num-seqs {seats} (`oomph plan` says whether its peak fits; the pool has room for so many)",)


def _reasons(last: Scrape) -> tuple[str, ...]:
    said = [f"{reason} {count:,}" for reason, count in sorted(last.waiting_by.items()) if count]
    return (f"by reason: {', '.join(said)}",) if said else ()


def _drain(course: Course, waiting: int) -> tuple[str, ...]:
    rate = course.rate("requests")
    return (f"at {rate:.2g} finished a second, the last of them begins in {seconds(waiting / rate)}",) if rate else ()
