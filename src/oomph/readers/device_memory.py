"""The memory of this machine's devices, asked again and again through NVML.

Knows that NVML may not be here, which is no trouble: then there are no devices; and that a server elsewhere has none of
them. Asks for memory only, so that asking
costs microseconds.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Final
from urllib.parse import urlsplit

from oomph.ledger.memory import Memory
from oomph.ledger.proof import Held
from oomph.readers.nvml import started
from oomph.readers.printable import printable
from oomph.units import Bytes

_MOST: Final = 64  # cards
_HERE: Final = frozenset({"localhost", "::1"})


@contextmanager
def device_memory() -> Iterator[Callable[[], tuple[Memory, ...]]]:
    """What to call for a look, while NVML runs."""
    with started() as nvml:
        if isinstance(nvml, str):
            yield tuple
            return
        cards = list(_cards(nvml))
        yield lambda: tuple(_looks(nvml, cards))


@contextmanager
def memory_beside(url: str) -> Iterator[Callable[[float], tuple[Held, ...]]]:
    """What to call for a look, with the moment of it, while the server at that address is driven."""
    host = urlsplit(url if "://" in url else f"http://{url}").hostname or ""
    if host not in _HERE and not host.startswith("127."):
        yield lambda _: ()
        return
    with device_memory() as look:
        yield lambda at: tuple(Held(at=at, used=each.used, total=each.total) for each in look() if each.total)


def _cards(nvml: ModuleType) -> Iterator[tuple[int, object, str | None]]:
    count = 0
    with suppress(nvml.NVMLError):
        count = nvml.nvmlDeviceGetCount()
    for index in range(min(count, _MOST)):
        with suppress(nvml.NVMLError):
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            name = nvml.nvmlDeviceGetName(handle)
            yield index, handle, printable(name.decode(errors="replace") if isinstance(name, bytes) else str(name))


def _looks(nvml: ModuleType, cards: list[tuple[int, object, str | None]]) -> Iterator[Memory]:
    for index, handle, name in cards:
        with suppress(nvml.NVMLError):
            said = nvml.nvmlDeviceGetMemoryInfo(handle)
            yield Memory(at=time.time(), index=index, name=name, total=Bytes(said.total), used=Bytes(said.used))
