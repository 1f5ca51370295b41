"""A start that the engine refused because too little of the device is free: the figures, and what follows from them.

Knows one sentence of vLLM's and its arithmetic. Does not know whose the missing memory is: six causes share the
sentence, and the rules tell them apart.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from oomph.diagnose.case import Case, Platform
from oomph.diagnose.finding import Remedy, Said
from oomph.ledger.observation import Line
from oomph.units import GIB, MIB, Bounds, Bytes

SENTENCE: Final = "too little free"
_MARGIN: Final = 100 * MIB  # by which what is free differs from one start to the next
_OF_THE_HOST: Final = "on node "  # how it is said where the device is the host's own memory

# Between the largest of one kind of card and the smallest of the next, 96 GB and 141 GB, only memory that is shared
# with a host is sold: GB10, Thor, Strix Halo, MI300A.
_SHARED: Final = Bounds(100 * GIB, 130 * GIB)

# What an engine with a share of its own holds beyond it: the driver's context, communicators, graphs before 0.20.0.
_BESIDE: Final = Bounds(-GIB // 2, 3 * GIB)
_OF_A_HOST: Final = 10 * GIB  # that the system holds besides, where memory is shared
# What is held where no other process is, or none that matters.
_ALONE: Final = 2 * GIB  # a context, a display
_CONNECTED: Final = 3 * GIB  # and communicators of several ranks
_WINDOWS: Final = 4 * GIB  # and the desktop of a Windows that has the same card
_NARROW: Final = 512 * MIB  # by which a share misses that leaves no room for a context

_LEAST: Final = 0.2  # of a device, below which a share is no advice
_MOST: Final = 0.6  # of which share on nobody means two engines to be there at once
_DEFAULTS: Final = (0.9, 0.92)  # config/cache.py of 0.6.0 and of 0.20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What was free, what was asked for, and of how much."""

    said: Said
    free: Bounds
    total: Bounds
    budget: Bounds
    share: float

    @property
    def held(self) -> Bounds:
        """By whomever: contexts, the display, others."""
        return self.total - self.free

    @property
    def lacking(self) -> Bounds:
        """What would have to come free."""
        return self.budget - self.free

    @property
    def left(self) -> float:
        """The part that is free."""
        return self.free.likely / self.total.likely

    @property
    def on_host(self) -> bool:
        """The device is the host: vLLM on a CPU."""
        return _OF_THE_HOST in self.said.text

    @property
    def by_size(self) -> bool:
        """No card has this much, only memory that is shared with a host."""
        return not self.on_host and self.total.likely in _SHARED

    @property
    def passing(self) -> float:
        """The largest share with two decimals that passes, with a margin."""
        return max((self.free.low - _MARGIN) * 100 // self.total.high, 0) / 100

    def engine_share(self, *, shared: bool) -> float | None:
        """The share of an engine that would hold just what is held; None where no likely one does."""
        beyond = _BESIDE.high + (_OF_A_HOST if shared else 0)
        for share in (self.share, *_DEFAULTS):
            over = self.held.likely - round(share * self.total.likely)
            if share > _MOST and _BESIDE.low <= over <= beyond:
                return share
        return None

    @property
    def sum(self) -> str:
        """The two differences in words."""
        return (
            f"{self.total.likely} in all − {self.free.likely} free = {self.held.likely} held; "
            f"{self.share:g} × {self.total.likely} = {self.budget.likely} asked for: {self.lacking.likely} too much"
        )


def refused(case: Case) -> Refused | None:
    """The first such refusal of the start-up; None where there is none, or it is cut off before its figures."""
    lines = () if case.observation is None else case.observation.lines
    return next((found for line in lines if line.name == SENTENCE and (found := _read(line)) is not None), None)


def _read(line: Line) -> Refused | None:
    sizes = [line.figures.get(name) for name in ("free", "total", "budget")]
    free, total, budget = (size if isinstance(size, Bounds) and size.likely >= 0 else None for size in sizes)
    share = line.figures.get("share")
    if free is None or total is None or budget is None or not isinstance(share, int | float):
        return None
    if not total.likely or free.likely > total.likely:
        return None
    said = Said(line=line.line, text=line.text, rank=line.rank)
    return Refused(said=said, free=free, total=total, budget=budget, share=float(share))


def shared(case: Case, start: Refused | None = None) -> bool:
    """Whether device and host have one memory between them."""
    if Platform.UNIFIED in case.platform:
        return True
    return start is not None and start.by_size


class Occupied(StrEnum):
    """Whether others are on the device, by what is held of it."""

    BY_NOBODY = "by nobody"
    HARDLY = "hardly"  # what is held is more than usual, and what lacks is a trifle
    PERHAPS = "perhaps"
    SURELY = "surely"


def occupied(case: Case, start: Refused) -> Occupied:
    """By what a process with nothing in it holds on such a platform."""
    if start.held.likely <= _ALONE:
        return Occupied.BY_NOBODY
    if start.held.likely > _room(case):
        return Occupied.SURELY
    return Occupied.HARDLY if start.lacking.likely <= _NARROW else Occupied.PERHAPS


def _room(case: Case) -> int:
    """What may be held where nobody is."""
    if Platform.WSL2 in case.platform:
        return _WINDOWS
    return _CONNECTED if case.flags.count("tensor_parallel_size") > 1 else _ALONE + GIB // 2


def smaller_share(start: Refused) -> tuple[Remedy, ...]:
    """What passes with what is free now, and what it costs; nothing where that is too little for any model."""
    if start.passing < _LEAST:
        return ()
    lost = Bytes(max(start.budget.likely - round(start.passing * start.total.likely), 0))
    remedy = Remedy(
        change={"gpu_memory_utilization": start.passing},
        lever="gpu_memory_utilization_down",
        price=f"the pool has {lost.up} less than was asked for",
    )
    return (remedy,)
