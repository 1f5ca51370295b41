"""Which hardware would start it, where no flag does.

Knows the catalogue's devices by their size. Does not know what they cost, nor who has them.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from oomph.diagnose.search import first
from oomph.diagnose.trials import Tried
from oomph.diagnose.typed import typed
from oomph.engines.vllm.levers.startup import Change, Startup
from oomph.engines.vllm.levers.table import MORE_GPUS
from oomph.errors import UsageError
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Device

_MOST: Final = 8  # GPUs that people have in one machine
_ALONE: Final = frozenset({"gb10", "gb200", "rtx-5090-laptop"})  # machines, not cards that one adds
_CARDS: Final = tuple(card for name, card in CATALOGUE.items() if card.capability is not None and name not in _ALONE)


def larger(startup: Startup, change: Change) -> str:
    """The end of a sentence: the least memory that is enough, with this changed, and otherwise as asked."""
    found = min(_starting(startup.but(change)), key=_memory, default=None)
    if found is None:
        return f", and it does not start as asked on {_MOST} of the largest that are known"
    flags = dict(change)
    if found.flags.get(MORE_GPUS) != startup.flags.get(MORE_GPUS):
        flags[MORE_GPUS] = found.flags.get(MORE_GPUS)
    words = ", with " + " ".join(typed(flag, value) for flag, value in flags.items()) if flags else ""
    return f"; the smallest hardware that starts it as asked is {_named(found.devices)}{words}"


def _starting(startup: Startup) -> Iterator[Startup]:
    """For every number of GPUs, those with the least memory that are likely to start it."""
    for times in (1, 2, 4, 8):
        more = startup.but({MORE_GPUS: times * startup.flags.count(MORE_GPUS)}) if times > 1 else startup
        count = len(more.devices)
        if count > max(_MOST, len(startup.devices)):
            return
        cards = sorted((*_CARDS, startup.devices[-1]), key=lambda card: card.total)
        on_each = [replace(more, devices=(card,) * count) for card in cards]
        yield from first(on_each, _starts, monotone=True) or ()


def _starts(startup: Startup) -> bool:
    try:
        after = startup.forecast()
    except UsageError:  # it cannot be divided so, or the device cannot hold its numbers
        return False
    return Tried(change={}, prices={}, forecast=after).enough


def _memory(startup: Startup) -> tuple[int, int]:
    """All of it, and of those that are alike the fewest devices."""
    return sum(device.total for device in startup.devices), len(startup.devices)


def _named(devices: tuple[Device, ...]) -> str:
    one, count = devices[0], len(devices)
    return f"{one.name}, {one.total}" if count == 1 else f"{count} × {one.name}, {one.total} each"
