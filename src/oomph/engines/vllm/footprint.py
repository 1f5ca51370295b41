"""What one rank holds besides its weights and its pool, and when: the parts that no table gives to the byte.

Knows how a formula and a measured factor make a part. Does not know verdicts: `gates` asks.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from oomph.engines.vllm.facts import Sampler
from oomph.engines.vllm.measured.calibration import Calibration, Spread
from oomph.engines.vllm.shapes import Shapes
from oomph.ledger.same import Same
from oomph.units import MIB, Bounds, largest, together

_NOTHING: Final = Bounds(0)
FIRST_GRAPH: Final = 100 * MIB  # seen where only two or three sizes were captured


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """The parts, each for one rank."""

    before: Bounds  # there before the engine looks: the driver's, and in newer releases what ranks take to talk
    buffers: Bounds  # the runner's own, made before the weights and kept
    sampling: Bounds  # the most that choosing the next tokens holds for a moment
    peak: Bounds  # of the profile run: of a step, of choosing tokens, or of a tower
    outside: Bounds  # growth outside PyTorch
    fragments: Bounds  # held by the allocator, unused
    graphs: Bounds  # as captured
    estimate: Bounds | None  # of the graphs, as the engine makes it; None where it makes none
    charged: bool  # whether the estimate is taken off the budget
    unforeseen: Bounds  # what the count may be off by for reasons that no part has
    workspaces: Bounds  # taken when first needed, after the budget was made
    serving: Bounds  # the most that a step of the worst requests holds for a moment
    counts_words: bool = False  # the runner keeps a count for every word of every sequence
    unfolds: bool = False  # a long prefill unfolds keys and values, more of them for longer requests


def footprint(shapes: Shapes, measured: Calibration) -> Footprint:
    """What a start-up of these shapes will hold."""
    return _footprint(shapes, Same(measured))


@lru_cache(maxsize=1024)
def _footprint(shapes: Shapes, calibration: Same[Calibration]) -> Footprint:
    measured = calibration.it
    forward = largest(measured.forward * shapes.layer, Bounds(shapes.unfolded))
    sampling = per_word(shapes, measured) * shapes.words + shapes.hidden
    tower = measured.picture * shapes.tower + shapes.seen
    connections = measured.connections * 1 if shapes.several else _NOTHING
    talking = measured.talking * 1 if shapes.several else _NOTHING
    before = measured.context * 1
    tuned = measured.recurrent * 1 if shapes.recurrent and not shapes.unified else _NOTHING
    outside = together((measured.unified if shapes.unified else measured.outside) * 1, talking, tuned)
    graphs = measured.graph * shapes.captured + FIRST_GRAPH if shapes.captured else _NOTHING
    return Footprint(
        before=together(before, connections) if shapes.connected else before,
        buffers=Bounds(shapes.buffers),
        sampling=sampling,
        peak=largest(forward, sampling, tower),
        outside=outside if shapes.connected else together(outside, connections),
        fragments=measured.fragments * 1,
        graphs=graphs,
        estimate=measured.estimate * graphs.likely if shapes.estimated else None,
        charged=shapes.charged,
        unforeseen=measured.unforeseen * shapes.total,
        workspaces=measured.workspaces * 1,
        serving=largest(forward + shapes.states, sampling, tower),
        counts_words=shapes.second_runner,
        unfolds=shapes.unfolded > 0,
    )


def per_word(shapes: Shapes, measured: Calibration) -> Spread:
    """Bytes that choosing a token takes for every word of the vocabulary."""
    if shapes.second_runner:
        return measured.second
    match shapes.sampler:
        case Sampler.SORTS:
            return measured.sorted
        case Sampler.SELECTS:
            return measured.selected
        case Sampler.DEPENDS:
            return Spread(measured.selected.low, measured.sorted.likely, measured.sorted.high)
