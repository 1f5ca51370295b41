from collections.abc import Callable
from dataclasses import replace

import pytest

from oomph.engines.vllm.measured.calibration import Calibration
from oomph.engines.vllm.measured.shipped import SHIPPED
from scored.components import Component, hidden
from scored.folds import rows
from scored.foreseen import Foreseen, forecast_of
from scored.opened import Open
from scored.records import Record, record
from scored.samples import calibrated, samples

Read = Callable[[str], Record]


def start_up(name: str, source: str) -> Record:
    return record({"id": name, "source_url": source, "model": "m", "outcome": "served"})


def test_no_calibration_has_seen_the_source_that_it_is_tried_on() -> None:
    every = [start_up(str(place), f"https://github.com/o/r{place % 3}/issues/1") for place in range(7)]
    seen: dict[int, frozenset[str]] = {}

    def calibrate(some: tuple[Record, ...]) -> Calibration:
        made = replace(SHIPPED)
        seen[id(made)] = frozenset(each.source for each in some)
        kept.append(made)
        return made

    def forecast(each: Record, calibration: Calibration) -> Foreseen:
        assert each.source not in seen[id(calibration)]
        assert len(seen[id(calibration)]) == 2
        return Foreseen(refused="tried")

    kept: list[Calibration] = []
    found = rows(every, calibrate=calibrate, forecast_of=forecast, told_of=forecast)

    assert [row.record.id for row in found] == [str(place) for place in range(7)]
    assert len(kept) == 3


def test_a_calibration_is_made_of_the_records_that_it_is_given(corpus: tuple[Record, ...]) -> None:
    altered = [each for each in corpus if not each.stock]

    assert len(list(samples(corpus))) >= 20
    assert not list(samples(altered))  # a patched engine does not speak for the published one
    assert calibrated(corpus) != calibrated(altered)


def test_tokens_come_from_the_pool_as_it_was_printed(read: Read) -> None:
    found = forecast_of(read("s0082"), SHIPPED).tokens

    assert found is not None
    assert found.low == found.high == 973_760  # its pool is known to the byte


def test_a_figure_that_needs_what_is_open_is_not_scored(read: Read) -> None:
    found = read("s0133")

    assert hidden(found, Component.WEIGHTS) == {Open.STORED}
    assert hidden(found, Component.TOLD) == set()
    assert hidden(found, Component.TOKENS) == set()  # its printed block tells the format
    assert hidden(read("s0006"), Component.POOL) == {Open.RELEASE, Open.GPU}


def test_being_told_the_weights_moves_only_what_depends_on_them(read: Read) -> None:
    known = read("s0166")
    alone, told = forecast_of(known, SHIPPED), forecast_of(known, SHIPPED, told=True)

    assert told.weights == known.measured.weights
    assert told.activation == alone.activation
    assert alone.pool is not None
    assert told.pool is not None
    assert abs(alone.pool.likely - told.pool.likely) == pytest.approx(0, abs=0.06 * (1 << 30))
