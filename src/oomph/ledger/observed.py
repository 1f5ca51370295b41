"""What earlier start-ups of the user's measured, as far as it holds for the one that is asked about.

Knows sizes and where they come from. Does not know when a figure of one start-up holds for another. Apart from what
an engine says, because every plan needs this and few read a log.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from oomph.units import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A size that a start-up of the user's measured, and which one."""

    size: Bounds  # on the rank that has least room for the rest; of a pool, the smallest
    because: str  # "learned from a start-up on …"
    ranks: Mapping[int, Bounds] = field(default_factory=dict)  # each rank's own, where ranks were told apart

    def at(self, rank: int) -> Bounds:
        """On one rank."""
        return self.ranks.get(rank, self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What earlier start-ups say of the one that is asked about; None where they say nothing."""

    weights: Seen | None = None
    non_torch: Seen | None = None
    consumed: Seen | None = None  # where the release prints weights and non-torch in one figure
    activations: Seen | None = None
    graph_estimate: Seen | None = None
    graphs: Seen | None = None  # as captured
    outside: Seen | None = None  # of PyTorch, when it ran out: context, libraries, collectives
    allocated: Seen | None = None  # by PyTorch, when it ran out
    pool: Seen | None = None

    def __bool__(self) -> bool:
        """Whether they say anything."""
        return any(getattr(self, name) is not None for name in self.__slots__)
