"""Requests counted while they are read: exact lengths, a fair few of them as they came, and how many at once.

Bounded: whatever the number of requests, so many distinct lengths, so many kept requests, so many that are under way.
The same requests give the same answer. Does not know how they are written.
"""

from collections import Counter
from heapq import heappop, heappush
from itertools import accumulate
from math import ceil
from random import Random
from typing import Final

from oomph.ledger.histogram import Histogram
from oomph.ledger.lengths import HALF, NEARLY_ALL, Lengths
from oomph.ledger.scrape import Scrape
from oomph.ledger.traffic import Traffic
from oomph.readers.trace_line import Request

_KEPT: Final = 4096  # requests
_DISTINCT: Final = 65_536  # lengths; beyond that they are rounded up
_UNDER_WAY: Final = 1 << 20  # requests at once; beyond that nobody is told how many
_NAMED: Final = 10  # refused lines
_TOLERATED: Final = 0.01


class Counted:
    """What was read so far."""

    def __init__(self) -> None:
        self.count = 0
        self.refused: list[str] = []
        self.refused_count = 0
        self._prompts, self._answers = _Tally(), _Tally()
        self._kept: list[tuple[int, Request]] = []
        self._dice = Random(0)  # noqa: S311 - a fair choice, the same every time; no secret
        self._first: float | None = None
        self._last: float | None = None
        self._ends: list[float] | None = []  # of those under way; None once it cannot be told
        self._peak = 0

    def add(self, request: Request) -> None:
        """Count one request."""
        self._keep(request)
        self.count += 1
        self._prompts.add(request.prompt)
        self._answers.add(request.answer)
        self._follow(request)

    def refuse(self, why: str) -> None:
        """Count one line that says no lengths."""
        self.refused_count += 1
        if len(self.refused) < _NAMED:
            self.refused.append(why)

    @property
    def too_many_refused(self) -> bool:
        """More than one in a hundred."""
        return self.refused_count > _TOLERATED * (self.count + self.refused_count)

    def traffic(self, source: str) -> Traffic:
        """What they all make."""
        basis = f"{self.count:,} requests of {source}"
        kept = [request for _, request in sorted(self._kept, key=lambda entry: entry[0])]
        at_once = self._peak if self._ends is not None and self._first is not None else None
        return Traffic(
            prompt=self._prompts.lengths(tuple(each.prompt for each in kept), basis),
            answer=self._answers.lengths(tuple(each.answer for each in kept), basis),
            at_once=at_once,
            at_once_basis=None if at_once is None else "the peak of the trace, by when each request began and ended",
            per_second=self._rate(),
            source=source,
            refused=tuple(self.refused),
            refused_count=self.refused_count,
        )

    def _keep(self, request: Request) -> None:
        """Each request is among those kept with the same chance (reservoir sampling)."""
        if len(self._kept) < _KEPT:
            self._kept.append((self.count, request))
        elif (place := self._dice.randrange(self.count + 1)) < _KEPT:
            self._kept[place] = (self.count, request)

    def _follow(self, request: Request) -> None:
        """How many are under way when this one begins; told only of a trace that is in order and says how long."""
        if request.at is None:
            self._ends = None
            return
        in_order = self._last is None or request.at >= self._last
        self._first = request.at if self._first is None else min(self._first, request.at)
        self._last = request.at if self._last is None else max(self._last, request.at)
        if self._ends is None or request.lasted is None or not in_order or len(self._ends) >= _UNDER_WAY:
            self._ends = None
            return
        while self._ends and self._ends[0] <= request.at:
            heappop(self._ends)
        heappush(self._ends, request.at + request.lasted)
        self._peak = max(self._peak, len(self._ends))

    def _rate(self) -> float | None:
        if self._first is None or self._last is None or self._last <= self._first:
            return None
        return (self.count - 1) / (self._last - self._first)


class _Tally:
    """How often each length came; rounded up to ever larger steps where there are too many to keep."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._step = 1
        self._most = 0

    def add(self, length: int) -> None:
        self._most = max(self._most, length)
        self._counts[-(-length // self._step) * self._step] += 1
        if len(self._counts) > _DISTINCT:
            self._step *= 4
            coarse: Counter[int] = Counter()
            for each, count in self._counts.items():
                coarse[-(-each // self._step) * self._step] += count
            self._counts = coarse

    def lengths(self, samples: tuple[int, ...], basis: str) -> Lengths:
        ranked = sorted(self._counts.items())
        total = self._counts.total()
        sums = list(accumulate(count for _, count in ranked))
        middle, nearly = (
            min(self._most, next(length for (length, _), sum_ in zip(ranked, sums, strict=True) if sum_ >= wanted))
            for wanted in (ceil(HALF * total), ceil(NEARLY_ALL * total))
        )
        return Lengths(p50=middle, p99=nearly, most=self._most, count=total, samples=samples, basis=basis)


def traffic_of(found: tuple[Scrape, ...], *, source: str, at_most: int | None) -> Traffic | str:
    """What engines counted, all behind one address taken together; or why it cannot be told."""
    models = sorted({scrape.model for scrape in found})
    if not found:
        return "no metrics of vLLM are there"
    if len(models) > 1:
        return f"several models are served there ({', '.join(models[:5])}), whose requests cannot be told as one"
    prompts = _together([scrape.prompt_lengths for scrape in found])
    answers = _together([scrape.answer_lengths for scrape in found])
    if prompts is None or answers is None or not prompts.count or not answers.count:
        return "the engine has finished no request yet, so it knows no lengths"
    basis = f"{prompts.count:,} finished requests, by the buckets of {source}: the upper edge of each"
    prompt, answer = (Lengths.bucketed(each, basis=basis, at_most=at_most) for each in (prompts, answers))
    if prompt is None or answer is None:
        return "its histograms of lengths have no edges"
    now = [(scrape.running or 0) + (scrape.waiting or 0) for scrape in found if scrape.running is not None]
    return Traffic(
        prompt=prompt,
        answer=answer,
        at_once=sum(now) or None,
        at_once_basis="running and waiting at the moment of looking; the peak may be higher" if sum(now) else None,
        source=source,
    )


def _together(histograms: list[Histogram | None]) -> Histogram | None:
    """Engines of one model count into the same edges."""
    known = [each for each in histograms if each is not None]
    if not known or len({each.edges for each in known}) > 1:
        return None
    counts = tuple(sum(column) for column in zip(*(each.counts for each in known), strict=True))
    return Histogram(edges=known[0].edges, counts=counts)
