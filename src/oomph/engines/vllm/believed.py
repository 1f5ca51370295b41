"""How much memory a release of vLLM believes that a device has, and finds free there when it first looks.

Knows whom each release asks: the driver (`cudaMemGetInfo`), which clamps answer for, and on devices that share the
host's memory the host. Does not know what is really there: `diagnose` compares.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from oomph.engines.history import Release, Since
from oomph.engines.vllm import facts
from oomph.engines.vllm.measured.shipped import SHIPPED
from oomph.engines.vllm.unified import shares_memory
from oomph.ledger.claims import Claim, Source, apart, claims, preloaded, served
from oomph.ledger.probe import Gpu, Probe
from oomph.ledger.visible import Place
from oomph.units import GIB, MIB, Bounds, Bytes, together

_CLIENT: Final = 20 * MIB  # of a context that is the MPS server's: a client was seen to pay 23 MiB
_ITSELF: Final = Bounds(GIB // 2, 6 * GIB, 2 * GIB)  # the engine's own processes, where their memory is the device's


def never(gpu: Gpu) -> bool:
    """The driver is asked, whatever the device."""
    del gpu
    return False


def listed(gpu: Gpu) -> bool:
    """The host is asked for three capabilities by their number."""
    return shares_memory(gpu.capability)


def integrated(gpu: Gpu) -> bool:
    """The host is asked wherever CUDA calls the device integrated."""
    seen = gpu.seen
    return gpu.unified if seen is None or seen.integrated is None else seen.integrated


# Whether free memory is what the host has available, and not what the driver says.
asks_host: Final[Since[Callable[[Gpu], bool]]] = Since(
    {
        "0.6.0": never,  # worker/worker.py
        "0.11.1": listed,  # utils/mem_utils.py
        "0.20.0": integrated,  # utils/mem_utils.py
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed:
    """What the start check will compare."""

    total: Bytes
    total_from: Claim
    now: Bounds  # free this moment, as the release would read it; exact where somebody says so
    free_from: Claim
    free: Bounds  # when the engine first looks, with its own context open
    really: Bytes  # free this moment by the poorest source: what allocations can have
    doubt: str | None = None  # why all of this may be otherwise: a clamp that nobody has seen at work


def believed(place: Place, probe: Probe, release: Release, *, ranks: int = 1) -> Believed | None:
    """What this release will believe of a device; None where nobody says how much memory it has."""
    said = claims(place, probe)
    total = _first(said, Source.DRIVER, Source.HAMI, Source.NVML, Source.AMD, Source.HOST)
    found = _free(place, probe, said, release)
    if total is None or found is None:
        return None
    now, whose = _within(found[0], total.size), found[1]
    return Believed(
        total=total.size,
        total_from=total,
        now=now,
        free_from=whose,
        free=_at_start(place, now, total.size, _taken(place, probe, release, ranks=ranks)),
        really=_really(place, probe, said, now),
        doubt=_doubt(total, probe),
    )


def _doubt(total: Claim, probe: Probe) -> str | None:
    """A limit is only a variable where the library that would keep it was not seen."""
    if total.source is not Source.HAMI or preloaded(probe):
        return None
    return f"{total.because} counts only if HAMi's library is loaded, which was not seen"


def _free(place: Place, probe: Probe, said: tuple[Claim, ...], release: Release) -> tuple[Bounds, Claim] | None:
    """Free memory as the release reads it, and who tells it."""
    host = _first(said, Source.HOST)
    if asks_host.at(release)(place.gpu) and host is not None and host.free is not None:
        return Bounds(host.free), host
    heard = said if served(place, probe) else tuple(claim for claim in said if claim.source is not Source.MPS)
    told = _first(said, Source.DRIVER) or (None if place.gpu.unified else _as_driver(heard))
    if told is not None and told.free is not None:
        return Bounds(told.free), told
    if host is None or host.free is None or not place.gpu.unified:
        return None
    cached = min(probe.host.page_cache or 0, host.free)  # the driver counts cached files as used
    return Bounds(host.free - cached, host.free, host.free - cached), host


def _as_driver(said: tuple[Claim, ...]) -> Claim | None:
    """Who says what the driver would: a clamp answers for it, and MPS shows less free but not less in all."""
    clamp, library = _first(said, Source.HAMI), _first(said, Source.NVML, Source.AMD)
    alike = clamp is not None and library is not None and not apart(clamp.size, library.size)
    told = library if clamp is None or (alike and library is not None and library.free is not None) else clamp
    limit = _first(said, Source.MPS)
    if limit is None or limit.free is None or told is None:
        return told
    return limit if told.free is None or limit.free < told.free else told


def _first(said: tuple[Claim, ...], *sources: Source) -> Claim | None:
    return next((claim for source in sources for claim in said if claim.source is source), None)


def _really(place: Place, probe: Probe, said: tuple[Claim, ...], now: Bounds) -> Bytes:
    """What allocations can have this moment; where memory is the host's, cached files give way to them."""
    passed_over = {Source.DRIVER, Source.NVML} if place.gpu.unified else set()
    passed_over |= set() if served(place, probe) else {Source.MPS}
    told = [claim.free for claim in said if claim.free is not None and claim.source not in passed_over]
    return min(told, default=now.low)


def _at_start(place: Place, now: Bounds, total: Bytes, taken: Bounds) -> Bounds:
    """What is left when the engine looks."""
    seen = place.part.seen
    left = _within(now - taken, total)
    if seen is None or seen.cost is None:
        return left
    high = min(left.high, seen.free) if now.high > seen.free else left.high  # no context is smaller than a bare one
    return Bounds(min(left.low, high), high, min(left.likely, high))


def _taken(place: Place, probe: Probe, release: Release, *, ranks: int) -> Bounds:
    """By the engine before it looks: its context, in newer releases its connections, where they count its processes."""
    context = SHIPPED.context * 1
    parts = [Bounds(_CLIENT, context.high) if served(place, probe) else context]
    if ranks > 1 and facts.snapshot_after_connecting.at(release):
        parts.append(SHIPPED.connections * 1)
    if place.gpu.unified:
        parts.append(_ITSELF)
    return together(*parts)


def _within(size: Bounds, total: Bytes) -> Bounds:
    low, likely, high = (min(max(end, 0), total) for end in (size.low, size.likely, size.high))
    return Bounds(low, high, likely)
