"""Forecasts of one start-up with something changed, and what they say of its gates.

Knows how two forecasts are compared gate by gate. Does not know which changes are worth a trial.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from oomph.engines.vllm.levers.startup import Change, Startup
from oomph.errors import UsageError
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.ledger.rest import Rest

ORDER: Final = tuple(Step)
SEVERITY: Final = {Verdict.FITS: 0, Verdict.UNSURE: 1, Verdict.OVERFLOWS: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A change with which the failed gate passes."""

    change: Change
    prices: Mapping[str, str]  # of each part of the change
    forecast: Forecast

    @property
    def rest(self) -> Rest:
        """How good the worst of all gates is with it."""
        return Rest.of_all(self.forecast.gates)

    @property
    def enough(self) -> bool:
        """Whether nothing else is likely to fail."""
        return self.rest is not Rest.ANYTHING

    @property
    def left(self) -> int:
        """How many gates are in the way."""
        return sum(Rest.of(gate) is Rest.ANYTHING for gate in self.forecast.gates)

    @property
    def worst(self) -> Gate | None:
        """The gate that is next in the way."""
        return next((gate for gate in self.forecast.gates if Rest.of(gate) is self.rest), None)


class Trials:
    """Each forecast is made once."""

    __slots__ = ("_made", "now", "startup")

    def __init__(self, startup: Startup, now: Forecast) -> None:
        self.startup, self.now = startup, now
        self._made: dict[frozenset[tuple[str, object]], Forecast | None] = {}

    def of(self, change: Change) -> Forecast | None:
        """With this changed; None where such a start-up is refused before it begins."""
        key = frozenset(change.items())
        if key not in self._made:
            self._made[key] = self._forecast(change)
        return self._made[key]

    def _forecast(self, change: Change) -> Forecast | None:
        try:
            return self.startup.but(change).forecast()
        except UsageError:
            return None

    def __len__(self) -> int:
        return len(self._made)


def at(forecast: Forecast, step: Step) -> Gate | None:
    """The gate of a step; None where it is not met, or not forecast."""
    return next((gate for gate in forecast.gates if gate.step is step), None)


def acting(forecast: Forecast, step: Step) -> Step:
    """The gate whose levers act at a step: one that looks into the pool is moved by what moves the pool."""
    gate = at(forecast, step)
    return Step.ONE_REQUEST if gate is not None and gate.has == forecast.pool else step


def verdict(forecast: Forecast, step: Step) -> Verdict:
    """Of one step: a gate that is skipped is passed, one that is not forecast is not."""
    if (gate := at(forecast, step)) is not None:
        return gate.verdict
    return Verdict.FITS if step in forecast.skipped else Verdict.UNSURE


def passes(forecast: Forecast, step: Step, *, least: Rest = Rest.SURE) -> bool:
    """Surely, or as far as is asked."""
    gate = at(forecast, step)
    return step in forecast.skipped if gate is None else Rest.of(gate) >= least


def no_worse(after: Forecast, before: Forecast, steps: Iterable[Step]) -> bool:
    """Whether none of these got a worse verdict."""
    return all(SEVERITY[verdict(after, step)] <= SEVERITY[verdict(before, step)] for step in steps)


def earlier(step: Step) -> tuple[Step, ...]:
    """What is met before."""
    return ORDER[: ORDER.index(step)]


def later(step: Step) -> tuple[Step, ...]:
    """What is met afterwards."""
    return ORDER[ORDER.index(step) + 1 :]
