"""A pool that has no room, or less than one request needs: the figures, and what follows from them.

Knows how the engine says that nothing is left for the pool, in words, in figures below nothing, and in a traceback that
ends where the pool is sized. Does not know why nothing is left: several causes share the sentence, and rules tell them
apart.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Said
from oomph.diagnose.grounds.serving import ENGINE, share
from oomph.ledger.observation import Quantity
from oomph.units import GIB, Bounds, Bytes

NO_ROOM: Final = re.compile(r"No available memory for the cache blocks|Cannot auto-fit max_model_len")
TRACEBACK: Final = "Traceback"  # the kind of a failure of which only frames are left
_SIZING: Final = "_initialize_kv_caches"  # v1/engine/core.py, engine/llm_engine.py
_APART: Final = (
    2 * GIB
)  # between ranks that divide a model evenly; less is where the first one has a little more to hold


@dataclass(frozen=True, kw_only=True)
class NoRoom:
    """What is known of a pool for which nothing is left; None where it was not said."""

    said: Said
    cut: bool  # the log ends before it says so
    pools: Mapping[str, Bounds]  # by rank
    share: float | None
    total: Bounds | None
    budget: Bounds | None
    weights: Bounds | None
    activations: Bounds | None
    beside: Bounds | None  # outside of PyTorch
    shown: tuple[Said, ...] = ()  # the lines that say what each rank has for its pool

    @cached_property
    def spent(self) -> Bounds | None:
        """Weights, activations and what is outside of PyTorch, where all of them were said."""
        if self.weights is None or self.activations is None:
            return None
        return self.weights + self.activations + (self.beside or Bounds(0))

    @property
    def pool(self) -> Bounds | None:
        """Of the poorest rank."""
        return min(self.pools.values(), key=lambda pool: pool.likely, default=None)

    @property
    def uneven(self) -> bool:
        """One rank has room and another has none."""
        likely = [pool.likely for pool in self.pools.values()]
        return len(likely) > 1 and min(likely) <= 0 < max(likely) and max(likely) - min(likely) >= _APART

    @property
    def filled(self) -> float | None:
        """The part of the budget that the weights alone take."""
        if self.weights is None or self.budget is None or self.budget.likely <= 0:
            return None
        return self.weights.likely / self.budget.likely

    @property
    def sums(self) -> tuple[str, ...]:
        """The budget, and what is taken from it."""
        if self.budget is None:
            return self._missed
        of = "" if self.total is None or self.share is None else f"{self.share:g} × {self.total.likely} = "
        if self.weights is None or self.activations is None:
            return (f"{of}{self.budget.likely} are the budget",)
        beside = "" if self.beside is None else f" − {self.beside.likely} outside of PyTorch"
        left = self.budget - (self.spent or Bounds(0))
        taken = f"{self.weights.likely} of weights − {self.activations.likely} of activations{beside}"
        return (f"{of}{self.budget.likely} − {taken} = {left.likely}",)

    @property
    def _missed(self) -> tuple[str, ...]:
        """Without the size of the device: what is known to be taken, and by how much all of it is above the share."""
        if self.weights is None or self.pool is None or self.pool.likely > 0:
            return ()
        of = "the share" if self.share is None else f"{self.share:g} of the device"
        over = Bytes(-self.pool.likely)
        return (f"{self.weights.likely} of weights and what comes beside them are {over} above {of}",)


def no_room(case: Case) -> NoRoom | None:
    """What the case says of such a pool; None where it has one, or does not come that far."""
    pools = {} if case.observation is None else dict(_pools(case))
    said = case.spoken("no pool") or case.line(NO_ROOM) or _figure(case) or _cut(case)
    if said is None or case.served or case.engine not in ENGINE:
        return None
    total = case.size(Quantity.TOTAL) or (Bounds(case.devices[0].total) if case.devices else None)
    asked = share(case)
    budget = case.size(Quantity.BUDGET)
    if budget is None and total is not None and asked is not None:
        budget = Bounds(round(total.low * asked), round(total.high * asked))
    return NoRoom(
        said=said,
        cut=said == _cut(case),
        pools=pools,
        share=asked,
        total=total,
        budget=budget,
        weights=case.size(Quantity.WEIGHTS),
        activations=case.size(Quantity.ACTIVATIONS),
        beside=case.size(Quantity.NON_TORCH),
        shown=tuple(_shown(case)),
    )


def _pools(case: Case) -> list[tuple[str, Bounds]]:
    readings = () if case.observation is None else case.observation.readings(Quantity.POOL)
    return [(rank, reading.value) for rank, reading in readings if isinstance(reading.value, Bounds)]


def _shown(case: Case) -> Iterator[Said]:
    for rank, reading in () if case.observation is None else case.observation.readings(Quantity.POOL):
        yield Said(line=reading.line, text=reading.text, rank=rank)


def _figure(case: Case) -> Said | None:
    """A pool below nothing, or without a block."""
    readings = () if case.observation is None else case.observation.readings(Quantity.POOL)
    for rank, reading in readings:
        if isinstance(reading.value, Bounds) and reading.value.likely <= 0:
            return Said(line=reading.line, text=reading.text, rank=rank)
    return case.spoken("blocks") if case.number(Quantity.BLOCKS) == 0 else None


def _cut(case: Case) -> Said | None:
    """A traceback of which no more is left than that it led to the sizing, by an engine that said nothing else."""
    if case.observation is not None and case.observation.lines:
        return None
    frames = () if case.failure is None or case.failure.kind != TRACEBACK else case.failure.frames
    return case.failure.said if case.failure is not None and frames and frames[-1].function == _SIZING else None
