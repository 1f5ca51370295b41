"""Lengths of single requests from what is known of all of them: the same ones every time.

Counted lengths are taken as they came, spread over all that were counted. Of others only the middle and the end are
known: between them lies what a logarithmic normal distribution says, spread evenly instead of at random. Does not know
what takes how long.
"""

from collections.abc import Iterator
from itertools import islice
from math import exp, log
from statistics import NormalDist
from typing import Final

from oomph.fit.workload import Workload
from oomph.ledger.lengths import Lengths

_END: Final = NormalDist().inv_cdf(0.99)
_STEPS: Final = (0.6180339887498949, 0.7548776662466927)  # irrational, so that no two requests are alike


def lengths_of(workload: Workload, count: int) -> list[tuple[int, int]]:
    """Prompts and answers of so many requests; every prompt holds what all begin with."""
    prompts, answers = drawn(workload.prompt, count, which=0), drawn(workload.answer, count, which=1)
    return [(max(1, prompt, workload.prefix), max(1, answer)) for prompt, answer in zip(prompts, answers, strict=True)]


def drawn(lengths: Lengths, count: int, *, which: int) -> list[int]:
    """So many lengths; `which`: prompts and answers that were not counted are spread in different orders."""
    if samples := lengths.samples:
        return [samples[place * len(samples) // count % len(samples)] for place in range(count)]
    return list(islice(_spread(lengths, _STEPS[which]), count))


def _spread(lengths: Lengths, step: float) -> Iterator[int]:
    middle, end = max(lengths.p50, 1), max(lengths.p99, 1)
    width = log(end / middle) / _END
    curve = NormalDist(mu=log(middle), sigma=width) if width else None
    place = 0.5
    while True:
        yield end if curve is None else min(end, max(1, round(exp(curve.inv_cdf(place)))))
        place = (place + step) % 1.0 or 0.5
