"""A histogram as an engine counts it: how many were at most each edge.

Knows how a quantile is bounded by buckets. Does not know what is counted, nor how it is written on a page.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, inf
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Counts that grow from edge to edge; the last edge is infinite, and its count is that of all."""

    edges: tuple[float, ...]  # upper, each with its own value in it
    counts: tuple[int, ...]  # at most that edge
    total: float | None = None  # the sum of all values

    def __post_init__(self) -> None:
        rising = all(low < high for low, high in zip(self.edges, self.edges[1:], strict=False))
        growing = all(few <= many for few, many in zip(self.counts, self.counts[1:], strict=False))
        whole = len(self.edges) == len(self.counts) and self.edges[-1:] == (inf,) and min(self.counts) >= 0
        if not (rising and growing and whole):
            message = f"no histogram: edges {self.edges}, counts {self.counts}"
            raise ValueError(message)

    @classmethod
    def of(cls, buckets: Iterable[tuple[float, int]], *, total: float | None = None) -> Self:
        """From pairs of edge and count, in any order."""
        pairs = sorted(buckets)
        return cls(edges=tuple(edge for edge, _ in pairs), counts=tuple(count for _, count in pairs), total=total)

    @property
    def count(self) -> int:
        """Of all values."""
        return self.counts[-1]

    @property
    def mean(self) -> float | None:
        """Of all values; None where there are none, or their sum is not known."""
        return None if self.total is None or not self.count else self.total / self.count

    @property
    def most(self) -> float | None:
        """An edge that no value is above; infinite where some are above the last edge; None without values."""
        return self.quantile(1.0)

    def quantile(self, share: float) -> float | None:
        """The upper edge of the bucket it is in, so that it is surely no more; None without values."""
        if not self.count:
            return None
        wanted = max(1, ceil(share * self.count))
        return self.edges[bisect_left(self.counts, wanted)]

    def since(self, before: Self) -> Self | None:
        """What was counted after an earlier look; None where the two do not belong together."""
        if before.edges != self.edges:
            return None
        counts = tuple(now - then for now, then in zip(self.counts, before.counts, strict=True))
        growing = all(few <= many for few, many in zip((0, *counts), counts, strict=False))
        if not growing:
            return None
        known = self.total is not None and before.total is not None
        return type(self)(
            edges=self.edges,
            counts=counts,
            total=(self.total or 0.0) - (before.total or 0.0) if known else None,
        )
