"""A record's start-up as we forecast it, in the figures that a start-up prints.

Knows how to ask the forecast about a record. Does not know how well anything fits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from oomph.engines.vllm import kv
from oomph.engines.vllm.footprint import Footprint, footprint
from oomph.engines.vllm.forecast import forecast
from oomph.engines.vllm.measured.calibration import Calibration
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.shapes import shapes
from oomph.errors import OomphError
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Verdict
from oomph.ledger.kv import KvPool
from oomph.ledger.ledger import Account, Basis, Entry
from oomph.ledger.settings import Flags
from oomph.units import Bounds, Bytes
from scored.asking import Asked, asked
from scored.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What the planner makes of the measured pool: at the least and at the most that it may have been."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What we say that a start-up prints; None where we say nothing."""

    weights: Bounds | None = None
    activation: Bounds | None = None
    non_torch: Bounds | None = None
    graph_estimate: Bounds | None = None
    graph_actual: Bounds | None = None
    pool: Bounds | None = None
    need: Bytes | None = None  # of one request
    tokens: Tokens | None = None  # or blocks, where no tokens were printed
    gates: tuple[Gate, ...] = ()
    verdict: Verdict | None = None
    gate: Gate | None = None  # that stops it, or may
    refused: str | None = None  # why nothing is said


def forecast_of(record: Record, calibration: Calibration, *, told: bool = False) -> Foreseen:
    """The forecast of one record; `told`: with its weights as they were measured."""
    question = asked(record)
    if question is None:
        return Foreseen(refused="no config of the model is at hand")
    try:
        found = forecast(
            question.flags,
            model=_told(record, question.model) if told else question.model,
            devices=question.devices,
            release=question.release,
            usage=question.usage,
            calibration=calibration,
        )
        parts, tokens = _parts(question, found, calibration), _tokens(record, question)
    except OomphError as refusal:
        return Foreseen(refused=str(refusal))
    return Foreseen(
        weights=found.ledger.of(Account.WEIGHTS),
        activation=parts.peak,
        non_torch=parts.outside,
        graph_estimate=parts.estimate,
        graph_actual=parts.graphs,
        pool=found.pool,
        need=None if found.kv is None else found.kv.need,
        tokens=tokens,
        gates=found.gates,
        verdict=found.verdict,
        gate=found.stopped_at,
    )


def told_of(record: Record, calibration: Calibration) -> Foreseen:
    """The same, told the weights."""
    return forecast_of(record, calibration, told=True)


def _told(record: Record, model: Model) -> Model:
    weights = record.measured.weights
    if weights is None:
        return model
    entry = Entry(account=Account.WEIGHTS, size=weights, basis=Basis.OBSERVED, because="as the start-up printed it")
    return replace(model, weights=entry)


def _parts(question: Asked, found: Forecast, calibration: Calibration) -> Footprint:
    """What the deciding rank holds besides weights and pool."""
    tensor, pipeline = (question.flags.count(f"{kind}_parallel_size") for kind in ("tensor", "pipeline"))
    stage = found.rank // tensor % pipeline
    return footprint(shapes(question.start(stage=stage, second_runner=question.kept().second_runner)), calibration)


def _tokens(record: Record, question: Asked) -> Tokens | None:
    """By the planner, from the pool as it was printed; a printed block tells which format the cache has."""
    if record.measured.available is None or record.measured.available.low <= 0:
        return None
    printed = record.measured.block_tokens
    for flags in _formats(record):
        planned = tuple(_planned(record.measured.available, question.but(flags)))
        counts = [pool.blocks if record.measured.tokens is None else pool.tokens for pool in planned]
        known = [count for count in counts if count is not None]
        if known and printed in {None, planned[0].block_tokens}:
            return Tokens(low=min(known), high=max(known))
    return None


def _formats(record: Record) -> Iterator[Flags]:
    yield record.command
    if "kv_cache_dtype" not in record.command and record.measured.block_tokens is not None:
        yield record.command.but(kv_cache_dtype="fp8")


def _planned(available: Bounds, question: Asked) -> Iterator[KvPool]:
    kept, stages = question.kept(), question.flags.count("pipeline_parallel_size")
    for size in (available.low, available.high):
        pool = kv.pool(kept, question.release, available=(size,) * stages)
        if isinstance(pool, KvPool):
            yield pool
