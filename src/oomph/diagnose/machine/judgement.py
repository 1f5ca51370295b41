"""What a probe means for an engine: the devices that it will see, what it will believe of each, and whether it starts.

Knows one release of vLLM. Pure: a customer's file is judged like the machine under one's hands.
"""

from dataclasses import dataclass

from oomph.diagnose.machine.holders import Holder, holders, unexplained
from oomph.diagnose.machine.host_and_devices import breaks, machine_remarks
from oomph.diagnose.machine.remarks import Look, Remark, remarks
from oomph.engines.history import Release
from oomph.engines.vllm.believed import Believed, believed
from oomph.engines.vllm.probed import device_at
from oomph.engines.vllm.start_check import StartCheck, start_check
from oomph.ledger.claims import Claim, claims, smallest
from oomph.ledger.device import Device
from oomph.ledger.probe import Probe
from oomph.ledger.visible import Place, Visible, visible
from oomph.units import Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One device that the engine will see."""

    place: Place
    device: Device | None  # as a forecast takes it; None where nobody says how much memory it has
    believed: Believed | None
    check: StartCheck | None
    claims: tuple[Claim, ...]
    smallest: Claim | None  # the smallest plausible memory
    holders: tuple[Holder, ...]
    unexplained: Bytes | None  # used, and held by nobody who was named
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A machine, judged for one release."""

    release: Release
    visible: Visible
    devices: tuple[Judged, ...]
    segments: dict[str, str]  # what expandable segments would break here
    remarks: tuple[Remark, ...]


def judge(probe: Probe, release: Release) -> Judgement:
    """Every device that an engine started here will see, in its own order."""
    seen = visible(probe)
    return Judgement(
        release=release,
        visible=seen,
        devices=tuple(_judged(place, probe, release, doubt=seen.guessed) for place in seen.places),
        segments=breaks(probe, seen, release),
        remarks=tuple(machine_remarks(probe, seen, release)),
    )


def _judged(place: Place, probe: Probe, release: Release, *, doubt: str | None) -> Judged:
    said, found = claims(place, probe), believed(place, probe, release)
    check = None if found is None else start_check(found, release, doubt=doubt)
    look = Look(
        place=place,
        probe=probe,
        release=release,
        claims=said,
        holders=holders(place),
        believed=found,
        verdict=None if check is None else check.verdict,
    )
    return Judged(
        place=place,
        device=device_at(place, probe, release),
        believed=found,
        check=check,
        claims=said,
        smallest=smallest(said),
        holders=look.holders,
        unexplained=unexplained(place),
        remarks=tuple(remarks(look)),
    )
