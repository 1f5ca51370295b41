"""Which figures of a start-up are scored, and what a record must determine for each.

Knows the measured and the foreseen side of every component. Does not know sums over records.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from oomph.units import Bounds
from scored.figures import Point
from scored.foreseen import Foreseen
from scored.opened import Open
from scored.records import Record


class Component(StrEnum):
    """A figure that is both printed and foreseen."""

    WEIGHTS = "weights"
    ACTIVATION = "activation peak"
    NON_TORCH = "outside PyTorch"
    ESTIMATE = "graphs, as the engine estimates them"
    GRAPHS = "graphs, as captured"
    POOL = "pool"
    TOLD = "pool, told the weights"
    TOKENS = "tokens, from the measured pool"
    NEED = "one request"


_ENGINE: Final = {Open.RELEASE, Open.OLD, Open.RANKS}
_STEP: Final = {Open.SEQUENCES, Open.STEP, Open.LENGTH, Open.CUT, Open.GPU}
_WEIGHTS: Final = {Open.STORED, Open.ADAPTERS}
_SHAPE: Final = {Open.CONFIG, Open.SPECULATION}

# What may not be open for a figure to be scored; the format of the cache does not move how many bytes it gets.
NEEDS: Final[Mapping[Component, frozenset[Open]]] = {
    Component.WEIGHTS: frozenset({Open.RANKS} | _SHAPE | _WEIGHTS),
    Component.ACTIVATION: frozenset(_ENGINE | _STEP | _SHAPE),
    Component.NON_TORCH: frozenset(_ENGINE | {Open.GPU, Open.SHARED, Open.CONFIG}),
    Component.ESTIMATE: frozenset(_ENGINE | _STEP | _SHAPE),
    Component.GRAPHS: frozenset(_ENGINE | _STEP | _SHAPE),
    Component.POOL: frozenset(set(Open) - {Open.FORMAT}),
    Component.TOLD: frozenset(set(Open) - {Open.FORMAT} - _WEIGHTS),
    Component.TOKENS: frozenset(_ENGINE | _SHAPE | {Open.LENGTH, Open.FORMAT, Open.CUT}),
    Component.NEED: frozenset(_ENGINE | _SHAPE | {Open.LENGTH, Open.FORMAT, Open.CUT}),
}


def hidden(record: Record, component: Component) -> frozenset[Open]:
    """What the record leaves open of what this figure needs; a printed block tells the format of the cache."""
    told = {Open.FORMAT} if record.measured.block_tokens is not None and Open.CUT not in record.open else set()
    return NEEDS[component] & set(record.open) - told


def point(record: Record, component: Component, foreseen: Foreseen) -> Point | None:
    """Both sides of one figure; None where one is missing."""
    measured = _measured(record, component)
    ours = _count(measured, foreseen) if component is Component.TOKENS else _size(component, foreseen)
    if measured is None or ours is None:
        return None
    device = int(record.devices[0].total) if record.devices else None
    return Point(id=record.id, measured=measured, foreseen=ours, device=device)


def _measured(record: Record, component: Component) -> Bounds | None:
    found = record.measured
    count = found.tokens if found.tokens is not None else found.blocks
    sizes = {
        Component.WEIGHTS: found.weights,
        Component.ACTIVATION: found.activation,
        Component.NON_TORCH: found.non_torch,
        Component.ESTIMATE: found.graph_estimate,
        Component.GRAPHS: found.graph_actual,
        Component.POOL: found.available,
        Component.TOLD: found.available if found.weights is not None else None,
        Component.TOKENS: None if count is None else Bounds(count),
        Component.NEED: found.needed,
    }
    return sizes[component]


def _count(measured: Bounds | None, found: Foreseen) -> Bounds | None:
    """As many as the rounded pool may hold; where that includes the printed number, it is as likely as any."""
    if measured is None or found.tokens is None:
        return None
    low, high = found.tokens.low, found.tokens.high
    return Bounds(low, high, max(low, min(measured.likely, high)))


def _size(component: Component, found: Foreseen) -> Bounds | None:
    sizes = {
        Component.WEIGHTS: found.weights,
        Component.ACTIVATION: found.activation,
        Component.NON_TORCH: found.non_torch,
        Component.ESTIMATE: found.graph_estimate,
        Component.GRAPHS: found.graph_actual,
        Component.POOL: found.pool,
        Component.TOLD: found.pool,
        Component.NEED: None if found.need is None else Bounds(found.need),
    }
    return sizes[component]
