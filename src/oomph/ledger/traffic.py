"""The requests that a service really gets: how long, how many at once, how often.

Knows the nouns. Does not know where they were read (`readers`), nor what would serve them (`fit`).
"""

from dataclasses import dataclass

from oomph.ledger.lengths import Lengths


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a trace, or an engine that counted, says of its requests."""

    prompt: Lengths
    answer: Lengths
    at_once: int | None = None  # requests at the same time; None where nothing says when they ended
    at_once_basis: str | None = None  # how that is known: the peak of a trace, or only a moment of an engine
    per_second: float | None = None  # requests that arrive, on the average
    source: str  # the file or the address
    refused: tuple[str, ...] = ()  # lines that say no lengths, the first few by number
    refused_count: int = 0
