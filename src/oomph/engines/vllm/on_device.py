"""What is on the device at each gate, whoever put it there: the ledgers that a picture is drawn from.

Knows which parts are there together. Does not know what a gate asks.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

from oomph.engines.vllm.rank import Rank
from oomph.ledger.device import Device
from oomph.ledger.ledger import Account, Basis, Entry, Ledger
from oomph.ledger.same import Same
from oomph.units import Bounds

Part: TypeAlias = tuple[Account, Bounds, str]


def steady(rank: Rank) -> Ledger:
    """What is on the device once it serves."""
    worst = (Account.ACTIVATIONS, rank.parts.serving, "the worst step, for a moment")
    return held(rank, *up(rank), worst)


def driver(device: Device, before: Bounds) -> Iterator[Entry]:
    """What is there before the engine looks."""
    yield Entry(
        account=Account.DRIVER,
        size=before,
        basis=Basis.CALIBRATED,
        because="a CUDA context, the handles of its libraries, and what ranks take to talk to each other",
    )
    if device.free is not None:
        others = Bounds(device.total) - device.free - before
        if others.high > 0:
            held = Bounds(max(0, others.low), others.high, max(0, others.likely))
            yield Entry(account=Account.FOREIGN, size=held, basis=Basis.OBSERVED, because="not free when looked at")


def held(rank: Rank, *parts: Part) -> Ledger:
    """What is there before, the weights, what stays with them, and these."""
    more = tuple(
        Entry(account=account, size=size, basis=Basis.CALIBRATED, because=why)
        for account, size, why in parts
        if size.high
    )
    return Ledger((*_base(Same(rank)), *more))


@lru_cache(maxsize=4)
def _base(rank: Same[Rank]) -> tuple[Entry, ...]:
    """What is on the device at every gate after loading."""
    parts = rank.it.parts
    stays = parts.buffers + parts.fragments
    return (
        *driver(rank.it.device, parts.before),
        Entry(account=Account.DRIVER, size=parts.outside, basis=Basis.CALIBRATED, because="outside PyTorch"),
        rank.it.weights,
        Entry(account=Account.ACTIVATIONS, size=stays, basis=Basis.CALIBRATED, because="the runner's buffers, kept"),
    )


def loading(rank: Rank) -> Ledger:
    """What is there while weights are loaded: nothing has run yet, so nothing is outside or in fragments."""
    more = (
        (rank.parts.buffers, "the runner's buffers, kept"),
        (rank.loading, "copies while loading, for a moment"),
    )
    entries = (
        Entry(account=Account.ACTIVATIONS, size=size, basis=Basis.CALIBRATED, because=why)
        for size, why in more
        if size.high
    )
    return Ledger((*driver(rank.device, rank.parts.before), rank.weights, *entries))


def used(rank: Rank) -> Part:
    """Workspaces that kernels take when they are first used."""
    return Account.ACTIVATIONS, rank.parts.workspaces, "workspaces of kernels, taken when they are first used"


def up(rank: Rank) -> tuple[Part, ...]:
    """What is there once the engine is up."""
    return pooled(rank), used(rank), captured(rank)


def pooled(rank: Rank) -> Part:
    """The pool."""
    return Account.KV_POOL, rank.pool, "keys, values and states"


def captured(rank: Rank) -> Part:
    """The graphs."""
    return Account.GRAPHS, rank.parts.graphs, "as captured"
