"""The forecast beside the figures of a log: what agrees, what was on the device when it ran out, what is in no account.

Knows which printed figure is which computed one, and for which cause a gap between them speaks. Where nothing is
computed, what was seen is put into accounts alone. Does not know any rule.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.trials import at
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Step
from oomph.ledger.ledger import Account, Basis, Entry, Ledger
from oomph.ledger.observation import Quantity
from oomph.units import GIB, Bounds, Bytes

MUCH: Final = 2 * GIB  # outside of PyTorch: more than a context and its libraries take
_HEAVIER: Final = 1.05  # than computed: more than rounding and padding make of it
_POOLED: Final = frozenset(
    {Phase.GRAPH_CAPTURE, Phase.WARM_UP, Phase.SERVING_PREFILL, Phase.SERVING_DECODE, Phase.IDLE_GROWTH}
)
_LATE: Final = _POOLED | {Phase.KV_ALLOC}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One figure of the log, and what is computed of the same thing."""

    what: str
    seen: Bounds
    line: int
    computed: Bounds | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether the two may be the same size; None where nothing is computed."""
        if self.computed is None:
            return None
        return self.seen.low <= self.computed.high and self.computed.low <= self.seen.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """What the two say together."""

    compared: tuple[Compared, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)  # when it ran out, with what is unaccounted; empty where unknown
    speaks: Mapping[str, str] = field(default_factory=dict)  # cause → what speaks for it
    contradicted: tuple[Compared, ...] = ()  # that differ although the forecast was told what the log says

    @property
    def unaccounted(self) -> Bounds | None:
        """On the device and in no account."""
        return self.ledger.of(Account.UNACCOUNTED)


def reconcile(case: Case) -> Reconciled:
    """All of it; empty where the log has no figures."""
    alone = None if case.startup is None else replace(case.startup, observed=None).forecast()
    compared = tuple(_compared(case, alone))
    ledger = _ledger(case, alone)
    return Reconciled(
        compared=compared,
        ledger=ledger,
        speaks=dict(_speaks(case, compared, ledger)),
        contradicted=tuple(each for each in _compared(case, case.forecast) if each.agrees is False),
    )


def _compared(case: Case, alone: Forecast | None) -> Iterator[Compared]:
    computed = {} if alone is None else dict(_computed(alone))
    observation = case.observation
    for what, quantity in _FIGURES.items():
        reading = None if observation is None else observation.reading(quantity)
        other = quantity is Quantity.TRIED and case.phase is not Phase.GRAPH_PROFILE
        if reading is not None and isinstance(reading.value, Bounds) and not other:
            yield Compared(what=what, seen=reading.value, line=reading.line, computed=computed.get(what))


_FIGURES: Final[Mapping[str, Quantity]] = {
    "weights": Quantity.WEIGHTS,
    "activations": Quantity.ACTIVATIONS,
    "graphs": Quantity.GRAPHS,
    "kv pool": Quantity.POOL,
    "one request": Quantity.NEEDED,
    "tensor of the throw-away pool": Quantity.TRIED,
}


def _computed(alone: Forecast) -> Iterator[tuple[str, Bounds]]:
    profile = at(alone, Step.PROFILE)
    sizes = {
        "weights": alone.ledger.of(Account.WEIGHTS),
        "activations": None if profile is None else profile.ledger.of(Account.ACTIVATIONS),
        "graphs": alone.ledger.of(Account.GRAPHS),
        "kv pool": alone.pool,
        "one request": None if alone.kv is None or alone.kv.need is None else Bounds(alone.kv.need),
        "tensor of the throw-away pool": None if alone.graph_profile is None else Bounds(alone.graph_profile.tensor),
    }
    yield from ((what, size) for what, size in sizes.items() if size is not None)


def _ledger(case: Case, alone: Forecast | None) -> Ledger:
    """What was on the device when PyTorch ran out, by its own account; nothing where it gave none."""
    total, free = case.size(Quantity.DEVICE_TOTAL), case.size(Quantity.DEVICE_FREE)
    if total is None or free is None:
        return Ledger()
    outside = tuple(_outside(case, alone))
    return Ledger((*_inside(case, Ledger(outside)), *outside)).balanced(total - free)


def _inside(case: Case, outside: Ledger) -> Iterator[Entry]:
    """PyTorch's part: weights, a pool where there is one, and the rest of what it allocated or keeps."""
    weights = _weights(case)
    if weights is not None:
        yield weights
    allocated, unused = _allocated(case, outside), case.size(Quantity.RESERVED)
    pool = _pool(case, weights, allocated)
    if pool is not None:
        yield pool
    if allocated is not None and weights is not None:
        spoken = weights.size + (pool.size if pool is not None else 0)
        pooled = pool is None and case.phase in _POOLED
        rest = "the pool, graphs and the rest" if pooled else "the rest"
        account = Account.KV_POOL if pooled else Account.ACTIVATIONS
        yield _seen(account, _no_less(allocated - spoken), f"{rest} of what PyTorch had allocated")
    if unused is not None and unused.high > 0:
        yield _seen(Account.ACTIVATIONS, unused, "kept by PyTorch's allocator, unused")


