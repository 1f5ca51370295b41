"""How one engine, or one endpoint, went over time.

Knows which looks belong to one process, what was gained between them, and which of many looks are worth keeping. Does
not know what is wrong: the rules do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self, TypeVar

from oomph.ledger.answer import Answer
from oomph.ledger.scrape import Scrape

RECENT: Final = 60.0  # seconds that rates are taken over
KEPT_RECENT: Final = 24  # looks that are all kept
KEPT_OLDER: Final = 36  # and so many of those before, ever further apart
_COUNTERS: Final = ("generation_tokens", "prompt_tokens", "requests", "steps", "preemptions")
_SAME_START: Final = 1.0  # second: clocks are read twice
_MOMENT: Final = 1e-3  # second: clocks may be set back

Look = TypeVar("Look")


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One engine, the oldest look first; never empty."""

    endpoint: str
    scrapes: tuple[Scrape, ...]
    current: tuple[Scrape, ...]  # those of the process that runs now
    healthy: bool | None = None  # what /health said last

    @classmethod
    def of(cls, scrapes: Sequence[Scrape], *, endpoint: str = "", healthy: bool | None = None) -> Self:
        """From all looks."""
        begun = max((place for place, pair in enumerate(pairwise(scrapes), start=1) if anew(*pair)), default=0)
        return cls(endpoint=endpoint, scrapes=tuple(scrapes), current=tuple(scrapes[begun:]), healthy=healthy)

    @property
    def last(self) -> Scrape:
        """The newest look."""
        return self.scrapes[-1]

    def recent(self, seconds: float = RECENT) -> tuple[Scrape, ...]:
        """The looks at it within the last so many seconds."""
        since = self.last.at - seconds
        return tuple(scrape for scrape in self.current if scrape.at >= since)

    def gain(self, counter: str, seconds: float = RECENT) -> int | None:
        """How much a counter rose in that time; None where it was seen less than twice."""
        return gained(self.recent(seconds), counter)

    def rate(self, counter: str, seconds: float = RECENT) -> float | None:
        """The same, by second."""
        recent = self.recent(seconds)
        gain = gained(recent, counter)
        span = recent[-1].at - recent[0].at
        return None if gain is None or span <= 0 else gain / span


def gained(scrapes: Sequence[Scrape], counter: str) -> int | None:
    """How much a counter rose from the first look to the last; None where it was seen less than twice."""
    said = [value for scrape in scrapes if (value := getattr(scrape, counter)) is not None]
    return said[-1] - said[0] if len(said) > 1 else None


def anew(before: Scrape, after: Scrape) -> bool:
    """Whether another process answers: it began at another time, or counts from the start again."""
    if before.started is not None and after.started is not None and abs(after.started - before.started) > _SAME_START:
        return True
    pairs = ((getattr(before, counter), getattr(after, counter)) for counter in _COUNTERS)
    return any(then is not None and now is not None and now < then for then, now in pairs)


def courses(endpoint: str, answers: Sequence[Answer]) -> tuple[Course, ...]:
    """Each engine that the endpoint told of in its last answer that told of any."""
    told = [answer for answer in answers if answer.scrapes]
    if not told:
        return ()
    healthy = answers[-1].healthy
    looks: dict[tuple[str, str], list[Scrape]] = {}
    for answer in told:
        for scrape in answer.scrapes:
            looks.setdefault((scrape.engine, scrape.model), []).append(scrape)
    return tuple(
        Course.of(looks[scrape.engine, scrape.model], endpoint=endpoint, healthy=healthy) for scrape in told[-1].scrapes
    )


def remember(answers: tuple[Answer, ...], answer: Answer) -> tuple[Answer, ...]:
    """The looks worth keeping, with one more: all of the newest, and older ones ever further apart."""
    return thinned((*answers, answer), at=lambda each: each.at)


def thinned(looks: tuple[Look, ...], *, at: Callable[[Look], float]) -> tuple[Look, ...]:
    """Without the one, where they are too many, whose neighbours are nearest to each other for its age.

    So the gaps grow with the age, and every part of the time since the first look, which stays, keeps some.
    """
    older = len(looks) - KEPT_RECENT
    if older <= KEPT_OLDER:
        return looks
    times = [at(look) for look in looks]

    def crowded(place: int) -> float:
        return (times[place + 1] - times[place - 1]) / max(times[-1] - times[place], _MOMENT)

    out = min(range(1, older), key=crowded)
    return (*looks[:out], *looks[out + 1 :])
