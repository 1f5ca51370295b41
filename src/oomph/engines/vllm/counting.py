"""What a release counts as taken when it has profiled, and what it misses.

Knows that a release computes its count from what it measures, so the count is asked for with what it would measure.
Does not know how a release counts: `facts` points at that.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import facts
from oomph.engines.vllm.footprint import Footprint
from oomph.engines.vllm.formulas.budget import Profile
from oomph.ledger.device import Device
from oomph.ledger.same import Same
from oomph.units import Bounds, together

_STAYS: Final = frozenset({"weights", "buffers", "outside", "fragments"})  # after the profile run


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Everything but the pool."""

    taken: Bounds  # as the release counts it
    missed: Bounds  # there, but in no count; below 0 where more is counted than is there


def counted(found: Footprint, weights: Bounds, *, device: Device, free: Bounds, release: Release) -> Counted:
    """Each part's doubt by itself, then all of them together."""
    return _counted(Same(found), weights, int(device.total), free, release)


@lru_cache(maxsize=1024)
def _counted(parts: Same[Footprint], weights: Bounds, total: int, free: Bounds, release: Release) -> Counted:
    found, count = parts.it, facts.non_kv.at(release)
    sizes = {
        "free": free,
        "weights": weights,
        "buffers": found.buffers,
        "peak": found.peak,
        "outside": found.outside,
        "fragments": found.fragments,
    }
    likely = {name: int(size.likely) for name, size in sizes.items()}
    middle = count(_measured(total, **likely))
    stays = sum(likely[name] for name in _STAYS)
    taken, missed = [Bounds(middle)], [Bounds(stays + likely["peak"] - middle)]
    for name, size in sizes.items():
        if not size.exact:
            ends = tuple(int(end) - likely[name] for end in (size.low, size.high))
            moves = tuple(count(_measured(total, **likely | {name: likely[name] + end})) - middle for end in ends)
            there = 1 if name in _STAYS or name == "peak" else 0
            taken.append(_around(*moves))
            missed.append(_around(*(there * end - move for end, move in zip(ends, moves, strict=True))))
    return Counted(taken=together(*taken), missed=together(*missed))


def _around(*moves: int) -> Bounds:
    """How far something may move from where it is likely to be."""
    return Bounds(min(0, *moves), max(0, *moves), 0)


def _measured(total: int, *, free: int, weights: int, buffers: int, peak: int, outside: int, fragments: int) -> Profile:
    """What the engine would measure, if the parts are these."""
    allocated = weights + buffers
    return Profile(
        total=total,
        free_at_start=free,
        free_after=free - outside - allocated - fragments,
        free_at_peak=free - outside - allocated - peak,
        reserved_at_start=0,
        reserved_before=allocated,
        reserved_after=allocated + fragments,
        weights=weights,
        allocated_before=allocated,
        peak=allocated + peak,
        allocated_after=allocated,
    )
