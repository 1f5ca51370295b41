"""The scoreboard: every component and the verdicts, over the records that determine them.

Knows which records count where: those of published vLLM, those of other builds, and those of which only the release is
not stated and was taken to be the newest of their day. Does not know how a page looks.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from oomph.ledger.gate import Step, Verdict
from scored.components import Component, hidden, point
from scored.figures import Point, Score, score
from scored.folds import Row
from scored.foreseen import Foreseen
from scored.opened import Open
from scored.outcomes import ENDED, Ending, Told, Verdicts, ending, starts, verdicts
from scored.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Some records, with all that is scored of them."""

    points: Mapping[Component, tuple[Point, ...]]
    told: tuple[Told, ...]  # the whole way, with the worst step in service
    started: tuple[Told, ...]  # the start-up alone

    def score(self, component: Component) -> Score:
        """Of one component."""
        return score(self.points[component])

    @property
    def verdicts(self) -> Verdicts:
        """Of the whole way."""
        return verdicts(self.told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """All that a page shows."""

    rows: tuple[Row, ...]
    stock: Scope
    altered: Scope
    dated: Scope  # the release is not stated; the newest of the day stands in

    def record(self, name: str) -> Record:
        """By its id."""
        return next(row.record for row in self.rows if row.record.id == name)


def board(rows: Sequence[Row]) -> Board:
    """Sort records into their scopes and score them."""
    stock = [row for row in rows if row.record.stock]
    return Board(
        rows=tuple(rows),
        stock=scope(stock, frozenset()),
        altered=scope([row for row in rows if not row.record.stock], frozenset()),
        dated=scope(stock, frozenset({Open.RELEASE})),
    )


def scope(rows: Iterable[Row], left: frozenset[Open]) -> Scope:
    """Figures of which exactly this is left open."""
    every = tuple(rows)
    points = {
        component: tuple(
            found
            for row in every
            if hidden(row.record, component) == left and (found := point(row.record, component, _of(row, component)))
        )
        for component in Component
    }
    return Scope(
        points=points,
        told=tuple(_told(every, left, ending)),
        started=tuple(_told(every, left, starts)),
    )


def _of(row: Row, component: Component) -> Foreseen:
    return row.told if component is Component.TOLD else row.alone


def _told(rows: Iterable[Row], left: frozenset[Open], ending_of: Callable[[Foreseen], Ending | None]) -> Iterable[Told]:
    for row in rows:
        ended, found = ENDED.get(row.record.outcome), judged(row)
        said = ending_of(found)
        if ended is not None and said is not None and _undetermined(row.record, found) == left:
            step = None if found.gate is None else found.gate.step
            yield Told(id=row.record.id, ended=ended, said=said, step=step)


def judged(row: Row) -> Foreseen:
    """The forecast that a verdict is taken from: told the weights only where the record hides them."""
    return row.told if hidden(row.record, Component.POOL) and row.record.measured.weights is not None else row.alone


def _undetermined(record: Record, found: Foreseen) -> frozenset[Open]:
    """What is open of what the verdict needs; a start check that surely refuses looks at no model."""
    if found.gate is not None and found.gate.step is Step.START_CHECK and found.verdict is Verdict.OVERFLOWS:
        return hidden(record, Component.NON_TORCH) - {Open.CONFIG}
    component = Component.TOLD if record.measured.weights is not None else Component.POOL
    return hidden(record, component) | (frozenset({Open.FORMAT}) & frozenset(record.open) - _block(record))


def _block(record: Record) -> frozenset[Open]:
    return frozenset({Open.FORMAT}) if record.measured.block_tokens is not None else frozenset()


def grouped(points: Sequence[Point], key: Callable[[str], str]) -> dict[str, tuple[Point, ...]]:
    """Points by something of their records, largest group first."""
    found: dict[str, list[Point]] = defaultdict(list)
    for each in points:
        found[key(each.id)].append(each)
    return {name: tuple(every) for name, every in sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))}
