"""Why there is no pool. Inside the planner a refusal travels as an exception; at the door it is a noun."""

from dataclasses import dataclass
from enum import StrEnum

from oomph.units import Bytes


class Reason(StrEnum):
    """What vLLM finds wrong, in our words."""

    NO_MEMORY = "nothing is left for the pool"
    TOO_SMALL = "the pool is smaller than one request of the longest length"
    NOTHING_FITS = "not even one token fits"
    PAGES_DIFFER = "pages cannot be made equal"
    KINDS_DIFFER = "layers cannot be treated as one kind"
    WINDOWS_DIFFER = "full attention with two different windows"
    SPLIT_WINDOW = "a window cannot be split over ranks"
    LAYOUT = "the layout cannot hold pages of different size"
    NO_BLOCKS = "not one block"
    UNSUPPORTED = "a mix of layers that the release does not plan for"
    NOT_MODELLED = "a mix of layers that we do not plan for"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why the release would not start, with its own figures where it gives any."""

    reason: Reason
    need: Bytes | None = None
    available: Bytes | None = None
    fitting_tokens: int | None = None  # the longest request that the refusing worker could hold; 0: none


class Unplannable(Exception):  # noqa: N818 - the engine's answer, not a mistake of ours
    """A refusal on its way to the door."""

    def __init__(self, refusal: Refusal | Reason) -> None:
        self.refusal = refusal if isinstance(refusal, Refusal) else Refusal(reason=refusal)
        super().__init__(str(self.refusal.reason))
