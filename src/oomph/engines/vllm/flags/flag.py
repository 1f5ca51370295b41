"""What a flag is: its names, what it takes, and which releases have it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from oomph.engines.history import Release, Span, span


class Kind(StrEnum):
    """What a flag takes."""

    SWITCH = "nothing"
    WHOLE = "a whole number"
    HUMAN = "a whole number, 32k and 32K allowed"
    FRACTION = "a number"
    CHOICE = "one of some words"
    JSON = "JSON"
    TEXT = "text"


# As the tables write them.
CHOICE, FRACTION, HUMAN, JSON = Kind.CHOICE, Kind.FRACTION, Kind.HUMAN, Kind.JSON
SWITCH, TEXT, WHOLE = Kind.SWITCH, Kind.TEXT, Kind.WHOLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One flag of the command line."""

    name: str  # the long form: --max-num-seqs
    kind: Kind
    span: Span
    short: Mapping[str, Span]  # other names of it, and when
    negation: Span | None  # when --no-… is understood too
    now: str | None  # for one that is gone: the flag to use instead, where there is one

    @property
    def key(self) -> str:
        """The name under which its value is kept: `max_num_seqs`."""
        return self.name.removeprefix("--").replace("-", "_")

    def names(self, release: Release) -> tuple[str, ...]:
        """Every way to write it in this release; none where it has no such flag."""
        if release not in self.span:
            return ()
        others = tuple(name for name, span in self.short.items() if release in span)
        no = (f"--no-{self.name.removeprefix('--')}",) if self.negation and release in self.negation else ()
        return (self.name, *others, *no)


def flag(
    name: str,
    kind: Kind,
    since: str,
    until: str | None = None,
    *,
    no: str | tuple[str, str] | None = None,
    short: Mapping[str, str | tuple[str, str]] | None = None,
    now: str | None = None,
) -> Flag:
    """A line of the table; another name, or the negation, lasts as long as the flag unless it says until when."""

    def lasting(when: str | tuple[str, str]) -> Span:
        return span(*when) if isinstance(when, tuple) else span(when, until)

    return Flag(
        name=name,
        kind=kind,
        span=span(since, until),
        short={other: lasting(when) for other, when in (short or {}).items()},
        negation=None if no is None else lasting(no),
        now=now,
    )
