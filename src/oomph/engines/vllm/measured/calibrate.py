"""Records of real start-ups → a calibration.

Knows which part of a record speaks of which quantity, and how three points are taken from what several say. Does not
know any record, nor how well a calibration does: `scripts/score` judges that on records it was not made from.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Final

from oomph.engines.vllm.facts import Sampler
from oomph.engines.vllm.footprint import FIRST_GRAPH, footprint, per_word
from oomph.engines.vllm.measured.calibration import Calibration, Spread
from oomph.engines.vllm.measured.prior import PRIOR
from oomph.engines.vllm.shapes import Shapes

_LOW: Final = 0.05
_HIGH: Final = 0.95
_CLEARLY: Final = 1.3  # times larger than what else may have been the peak


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What one start-up measured, in bytes, beside what the formulas give for it."""

    shapes: Shapes
    peak: int | None = None
    outside: int | None = None
    graphs: int | None = None
    estimate: int | None = None
    rest: int | None = None  # budget without weights and pool


def calibrate(samples: Iterable[Sample], prior: Calibration = PRIOR) -> Calibration:
    """Three points for every quantity: of the records that speak of it, and of what is believed without them."""
    said: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        for name, value in _says(sample, prior):
            said[name].append(value)
    return Calibration(**{each.name: _spread(said[each.name], getattr(prior, each.name)) for each in fields(prior)})


def _spread(said: list[float], believed: Spread) -> Spread:
    if not said:
        return believed
    points = sorted([*said, believed.low, believed.likely, believed.high])
    return Spread(_quantile(points, _LOW), _quantile(points, 0.5), _quantile(points, _HIGH))


def _quantile(points: list[float], share: float) -> float:
    """Between neighbours, in proportion."""
    place = share * (len(points) - 1)
    below = math.floor(place)
    above = min(below + 1, len(points) - 1)
    return points[below] + (points[above] - points[below]) * (place - below)


def _says(sample: Sample, prior: Calibration) -> Iterator[tuple[str, float]]:
    shapes = sample.shapes
    if sample.graphs is not None and sample.graphs > 0 and shapes.captured:  # below 0: others let go meanwhile
        yield "graph", max(0, sample.graphs - FIRST_GRAPH) / shapes.captured
    if sample.estimate is not None and sample.graphs:
        yield "estimate", sample.estimate / (prior.graph.likely * shapes.captured + FIRST_GRAPH)
    if sample.outside is not None and sample.outside >= 0 and not shapes.unified and not shapes.several:
        yield "outside", sample.outside
    peak = sample.peak if sample.peak is not None else _peak(sample, prior)
    if peak is not None:
        yield from _of_peak(peak, shapes, prior)
    if sample.rest is not None and shapes.unified:
        likely = footprint(shapes, prior)
        yield "unified", max(0, sample.rest - likely.peak.likely - (sample.estimate or 0 if shapes.charged else 0))


def _peak(sample: Sample, prior: Calibration) -> int | None:
    """What is left of the rest once the other parts are off; not where those are large or unknown."""
    shapes = sample.shapes
    if sample.rest is None or shapes.unified or shapes.several:
        return None
    if shapes.charged and shapes.estimated and sample.estimate is None:
        return None
    outside = prior.outside.likely if sample.outside is None else sample.outside
    return round(sample.rest - outside - (sample.estimate or 0 if shapes.charged else 0))


def _of_peak(peak: int, shapes: Shapes, prior: Calibration) -> Iterator[tuple[str, float]]:
    """The factor of what was clearly the largest; nothing where two may have been."""
    of = {
        "forward": prior.forward.likely * shapes.layer,
        _sampler(shapes): per_word(shapes, prior).likely * shapes.words + shapes.hidden,
        "picture": prior.picture.likely * shapes.tower + shapes.seen,
        "": float(shapes.unfolded),
    }
    first, second = sorted(of, key=lambda name: of[name], reverse=True)[:2]
    if not first or of[first] < _CLEARLY * of[second]:
        return
    if first == "forward":
        yield first, peak / shapes.layer
    elif first == "picture":
        yield first, (peak - shapes.seen) / shapes.tower
    else:
        yield first, (peak - shapes.hidden) / shapes.words


def _sampler(shapes: Shapes) -> str:
    if shapes.second_runner:
        return "second"
    return "selected" if shapes.sampler is Sampler.SELECTS else "sorted"
