"""The prefix cache: useless, precious, or being lost.

## What happened
Of the tokens of prompts that were looked for in the cache, nearly none were found; or most were; or most were, and no
longer are.

## Why
Blocks are found again when a prompt begins exactly like an earlier one and the blocks are still there. A full pool
gives the oldest blocks away.

## What to do
Useless: it costs next to nothing, but put what prompts share in front, and what changes (dates, names) behind.
Precious: know that a restart makes every prompt be computed again, and send like prompts to the same engine. Being
lost: a larger pool, or fewer at once.
"""

from collections.abc import Sequence

from oomph.diagnose.serving.course import Course, gained
from oomph.diagnose.serving.notice import Level, Notice
from oomph.diagnose.serving.words import percent, seconds
from oomph.ledger.scrape import Scrape

USELESS, PRECIOUS, LOST = "prefix-cache-useless", "prefix-cache-precious", "prefix-cache-lost"
_ENOUGH = 100_000  # tokens, to speak of all that was ever looked for
_LATELY = 20_000  # tokens, to speak of the last minute
_NONE, _MUCH, _FULL = 0.01, 0.50, 0.90


def check(course: Course) -> Notice | None:
    """By all that the process counted, and by the last minute."""
    last = course.last
    queries, hits = last.prefix_queries, last.prefix_hits
    if queries is None or hits is None or queries < _ENOUGH:
        return None
    share = hits / queries
    if share < _NONE:
        return _useless(queries, hits)
    return _lost(course) or (_precious(course, share) if share >= _MUCH else None)


def _useless(queries: int, hits: int) -> Notice:
    return Notice(
        name=USELESS,
        level=Level.NOTE,
        summary=f"the prefix cache finds {'under 1 %' if hits else 'none'} of what prompts ask it for",
        evidence=(f"{queries:,} tokens looked for since the engine began",),
        do=("put what prompts share in front, and what changes behind; else nothing: it costs next to nothing",),
    )


def _precious(course: Course, share: float) -> Notice:
    return Notice(
        name=PRECIOUS,
        level=Level.NOTE,
        summary=f"the prefix cache saves {percent(share)} of the work on prompts",
        evidence=(
            f"{course.last.prefix_hits:,} of {course.last.prefix_queries:,} tokens found since the engine began",
        ),
        do=("keep like prompts on the same engine, and expect slow first answers after a restart",),
    )


def _lost(course: Course) -> Notice | None:
    """Less than half as much is found lately as before, while the pool is full."""
    recent = course.recent()
    before, lately = _before(recent[0]), _share(recent)
    full = any(scrape.kv_used is not None and scrape.kv_used >= _FULL for scrape in recent)
    if before is None or lately is None or before < _MUCH / 2 or lately > before / 2 or not full:
        return None
    return Notice(
        name=LOST,
        level=Level.WARNING,
        summary=f"the prefix cache finds {percent(lately)} where it found {percent(before)}: the pool is full",
        evidence=(
            f"{gained(recent, 'prefix_queries'):,} tokens looked for in {seconds(recent[-1].at - recent[0].at)}",
        ),
        do=("fewer at once (--max-num-seqs), or a larger pool (`oomph fit`)",),
    )


def _before(first: Scrape) -> float | None:
    enough = first.prefix_queries is not None and first.prefix_queries >= _ENOUGH
    return (first.prefix_hits or 0) / (first.prefix_queries or 1) if enough else None


def _share(recent: Sequence[Scrape]) -> float | None:
    queries, hits = gained(recent, "prefix_queries"), gained(recent, "prefix_hits")
    return None if queries is None or hits is None or queries < _LATELY else hits / queries
