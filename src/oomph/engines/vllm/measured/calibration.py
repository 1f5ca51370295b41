"""How far real start-ups lie from the formulas: three points for every quantity that cannot be computed.

Knows the quantities and how a factor becomes bounds. Does not know where the figures come from: `shipped` has those of
the published start-ups, `calibrate` makes them.
"""

from dataclasses import dataclass

from oomph.units import Bounds


@dataclass(frozen=True, slots=True)
class Spread:
    """Below `low` and above `high` lies hardly any start-up; `likely` is in their middle."""

    low: float
    likely: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.likely <= self.high:
            message = f"a spread out of order: {self.low}, {self.likely}, {self.high}"
            raise ValueError(message)

    def __mul__(self, size: int) -> Bounds:
        return Bounds(round(self.low * size), round(self.high * size), round(self.likely * size))

    __rmul__ = __mul__


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Every quantity that is measured and not computed."""

    context: Spread  # bytes: a CUDA context and its libraries' handles, before the engine looks
    connections: Spread  # bytes: what ranks take to talk to each other, on each of them
    outside: Spread  # bytes: growth outside PyTorch while the engine profiles
    talking: Spread  # likewise on each of several ranks, on top
    recurrent: Spread  # likewise where layers keep states, whose kernels are tuned on the way up
    unified: Spread  # likewise where host and device share their memory
    forward: Spread  # times the formula of a layer's live tensors
    sorted: Spread  # bytes for every row and word where sampling sorts the vocabulary
    selected: Spread  # likewise where a kernel selects without sorting
    second: Spread  # likewise in the second runner, which profiles without top-k and top-p
    picture: Spread  # times the formula of a tower's live tensors
    graph: Spread  # bytes of one captured size in one layer
    estimate: Spread  # times what the graphs are likely to take: what the engine estimates for them
    fragments: Spread  # bytes that the allocator cannot give back, counted from 0.27.0 on
    unforeseen: Spread  # shares of the device: what the count is off by for reasons that no part has
    workspaces: Spread  # bytes that kernels take when they are first used, after the budget was made
