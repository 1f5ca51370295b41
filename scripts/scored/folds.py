"""Forecasts of all records, none of which the calibration has seen.

Knows that records of one source are not independent: the calibration for a record is made without all records of its
source. Does not know how a calibration is made.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from oomph.engines.vllm.measured.calibration import Calibration
from scored.foreseen import Foreseen
from scored.records import Record

Forecasting = Callable[[Record, Calibration], Foreseen]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A record and what we said of it: from the record alone, and told its weights."""

    record: Record
    alone: Foreseen
    told: Foreseen


def rows(
    records: Iterable[Record],
    *,
    calibrate: Callable[[tuple[Record, ...]], Calibration],
    forecast_of: Forecasting,
    told_of: Forecasting,
) -> tuple[Row, ...]:
    """Leave one source out at a time."""
    every = tuple(records)
    made = {
        source: calibrate(tuple(record for record in every if record.source != source))
        for source in dict.fromkeys(record.source for record in every)
    }
    return tuple(
        Row(
            record=record,
            alone=forecast_of(record, made[record.source]),
            told=told_of(record, made[record.source]),
        )
        for record in every
    )
