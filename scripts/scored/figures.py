"""The arithmetic of a score: how far off, how often inside, how wide.

Knows numbers only. Does not know what they are about.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from oomph.units import GIB, Bounds

NEAR: Final = 0.005  # of what was measured: nobody's decision hangs on less


def quantile(values: Iterable[float], share: float) -> float | None:
    """The least value that so large a share of all does not exceed; None where there are none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def median(values: Iterable[float]) -> float | None:
    """The middle one; the mean of the two in the middle of an even number."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if not ordered:
        return None
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def share(those: int, all_: int) -> float | None:
    """Which part of all; None of none."""
    return those / all_ if all_ else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One figure that was measured and foreseen."""

    id: str
    measured: Bounds  # as it may have been before it was rounded
    foreseen: Bounds
    device: int | None = None  # bytes of the device, where they are known

    @property
    def off(self) -> int:
        """How far the likely value lies from all that the measured one may have been; below 0: too low."""
        likely = self.foreseen.likely
        return likely - max(self.measured.low, min(likely, self.measured.high))

    @property
    def error(self) -> float:
        """That, as a share of what was measured."""
        return self.off / max(abs(self.measured.likely), 1)

    @property
    def inside(self) -> bool:
        """Whether the bounds hold what was measured, whatever it was before rounding."""
        return self.foreseen.low <= self.measured.high and self.measured.low <= self.foreseen.high

    @property
    def width(self) -> float | None:
        """How far apart the bounds are, as a share of the device."""
        return None if self.device is None else self.foreseen.doubt / self.device


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What points come to; None where there are none."""

    count: int
    median: float | None  # of the absolute errors, as shares
    p90: float | None
    median_gib: float | None  # likewise in GiB
    p90_gib: float | None
    inside: float | None  # share of points within their bounds
    width: float | None  # median of the widths
    exact: float | None  # share of points that are off by nothing
    near: float | None  # share of points that are off by next to nothing


def score(points: Sequence[Point]) -> Score:
    """All figures over these points."""
    errors = [abs(point.error) for point in points]
    sizes = [abs(point.off) / GIB for point in points]
    return Score(
        count=len(points),
        median=median(errors),
        p90=quantile(errors, 0.9),
        median_gib=median(sizes),
        p90_gib=quantile(sizes, 0.9),
        inside=share(sum(point.inside for point in points), len(points)),
        width=median(point.width for point in points if point.width is not None),
        exact=share(sum(point.off == 0 for point in points), len(points)),
        near=share(sum(abs(point.error) <= NEAR for point in points), len(points)),
    )
