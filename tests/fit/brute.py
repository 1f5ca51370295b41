"""The slow way to the same answer: every setting of a space, with every share, one forecast each."""

from itertools import product

from oomph.engines.vllm.levers.startup import Startup
from oomph.errors import UsageError
from oomph.fit.choice import Lever
from oomph.fit.given import caches_beginnings, with_pool
from oomph.fit.held import held
from oomph.fit.search import Order
from oomph.fit.space import Space
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Verdict
from oomph.ledger.rest import Rest

Rank = tuple[int, ...]
Way = tuple[int, ...]


class Brute:
    """Tries everything; each start-up is forecast once."""

    def __init__(self, space: Space, risk: Rest) -> None:
        self.space, self.risk = space, risk
        self._seen: dict[tuple[object, ...], tuple[Startup, Forecast] | None] = {}
        self.passing: dict[tuple[int, ...], float] = {}  # by place: the nearest share that passes
        for places in product(*(range(len(choice.options)) for choice in space.choices)):
            shares = sorted(space.shares, key=lambda share: abs(share - space.share))
            share = next((share for share in shares if self.passes(places, share)), None)
            if share is not None:
                self.passing[places] = share

    def best_of_each_way(self, levers: Order) -> dict[Way, tuple[Rank, float]]:
        """Of every combination of unordered levers: the least rank that passes, and its share."""
        found: dict[Way, tuple[Rank, float]] = {}
        names = [choice.lever for choice in self.space.choices]
        for places, share in self.passing.items():
            by_lever = dict(zip(names, places, strict=True))
            way = tuple(by_lever[choice.lever] for choice in self.space.choices if not choice.ordered)
            ranked = (rank(by_lever, levers), share)
            found[way] = min(found.get(way, ranked), ranked)
        return found

    def passes(self, places: tuple[int, ...], share: float) -> bool:
        """Every gate, and every user."""
        made = self.made(places, share)
        if made is None:
            return False
        start, forecast = made
        wanted = -(-self.space.workload.users // start.flags.count("data_parallel_size"))
        holds = held(forecast, self.space.workload, shares=caches_beginnings(start), risk=self.risk) >= wanted
        return holds and good(forecast, self.risk)

    def made(self, places: tuple[int, ...], share: float) -> tuple[Startup, Forecast] | None:
        """The start-up and its forecast; None where it is refused."""
        names = [choice.lever for choice in self.space.choices]
        by_lever = dict(zip(names, places, strict=True))
        try:
            start = self.space.at(by_lever)
        except UsageError:
            return None
        start = start if share == self.space.share else start.but({"gpu_memory_utilization": share})
        given = any(option.given_pool for option in self.space.options(by_lever))
        key = (*sorted(start.flags.items(), key=str), id(start.model), given)
        if key not in self._seen:
            self._seen[key] = self._forecast(start, given=given)
        return self._seen[key]

    def _forecast(self, start: Startup, *, given: bool) -> tuple[Startup, Forecast] | None:
        try:
            users = -(-self.space.workload.users // start.flags.count("data_parallel_size"))
            start = with_pool(start, self.space.workload, users=users) if given else start
            return start, start.forecast()
        except UsageError:
            return None


def good(forecast: Forecast, risk: Rest) -> bool:
    """Whether every gate is passed, as surely as that."""
    if forecast.not_forecast:
        return False
    if risk is Rest.SURE:
        return forecast.verdict is Verdict.FITS
    return all(
        gate.verdict is Verdict.FITS or (gate.verdict is Verdict.UNSURE and gate.spare.likely >= 0)
        for gate in forecast.gates
    )


def rank(places: dict[Lever, int], levers: Order) -> Rank:
    """The least is the best."""
    return tuple(places[lever] for lever in levers)
