"""How long prompts, or answers, are: half of them, nearly all of them, the longest.

Knows samples and histograms, and rounds towards safety: a length is never below what was seen. Does not know where the
lengths come from.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite
from typing import Final, Self

from oomph.ledger.histogram import Histogram

HALF: Final = 0.50
NEARLY_ALL: Final = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Tokens of prompts or of answers."""

    p50: int  # half are no longer
    p99: int  # nearly all are no longer
    most: int | None = None  # none was longer; None where nobody knows
    count: int | None = None  # of how many requests
    samples: tuple[int, ...] = ()  # in the order in which they came, where they were counted one by one
    basis: str  # where this comes from, in words

    def __post_init__(self) -> None:
        longest = self.p99 if self.most is None else self.most
        if not 0 <= self.p50 <= self.p99 <= longest:
            message = f"lengths must not fall: p50 {self.p50}, p99 {self.p99}, most {self.most}"
            raise ValueError(message)

    @classmethod
    def given(cls, p99: int, *, p50: int | None = None, basis: str = "as given") -> Self:
        """From a number that somebody states; half of them as long as nearly all, unless that is stated too."""
        return cls(p50=p99 if p50 is None else p50, p99=p99, basis=basis)

    @classmethod
    def counted(
        cls, samples: Iterable[int], *, basis: str, count: int | None = None, most: int | None = None
    ) -> Self | None:
        """From lengths one by one; `count` and `most` where these are a part of more. None without any."""
        kept = tuple(samples)
        if not kept:
            return None
        ranked = sorted(kept)
        return cls(
            p50=ranked[_rank(HALF, len(kept))],
            p99=ranked[_rank(NEARLY_ALL, len(kept))],
            most=max(ranked[-1], most or 0),
            count=len(kept) if count is None else count,
            samples=kept,
            basis=basis,
        )

    @classmethod
    def bucketed(cls, histogram: Histogram, *, basis: str, at_most: int | None = None) -> Self | None:
        """From buckets, by their upper edges: never too short, and long by a bucket at the most.

        Lengths above the last edge are only bounded by `at_most`, what the engine accepts; without it they are known to
        be longer than that edge, and `most` is not known. None without any length.
        """
        if not histogram.count or len(histogram.edges) == 1:
            return None
        middle, nearly, most = (_edge(histogram, share, at_most) for share in (HALF, NEARLY_ALL, 1.0))
        last = floor(histogram.edges[-2])
        p50 = last + 1 if middle is None else middle
        p99 = last + 1 if nearly is None else nearly
        return cls(p50=p50, p99=max(p50, p99), most=most, count=histogram.count, basis=basis)


def _rank(share: float, count: int) -> int:
    """Of the smallest of which that share is no longer, among so many in order, from 0."""
    return max(0, ceil(share * count) - 1)


def _edge(histogram: Histogram, share: float, at_most: int | None) -> int | None:
    edge = histogram.quantile(share)
    if edge is None or not isfinite(edge):
        return at_most
    return floor(edge) if at_most is None else min(floor(edge), at_most)
