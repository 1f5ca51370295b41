"""A machine that was looked at → the devices that a forecast takes, as a release of vLLM will find them.

Knows which figure of the probe is which of a device. Does not judge: `diagnose` does.
"""

from oomph.engines.history import Release
from oomph.engines.vllm.believed import believed
from oomph.ledger.claims import Source, claims, served
from oomph.ledger.device import Cut, Device, Tenant
from oomph.ledger.probe import Probe, Process
from oomph.ledger.visible import Place, visible
from oomph.units import Bytes


def devices_of(probe: Probe, release: Release, *, ranks: int = 1) -> tuple[Device, ...]:
    """Every device that the engine will see and of which somebody says how much memory it has, in its own order."""
    found = (device_at(place, probe, release, ranks=ranks) for place in visible(probe).places)
    return tuple(device for device in found if device is not None)


def device_at(place: Place, probe: Probe, release: Release, *, ranks: int = 1) -> Device | None:
    """One of them."""
    known = believed(place, probe, release, ranks=ranks)
    if known is None:
        return None
    return Device(
        name=name_of(place, known.total),
        total=known.total,
        card=place.gpu.total,
        free=known.free,  # as the engine will find it
        really=known.really if known.really < known.free.low else None,
        capability=place.gpu.capability,
        cut=cut_of(place, probe),
        tenants=tuple(map(_tenant, place.part.processes)),
    )


def name_of(place: Place, total: Bytes) -> str:
    """As its driver calls it."""
    name = place.gpu.name or f"a device of {total}"
    return name if place.slice is None else f"{name} MIG {place.slice.name or 'slice'}"


def cut_of(place: Place, probe: Probe) -> Cut:
    """How the card is shared out; a scheduler that deals out turns shows only by strangers on the card."""
    if place.slice is not None:
        return Cut.MIG
    if any(claim.source is Source.HAMI for claim in claims(place, probe)):
        return Cut.HAMI
    if served(place, probe):
        return Cut.MPS
    if place.gpu.virtual == "vgpu":
        return Cut.VGPU
    strangers = any(process.own_namespace is False and not process.graphics for process in place.part.processes)
    return Cut.TIME_SLICED if strangers and probe.host.container == "kubernetes" else Cut.WHOLE


def _tenant(process: Process) -> Tenant:
    return Tenant(pid=process.pid, name=process.name or process.command or "unknown", holds=process.holds)
