"""One rank of a start-up: its device, its weights, what it holds besides, and what is left for its pool.

Knows the sums. Does not know verdicts: `gates` asks the questions.
"""

import math
from dataclasses import dataclass

from oomph.engines.history import Release
from oomph.engines.vllm import facts
from oomph.engines.vllm.counting import counted
from oomph.engines.vllm.footprint import Footprint
from oomph.ledger.device import Device
from oomph.ledger.ledger import Entry
from oomph.units import Bounds, Bytes, together


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
    given: Bytes | None  # for the pool, where the user says how much

    @property
    def pool(self) -> Bounds:
        """What is left for the pool; below 0 where nothing is."""
        return Bounds(self.budget) - self.taken if self.given is None else Bounds(self.given)

    def beside_pool(self, momentary: Bounds) -> Bounds:
        """Everything on the device once there are a pool and graphs, and this for a moment.

        A pool is what the rest leaves over: the more the rest takes, the less the pool. So the sum is the budget, with
        what is missing from it, and without what was counted and is gone by then.
        """
        parts = self.parts
        if self.given is not None:
            fixed = (self.before, self.resident, Bounds(self.given))
            return together(*fixed, parts.graphs, parts.workspaces, momentary)
        charged = parts.estimate if parts.charged and parts.estimate is not None else Bounds(0)
        gone = [getattr(momentary, end) - getattr(parts.peak, end) for end in ("low", "likely", "high")]
        moment = Bounds(min(gone), max(gone), gone[1])
        later = (parts.graphs, parts.workspaces)
        return together(self.before, Bounds(self.budget), self.missed, *later, Bounds(0) - charged, moment)

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
    given: Bytes | None,
) -> Rank:
    """One rank, with its sums."""
    free = free_at_start(device, parts.before)
    found = counted(parts, weights.size, device=device, free=free, release=release)
    charged = parts.estimate if parts.charged and parts.estimate is not None else Bounds(0)
    return Rank(
        device=device,
        place=place,
        share=share,
        budget=budget(device, share=share, release=release),
        free=free,
        room=Bounds(device.total) if device.free is None else device.free,
        before=parts.before if device.free is None else Bounds(0),
        weights=weights,
        loading=loading,
        parts=parts,
        taken=together(found.taken, charged, parts.unforeseen),
        missed=found.missed,
        resident=together(weights.size, parts.buffers, parts.outside, parts.fragments),
        given=given,
    )


def budget(device: Device, *, share: float, release: Release) -> Bytes:
    """What the engine may use of a device."""
    return Bytes(math.ceil(facts.requested.at(release)(total=device.total, share=share)))


def free_at_start(device: Device, before: Bounds) -> Bounds:
    """What the engine finds free: as it was seen, else all but what is there before it looks."""
    return Bounds(device.total) - before if device.free is None else device.free
