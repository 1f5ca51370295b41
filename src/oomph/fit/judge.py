"""Whether a setting holds the workload: its forecast passes every gate, and its pool holds every user.

Knows that a larger share takes room after the pool is made and gives it to the pool, so that the shares that pass lie
side by side. Does not know which setting is the best.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from oomph.engines.vllm.kv import kind
from oomph.engines.vllm.levers.startup import Startup
from oomph.errors import UsageError
from oomph.fit.choice import Places
from oomph.fit.floor import floor
from oomph.fit.given import caches_beginnings, with_pool
from oomph.fit.held import held
from oomph.fit.space import Space
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step
from oomph.ledger.rest import Rest

SHARE: Final = "gpu_memory_utilization"
_AFTER: Final = frozenset({Step.START_CHECK, Step.CAPTURE, Step.WARM_UP, Step.SERVING})
_WITHIN: Final = frozenset({Step.POOL_SIZE, Step.ONE_REQUEST})


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A start-up, its forecast, and the requests that one replica holds at once."""

    startup: Startup
    forecast: Forecast
    held: int
    wanted: int  # users of one replica
    risk: Rest
    slow: bool = False  # even at the memory's full speed a step takes longer than is wished

    @property
    def passes(self) -> bool:
        """Every gate, and every user, in time."""
        return self.starts and self.held >= self.wanted and not self.slow

    @property
    def starts(self) -> bool:
        """Every gate; one that is not forecast is not passed."""
        return not self.forecast.not_forecast and Rest.of_all(self.forecast.gates) >= self.risk

    @property
    def users(self) -> int:
        """Held at once, by all replicas."""
        return self.held * self.startup.flags.count("data_parallel_size")

    @property
    def within(self) -> bool:
        """What a larger share makes better: the pool."""
        return self.held >= self.wanted and all(map(self._good, filter(self._of_pool, self.forecast.gates)))

    @property
    def after(self) -> bool:
        """What a smaller share makes better: what is beside the pool."""
        gates = (gate for gate in self.forecast.gates if gate.step in _AFTER and not self._of_pool(gate))
        return all(map(self._good, gates))

    @property
    def almost(self) -> bool:
        """The same, but for the worst step."""
        gates = (gate for gate in self.forecast.gates if gate.step in _AFTER and gate.step is not Step.SERVING)
        return all(self._good(gate) or self._of_pool(gate) for gate in gates)

    @property
    def apart(self) -> bool:
        """What no share changes."""
        gates = (gate for gate in self.forecast.gates if gate.step not in _AFTER | _WITHIN)
        return not self.slow and not self.forecast.not_forecast and all(map(self._good, gates))

    def _good(self, gate: Gate) -> bool:
        return Rest.of(gate) >= self.risk

    def _of_pool(self, gate: Gate) -> bool:
        """A gate that looks into the pool; with a given pool none moves with the share."""
        return gate.step in _WITHIN or gate.has == self.forecast.pool


_Ask = Callable[[float], Judged | None]


class Judge:
    """Judges the settings of one space; each forecast is made once."""

    __slots__ = ("_asks", "_made", "forecasts", "risk", "space")

    def __init__(self, space: Space, *, risk: Rest = Rest.SURE) -> None:
        self.space, self.risk, self.forecasts = space, risk, 0
        self._made: dict[tuple[int, ...], Judged | None] = {}
        self._asks: dict[tuple[int, ...], _Ask | None] = {}

    def of(self, places: Places) -> Judged | None:
        """The setting with the share that passes and is nearest to the usual one; None where none passes."""
        key = self._key(places)
        if key not in self._made:
            self._made[key] = self._nearest(places, "after")
        return self._made[key]

    def nearly(self, places: Places) -> bool:
        """Whether the worst step alone is in the way, and more sequences may clear it: of a model that keeps states.

        Copies of states come on top of a step after the pool is made. Where choosing tokens takes more than a step,
        they have room in that; with fewer sequences they have none.
        """
        model = self.space.startup.model
        recurrent = model is not None and kind(model.geometry).recurrent
        return recurrent and self._nearest(places, "almost") is not None

    def _key(self, places: Places) -> tuple[int, ...]:
        return tuple(places[choice.lever] for choice in self.space.choices)

    def _nearest(self, places: Places, side: str) -> Judged | None:
        """The share nearest to the usual one with which the pool is enough, and this side of the gates passes."""
        ask, shares, usual = self._asked(places), self.space.shares, self.space.share
        now = None if ask is None else ask(usual)
        if ask is None or now is None or not now.apart:
            return None
        if now.within == _side(now, side):
            return now if now.within else None
        if now.within:
            return _first([share for share in reversed(shares) if share < usual], ask, side, "within")
        return _first([share for share in shares if share > usual], ask, "within", side)

    def _asked(self, places: Places) -> "_Ask | None":
        """What is said of each share; None where the setting is refused before it begins."""
        key = self._key(places)
        if key not in self._asks:
            start = self._startup(places)
            self._asks[key] = None if start is None else self._of_shares(start)
        return self._asks[key]

    def _startup(self, places: Places) -> Startup | None:
        """None where it is refused before it begins; a given pool is as large as the workload needs it."""
        given = any(option.given_pool for option in self.space.options(places))
        try:
            start = self.space.at(places)
            return with_pool(start, self.space.workload, users=self.space.users_of(start)) if given else start
        except UsageError:
            return None

    def _of_shares(self, start: Startup) -> "_Ask":
        made: dict[float, Judged | None] = {}

        def ask(share: float) -> Judged | None:
            if share not in made:
                made[share] = self._judged(start if share == self.space.share else start.but({SHARE: share}))
            return made[share]

        return ask

    def _judged(self, start: Startup) -> Judged | None:
        self.forecasts += 1
        try:
            found = start.forecast()
        except UsageError:
            return None
        workload, wanted = self.space.workload, self.space.users_of(start)
        return Judged(
            startup=start,
            forecast=found,
            held=held(found, workload, shares=caches_beginnings(start), risk=self.risk),
            wanted=wanted,
            risk=self.risk,
            slow=_slow(floor(found, workload, users=wanted), workload.step),
        )


def _first(shares: Sequence[float], ask: _Ask, side: str, other: str) -> Judged | None:
    """The nearest share with which this side passes; if the other side fails there, it fails further on too."""
    index = bisect_left(shares, True, key=lambda share: _side(ask(share), side))  # noqa: FBT003 - what is searched for
    found = ask(shares[index]) if index < len(shares) else None
    return found if found is not None and found.apart and _side(found, other) else None  # another rank may decide here


def _side(judged: Judged | None, side: str) -> bool:
    return judged is not None and bool(getattr(judged, side))


def _slow(least: float | None, wish: float | None) -> bool:
    """Whether a wish lies below what is possible; what nobody knows is not held against a setting."""
    return least is not None and wish is not None and least > wish
