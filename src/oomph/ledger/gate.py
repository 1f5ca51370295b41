"""A question that the engine asks of its memory on the way up, and the answer.

Knows two sides and a verdict. Does not know which engine asks, nor what either side consists of.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from oomph.ledger.ledger import Ledger
from oomph.units import Bounds


class Verdict(StrEnum):
    """As sure as the bounds permit."""

    FITS = "fits"
    OVERFLOWS = "overflows"
    UNSURE = "unsure"


class Step(StrEnum):
    """The gates of a start-up, in the order in which they are met."""

    START_CHECK = "start-check"
    LOAD = "load"
    PROFILE = "profile"
    GRAPH_PROFILE = "graph-profile"
    POOL_SIZE = "pool-size"
    ONE_REQUEST = "one-request"
    CAPTURE = "capture"
    WARM_UP = "warm-up"
    SERVING = "serving"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What one step needs, what it has, and which flags change nothing there."""

    step: Step
    needs: Bounds
    has: Bounds
    said: str | Callable[[], str] = field(compare=False)  # both sides in words, with their numbers in them
    inert: tuple[str, ...] = ()
    holds: Ledger | Callable[[], Ledger] = field(default_factory=Ledger, compare=False)

    @property
    def because(self) -> str:
        """Both sides in words; put together when they are read, because a search reads few of its gates."""
        return self.said if isinstance(self.said, str) else self.said()

    @property
    def ledger(self) -> Ledger:
        """What is on the device at that moment, whoever put it there."""
        return self.holds if isinstance(self.holds, Ledger) else self.holds()

    @property
    def verdict(self) -> Verdict:
        """As sure as the bounds permit, and no surer."""
        if self.needs.high <= self.has.low:
            return Verdict.FITS
        if self.needs.low > self.has.high:
            return Verdict.OVERFLOWS
        return Verdict.UNSURE

    @property
    def spare(self) -> Bounds:
        """What is left over; below 0 where it does not fit."""
        return self.has - self.needs
