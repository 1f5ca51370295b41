"""How much memory each source says that a device has: the card's library, the driver, a clamp, a slice, the host.

Knows how HAMi and MPS write their limits. Does not know whom an engine believes: that is the engine's own business.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from oomph.ledger.probe import Host, Maker, Probe
from oomph.ledger.visible import Place
from oomph.units import GIB, KIB, MIB, Bytes

HAMI: Final = "CUDA_DEVICE_MEMORY_LIMIT"  # and with _0, _1, … for one device
MPS: Final = "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"  # without a daemon it limits nothing
_LARGEST: Final = 1 << 50  # bytes; a limit above this limits nothing
_SIZE: Final = re.compile(r"\s*(?P<number>[0-9]{1,15})\s*(?P<unit>[kKmMgG]?)(?:i?[bB])?\s*")
_UNITS: Final = {"": 1, "k": KIB, "m": MIB, "g": GIB}
_APART: Final = 0.01  # of the larger: what a driver keeps for itself is less


class Source(StrEnum):
    """Who says it."""

    NVML = "NVML"
    AMD = "AMD SMI"
    DRIVER = "the CUDA driver"
    HAMI = "HAMi's limit"
    MPS = "MPS's limit"
    HOST = "the host's memory"
    GROUP = "the control group's limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one source says can be had of a device."""

    source: Source
    size: Bytes  # at most, by all processes together or by one
    free: Bytes | None  # of it, this moment, before a process has opened a context
    because: str  # where the figures come from


def claims(place: Place, probe: Probe) -> tuple[Claim, ...]:
    """Of everybody who says something, those first whom engines ask first."""
    found = (
        _driver(place),
        _hami(place, probe),
        _library(place),
        _mps(place, probe.environment),
        _group(place),
        *(_host(probe.host) if place.gpu.unified else ()),
    )
    return tuple(claim for claim in found if claim is not None)


def smallest(said: tuple[Claim, ...]) -> Claim | None:
    """The smallest plausible memory: a promise made on it holds whoever is right."""
    return min(said, key=lambda claim: claim.size, default=None)


def apart(one: Bytes, other: Bytes) -> bool:
    """Whether two sizes differ by more than what a driver keeps for itself."""
    return abs(one - other) > _APART * max(one, other)


def _driver(place: Place) -> Claim | None:
    seen = place.part.seen
    if seen is None or not seen.total:
        return None
    free = min(seen.free + (seen.cost or 0), seen.total)
    return Claim(source=Source.DRIVER, size=seen.total, free=Bytes(free), because="cuMemGetInfo in a context of ours")


def _library(place: Place) -> Claim | None:
    """The total as CUDA will tell it, which is without what driver and firmware keep."""
    part = place.part
    if not part.total:
        return None
    source = Source.AMD if place.gpu.maker is Maker.AMD else Source.NVML
    usable = _usable(place)
    free = None if part.free is None else Bytes(min(part.free, usable))
    kept = f"{part.total} less {part.reserved} reserved" if usable < part.total else f"{part.total}"
    what = "" if place.slice is None else f" of the slice {place.slice.name or place.slice.uuid or ''}".rstrip()
    return Claim(source=source, size=usable, free=free, because=f"{kept}{what}")


def _usable(place: Place) -> Bytes:
    return Bytes(max((place.part.total or 0) - (place.part.reserved or 0), 1))


def _hami(place: Place, probe: Probe) -> Claim | None:
    """Its library tells the limit instead of the card's total, and takes off it what this container holds."""
    limit = _limit(place, probe)
    if limit is None:
        return None
    size = Bytes(min(limit[0], _usable(place)) if place.part.total else limit[0])
    held = sum(process.holds or 0 for process in place.part.processes if process.own_namespace)
    return Claim(source=Source.HAMI, size=size, free=Bytes(max(size - held, 0)), because=limit[1])


def _limit(place: Place, probe: Probe) -> tuple[int, str] | None:
    for name in (f"{HAMI}_{place.ordinal}", HAMI):
        written = probe.environment.get(name)
        if written is not None:
            size = _size(written)
            return (size, f"{name}={written[:40]}") if size else None  # 0 is no limit
    return None


def _mps(place: Place, environment: Mapping[str, str]) -> Claim | None:
    """What one client of the daemon may take; the card's total is told as it is."""
    for each in environment.get(MPS, "").split(","):
        device, _, written = each.partition("=")
        named = device.strip() in {str(place.ordinal), place.gpu.uuid or ""}
        if named and (limit := _size(written)):
            return Claim(source=Source.MPS, size=Bytes(limit), free=Bytes(limit), because=f"{MPS}={each.strip()[:60]}")
    return None


def _group(place: Place) -> Claim | None:
    limit = place.gpu.limit
    because = f"{limit} of this card for our control group"
    return None if not limit else Claim(source=Source.GROUP, size=limit, free=limit, because=because)


def _host(host: Host) -> Iterator[Claim]:
    """Where the card's memory is the host's."""
    if host.total:
        cache = "" if host.page_cache is None else f", of which {host.page_cache} is page cache"
        free = None if host.available is None else Bytes(min(host.available, host.total))
        words = f"{host.total} of RAM" if free is None else f"{host.total} of RAM, {free} available{cache}"
        yield Claim(source=Source.HOST, size=host.total, free=free, because=words)
    if host.limit and (host.total is None or host.limit < host.total):
        used = None if host.used is None else max(host.used - (host.used_by_cache or 0), 0)
        free = None if used is None else Bytes(max(host.limit - used, 0))
        yield Claim(source=Source.GROUP, size=host.limit, free=free, because=f"{host.limit} for this container")


def served(place: Place, probe: Probe) -> bool:
    """Whether an MPS server holds the context that its clients share: it is on the card, or its door is there."""
    named = any((process.name or "").startswith("nvidia-cuda-mps") for process in place.part.processes)
    return named or any(name.endswith("/control") for name in probe.environment)


def preloaded(probe: Probe) -> bool:
    """Whether HAMi's library is loaded before all others."""
    return any("vgpu" in probe.environment.get(name, "") for name in ("LD_PRELOAD", "/etc/ld.so.preload"))


def _size(written: str) -> int | None:
    """`3000m`, `10G`, `512MB` or bytes; None for what is no size."""
    found = _SIZE.fullmatch(written)
    size = None if found is None else int(found["number"]) * _UNITS[found["unit"].lower()]
    return None if size is None or size > _LARGEST else size
