"""One rank of a start-up: its device, its weights, what it holds besides, and what is left for its pool.

Knows the sums. Does not know verdicts: `gates` asks the questions.
"""

from dataclasses import dataclass

from oomph.engines.history import Release
from oomph.engines.vllm.counting import counted
from oomph.engines.vllm.footprint import Footprint
from oomph.engines.vllm.requested import budget
from oomph.ledger.device import Device
from oomph.ledger.ledger import Entry
from oomph.units import Bounds, Bytes, largest, together


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A pool whose size the user says."""

    size: Bytes  # what is allocated
    checked: Bytes | None  # what a request is held against; None: what profiling leaves, whatever is allocated


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """What one rank has, and what it holds."""

    device: Device
    place: int  # among all ranks
    share: float
    budget: Bytes  # what the engine may use
    free: Bounds  # what it finds free when it first looks
    room: Bounds  # of the device: as much as was seen free, else all of it
    before: Bounds  # what is in that room before the engine looks
    weights: Entry
    loading: Bounds  # on top of the weights, for a moment, while they are loaded
    parts: Footprint
    taken: Bounds  # by everything but the pool, as the release counts it, with the graphs where they are charged
    missed: Bounds  # on the device, but in no count
    resident: Bounds  # what stays on the device besides the pool and the graphs, whoever counts it
    given: Given | None  # the pool, where the user says how large it is

    @property
    def left(self) -> Bounds:
        """What profiling leaves for the pool; below 0 where nothing is."""
        return Bounds(self.budget) - self.taken

    @property
    def pool(self) -> Bounds:
        """What is allocated for the pool, never less than nothing."""
        left = self.left if self.given is None else Bounds(self.given.size)
        return Bounds(max(0, left.low), max(0, left.high), max(0, left.likely))

    @property
    def checked(self) -> Bounds:
        """What a request is held against."""
        given = None if self.given is None else self.given.checked
        return self.left if given is None else Bounds(given)

    def beside_pool(self, momentary: Bounds) -> Bounds:
        """Everything on the device once there are a pool and graphs, and this for a moment.

        A pool is what the rest leaves over: the more the rest takes, the less the pool. So the sum is the budget, with
        what is missing from it, and without what was counted and is gone by then.
        """
        parts = self.parts
        without = (self.before, self.resident, parts.graphs, parts.workspaces, momentary)
        if self.given is not None:
            return together(*without, Bounds(self.given.size))
        charged = parts.estimate if parts.charged and parts.estimate is not None else Bounds(0)
        gone = [getattr(momentary, end) - getattr(parts.peak, end) for end in ("low", "likely", "high")]
        moment = Bounds(min(gone), max(gone), gone[1])
        later = (parts.graphs, parts.workspaces)
        with_pool = together(self.before, Bounds(self.budget), self.missed, *later, Bounds(0) - charged, moment)
        return largest(with_pool, together(*without))  # a pool is never smaller than nothing

    def beside_weights(self, *momentary: Bounds) -> Bounds:
        """Everything on the device before there is a pool, and these for a moment."""
        return together(self.before, self.resident, *momentary)


def add_up(
    *,
    device: Device,
    place: int,
    share: float,
    weights: Entry,
    loading: Bounds,
    parts: Footprint,
    release: Release,
    given: Given | None,
) -> Rank:
    """One rank, with its sums."""
    free = free_at_start(device, parts.before)
    found = counted(parts, weights.size, device=device, free=free, release=release)
    charged = parts.estimate if parts.charged and parts.estimate is not None else Bounds(0)
    return Rank(
        device=device,
        place=place,
        share=share,
        budget=budget(device.total, share=share, release=release),
        free=free,
        room=room(device),
        before=parts.before if device.free is None else Bounds(0),
        weights=weights,
        loading=loading,
        parts=parts,
        taken=_at_least(weights.size.low, together(found.taken, charged, parts.unforeseen)),
        missed=found.missed,
        resident=together(weights.size, parts.buffers, parts.outside, parts.fragments),
        given=given,
    )


def room(device: Device) -> Bounds:
    """What allocations can have: what was seen free, else all of it, but never more than there really is."""
    told = Bounds(device.total) if device.free is None else device.free
    if device.really is None:
        return told
    return Bounds(min(told.low, device.really), min(told.high, device.really), min(told.likely, device.really))


def free_at_start(device: Device, before: Bounds) -> Bounds:
    """What the engine finds free: as it was seen, else all but what is there before it looks."""
    return Bounds(device.total) - before if device.free is None else device.free


def _at_least(least: int, size: Bounds) -> Bounds:
    """Weights are taken whatever else is not."""
    return Bounds(max(least, size.low), max(least, size.high), max(least, size.likely))
