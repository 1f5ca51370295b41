"""What an engine said of its own memory: every figure, with the line that says it.

Knows figures as they may have been before they were printed. Does not know any engine's sentences, and concludes
nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from oomph.ledger.settings import Flags
from oomph.units import Bounds

Figure: TypeAlias = Bounds | int | float | str


class Quantity(StrEnum):
    """What a figure is of."""

    WEIGHTS = "weights"
    NON_TORCH = "non-torch"  # outside PyTorch's allocator, since the engine first looked
    CONSUMED = "consumed"  # weights and non-torch together
    ACTIVATIONS = "activations"  # the peak of the profile run
    GRAPH_ESTIMATE = "graph estimate"
    GRAPHS = "graphs"  # as captured
    TOTAL = "total"
    FREE = "free"  # when the engine first looked
    SHARE = "share"
    BUDGET = "budget"
    POOL = "pool"
    POOL_GIVEN = "pool given"
    TOKENS = "tokens"
    CONCURRENCY = "concurrency"
    BLOCKS = "blocks"
    BLOCKS_OVERRIDDEN = "blocks overridden"
    BLOCK_TOKENS = "block tokens"
    PADDING_LAYERS = "padding layers"
    PADDING_PERCENT = "padding percent"
    STATE_PADDING_PERCENT = "state padding percent"
    LENGTH = "length"
    NEEDED = "needed"  # for one request of that length
    FITTING_LENGTH = "fitting length"
    STEP_TOKENS = "step tokens"
    ENCODER_TOKENS = "encoder tokens"
    TRIED = "tried"  # these and the rest: torch's own account at the moment it ran out
    DEVICE_TOTAL = "device total"
    DEVICE_FREE = "device free"
    IN_USE = "in use"  # by this process
    FOREIGN = "foreign"  # by others
    ALLOCATED = "allocated"
    PRIVATE = "private"  # of that, in pools of graphs
    RESERVED = "reserved"  # by the allocator, unused
    OUTSIDE = "outside"  # of PyTorch: in use, less allocated and reserved


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One figure, and where it stands."""

    value: Figure
    line: int  # of the log, from 1; 0 where it was said elsewhere
    text: str  # the line without its prefixes, cut where it is long


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A sentence of the engine as it was met."""

    name: str  # of the sentence, in the engine's table
    rank: str  # who says it, as it names itself: Worker_TP1; empty where it does not
    line: int
    text: str
    figures: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """All that one start-up said."""

    engine: str
    release: str | None = None
    model: str | None = None
    device: str | None = None  # its name, where printed
    flags: Flags = field(default_factory=Flags)  # as the engine says it was started
    config: Mapping[str, str] = field(default_factory=dict)  # as the engine resolved it, in its own words
    ranks: Mapping[str, Mapping[Quantity, Reading]] = field(default_factory=dict)  # by who says it
    lines: tuple[Line, ...] = ()  # in their order; of those that repeat endlessly, the first ones
    first: int = 1  # line of the log with which it begins

    def readings(self, quantity: Quantity) -> Iterator[tuple[str, Reading]]:
        """What each rank says of it."""
        return ((rank, said[quantity]) for rank, said in self.ranks.items() if quantity in said)

    def reading(self, quantity: Quantity) -> Reading | None:
        """What the first that speaks of it says."""
        return next((reading for _, reading in self.readings(quantity)), None)

    def sizes(self, quantity: Quantity) -> tuple[Bounds, ...]:
        """What the ranks say of a size."""
        return tuple(said.value for _, said in self.readings(quantity) if isinstance(said.value, Bounds))