def _allocated(case: Case, outside: Ledger) -> Bounds | None:
    """By PyTorch; where it does not say so, what the process has in use, less what is usually outside."""
    said, in_use, driver = case.size(Quantity.ALLOCATED), case.size(Quantity.IN_USE), outside.of(Account.DRIVER)
    if said is not None or in_use is None or driver is None:
        return said
    return _no_less(in_use - driver)


def _weights(case: Case) -> Entry | None:
    seen = case.size(Quantity.WEIGHTS)
    if seen is not None:
        return _seen(Account.WEIGHTS, seen, "as the engine says it loaded")
    found = None if case.forecast is None or case.phase is Phase.LOAD else case.forecast.ledger
    return next((entry for entry in found or () if entry.account is Account.WEIGHTS), None)


def _pool(case: Case, weights: Entry | None, allocated: Bounds | None) -> Entry | None:
    """The pool, or as much of the throw-away one as was there when its next tensor failed."""
    pool = case.size(Quantity.POOL) or case.size(Quantity.POOL_GIVEN)
    if case.phase in _POOLED and pool is not None:
        return _seen(Account.KV_POOL, pool, "as the engine sized it")
    profile = None if case.forecast is None else case.forecast.graph_profile
    tried = case.size(Quantity.TRIED)
    if case.phase is not Phase.GRAPH_PROFILE or profile is None or tried is None or int(profile.tensor) not in tried:
        return None
    if allocated is None or weights is None:
        return None
    held = max(0, allocated.likely - weights.size.likely) // int(profile.tensor)
    return Entry(
        account=Account.KV_POOL,
        size=Bounds(held * int(profile.tensor)),
        basis=Basis.COMPUTED,
        because=f"{held} of the {profile.tensors} tensors of the graph profile's throw-away pool",
    )


def _outside(case: Case, alone: Forecast | None) -> Iterator[Entry]:
    """What is not PyTorch's: as a context and its libraries should take, where that is known, and other processes."""
    outside, foreign = case.size(Quantity.OUTSIDE), case.size(Quantity.FOREIGN)
    gate = None if alone is None else at(alone, Step.LOAD)
    usual = None if gate is None else gate.ledger.of(Account.DRIVER)
    if usual is not None and (outside is None or usual.likely < outside.low):
        seen = "" if outside is None else f"; {outside.likely} are outside PyTorch"
        yield Entry(
            account=Account.DRIVER,
            size=Bounds(usual.likely),
            basis=Basis.CALIBRATED,
            because=f"a context and its libraries as they usually are{seen}",
        )
    elif outside is not None:
        yield _seen(Account.DRIVER, outside, "in this process, outside PyTorch")
    if foreign is not None:
        yield _seen(Account.FOREIGN, foreign, "held by other processes")


def _seen(account: Account, size: Bounds, because: str) -> Entry:
    return Entry(account=account, size=size, basis=Basis.OBSERVED, because=because)


def _no_less(size: Bounds) -> Bounds:
    """A remainder is never below nothing, whatever rounding makes of it."""
    return Bounds(*(max(0, end) for end in (size.low, size.high, size.likely)))


def _speaks(case: Case, compared: tuple[Compared, ...], ledger: Ledger) -> Iterator[tuple[str, str]]:
    """For which causes the gaps speak."""
    open_ = ledger.of(Account.UNACCOUNTED)
    outside = case.size(Quantity.OUTSIDE)
    much = max((each.low for each in (open_, outside) if each is not None), default=0)
    if case.phase in _LATE and much > MUCH:
        words = f"{Bytes(much)} or more are outside PyTorch, where a context and its libraries take far less"
        yield "cudagraph_driver_or_nccl_overhead", words
    for each in compared:
        if each.what == "weights" and each.computed is not None and each.seen.low > _HEAVIER * each.computed.high:
            words = f"{each.seen.likely} were loaded, and {each.computed.likely} are computed for one rank"
            yield "weights_replicated_per_rank", words
            yield "load_quant_or_repack_peak", words
