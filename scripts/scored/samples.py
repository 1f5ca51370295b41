"""Records as samples for a calibration: what they measured, beside what the formulas give for them.

Knows which figures of a record may speak: those that depend on nothing that it leaves open. What a log says of its
sampler is used here, where it explains a measured peak; a forecast is not told. Does not know how points are taken.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from oomph.engines.vllm.measured.calibrate import Sample, calibrate
from oomph.engines.vllm.measured.calibration import Calibration
from oomph.engines.vllm.shapes import shapes
from oomph.errors import OomphError
from oomph.ledger.same import Same
from oomph.units import Bounds
from scored.asking import Asked, asked
from scored.components import Component, hidden
from scored.records import Record

_SAMPLERS: Final = {"flashinfer": "1", "pytorch-native": "0"}


def calibrated(some: Iterable[Record]) -> Calibration:
    """From these records alone."""
    return calibrate(samples(some))


def samples(some: Iterable[Record]) -> Iterator[Sample]:
    """Of those that are of published vLLM and can speak."""
    for record in some:
        found = _sample(Same(record)) if record.stock else None
        if found is not None:
            yield found


@lru_cache(maxsize=1024)
def _sample(same: Same[Record]) -> Sample | None:
    """What one record says; None where it determines nothing that a formula needs."""
    record = same.it
    question = asked(record)
    if question is None or hidden(record, Component.ACTIVATION) or question.flags.count("pipeline_parallel_size") > 1:
        return None
    try:
        start = _as_sampled(record, question).start(second_runner=question.kept().second_runner)
        found = shapes(start)
    except OomphError:
        return None
    measured = record.measured
    return Sample(
        shapes=found,
        peak=_likely(measured.activation),
        outside=_likely(measured.non_torch),
        graphs=_likely(measured.graph_actual),
        estimate=_likely(measured.graph_estimate),
        rest=_rest(record, start.settings.number("gpu_memory_utilization")),
    )


def _as_sampled(record: Record, question: Asked) -> Asked:
    used = _SAMPLERS.get(record.remarks.get("sampler", ""))
    return question if used is None else question.but(question.flags.but(VLLM_USE_FLASHINFER_SAMPLER=used))


def _likely(size: Bounds | None) -> int | None:
    return None if size is None else int(size.likely)


def _rest(record: Record, share: float) -> int | None:
    """What of the budget is neither weights nor pool."""
    weights, pool = record.measured.weights, record.measured.available
    if weights is None or pool is None or hidden(record, Component.TOLD):
        return None
    return round(record.devices[0].total * share) - int(weights.likely) - int(pool.likely)
