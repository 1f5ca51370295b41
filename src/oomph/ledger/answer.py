"""What came back when an endpoint was asked: what its engines say, or what went wrong.

Knows the ways in which asking fails. Does not ask (`readers`), and concludes nothing (`diagnose`).
"""

from dataclasses import dataclass
from enum import StrEnum

from oomph.ledger.scrape import Scrape


class Trouble(StrEnum):
    """Why nothing was learned."""

    UNREACHABLE = "unreachable"  # nobody listens, or nobody has that name
    SILENT = "silent"  # it takes the question and gives no answer in time
    REFUSED = "refused"  # it answers, with a status that is no success
    GARBAGE = "garbage"  # it answers with success, and says nothing of an engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One endpoint at one time."""

    at: float  # seconds, when it was asked, by the clock of who asked
    took: float = 0.0  # seconds
    scrapes: tuple[Scrape, ...] = ()
    trouble: Trouble | None = None
    words: str | None = None  # of the trouble
    healthy: bool | None = None  # what /health says, where it was asked
