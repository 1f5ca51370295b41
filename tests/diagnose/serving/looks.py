"""Looks at an engine that is well, from which tests depart."""

from collections.abc import Callable

from oomph.diagnose.serving.course import Course
from oomph.ledger.answer import Answer
from oomph.ledger.scrape import Scrape


def scrape(at: float, **said: object) -> Scrape:
    """One look at an engine that works: 8 requests run, 400 tokens a second, 2 requests a second finished."""
    well: dict[str, object] = {
        "engine": "0",
        "model": "m",
        "started": 1_000.0,
        "kv_used": 0.4,
        "running": 8,
        "waiting": 0,
        "preemptions": 0,
        "prompt_tokens": int(10_000 + 1_600 * at),
        "generation_tokens": int(2_000 + 400 * at),
        "prefix_queries": int(10_000 + 1_600 * at),
        "prefix_hits": int(2_000 + 400 * at),
        "finished": {"stop": int(10 + 2 * at)},
        "steps": int(100 + 50 * at),
        "blocks": 1_000,
        "block_tokens": 16,
    }
    return Scrape(at=at, **well | said)  # type: ignore[arg-type]  # the fields' own names


def course(*, every: float = 5.0, count: int = 13, **odd: Callable[[float], object]) -> Course:
    """So many looks, so far apart, with these fields by the time."""
    times = [number * every for number in range(count)]
    return Course.of([scrape(at, **{name: value(at) for name, value in odd.items()}) for at in times], endpoint="e:1")


def answers(of: Course) -> tuple[Answer, ...]:
    """The same looks as answers of the endpoint."""
    return tuple(Answer(at=each.at, scrapes=(each,), healthy=of.healthy) for each in of.scrapes)
