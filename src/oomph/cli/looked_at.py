"""The devices of a machine that is looked at, now or in a saved probe, for a command that would run there."""

from collections.abc import Iterator
from dataclasses import replace

from oomph.diagnose.case import Platform
from oomph.diagnose.machine.judgement import Judged, Judgement, judge
from oomph.engines.history import Release
from oomph.engines.vllm.probed import devices_of
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.weights.world import gpus
from oomph.errors import UsageError
from oomph.ledger.claims import apart
from oomph.ledger.device import Device
from oomph.ledger.probe import Maker, Probe
from oomph.ledger.settings import Flags
from oomph.ledger.visible import visible
from oomph.readers.command import Command
from oomph.readers.hardware import Hardware

_NAME_ONE = "name what it is for: --gpu rtx-5090, --gpu 'a100-80gb x4', --gpu 24GiB, or --device with a saved probe"


def looked_at(file: str | None, command: Command, release: Release) -> tuple[tuple[Device, ...], tuple[str, ...]]:
    """As many devices as the command needs, in the engine's order, and what is odd about them or their machine."""
    machine, wanted = _with_command(read(file), command.flags), gpus(command.flags)
    found = devices_of(machine, release, ranks=wanted)
    where = "this machine" if file is None else file
    if not found:
        why = "; ".join((*machine.notes, *judge(machine, release).visible.notes)[:2])
        message = f"{where} shows no GPU that the engine could use{f' ({why})' if why else ''}: {_NAME_ONE}"
        raise UsageError(message)
    if len(found) < wanted:
        message = f"{wanted} ranks need as many GPUs, and {where} shows {len(found)}: {_NAME_ONE}"
        raise UsageError(message)
    return found[:wanted], tuple(_words(judge(machine, release), wanted))


def hardware(file: str, command: Command, release: Release) -> Hardware:
    """What a saved probe says of the machine on which something failed; what is free there now is not what was then."""
    machine = _with_command(read(file), command.flags)
    found = devices_of(machine, max(release, HISTORY.first))[: gpus(command.flags)]
    return Hardware(
        devices=tuple(replace(device, free=None, tenants=()) for device in found),
        platform=frozenset(_platforms(machine)),
    )


def _platforms(machine: Probe) -> Iterator[Platform]:
    places = visible(machine).places
    if machine.host.wsl:
        yield Platform.WSL2
    if any(place.slice is not None for place in places):
        yield Platform.MIG
    if any(place.gpu.unified for place in places):
        yield Platform.UNIFIED
    if any(place.gpu.maker is Maker.AMD for place in places):
        yield Platform.ROCM


def read(file: str | None) -> Probe:
    """A saved probe, or this machine's."""
    if file is not None:
        from oomph.readers.probe_file import read_probe  # noqa: PLC0415 - only who has one reads one

        return read_probe(file)
    from oomph.readers.probe import probe  # noqa: PLC0415 - only here is a driver asked

    return probe()


def _with_command(machine: Probe, flags: Flags) -> Probe:
    """The machine as the command will find it: its own variables come before those of the shell."""
    own = {name: str(value) for name, value in flags.items() if name.isupper() and value is not None}
    return replace(machine, environment={**machine.environment, **own})


def _words(found: Judgement, wanted: int) -> Iterator[str]:
    for each in found.devices[:wanted]:
        yield from _short(each)
        for remark in each.remarks:
            do = "" if remark.do is None else f" (do: {remark.do})"
            yield f"cuda:{each.place.ordinal}: {remark.words}{do}"
    for remark in found.remarks:
        do = "" if remark.do is None else f" (do: {remark.do})"
        yield f"{remark.words}{do}"


def _short(each: Judged) -> Iterator[str]:
    """A forecast takes what the engine will find; where less can be had, its verdict must not be read as a promise."""
    known, where = each.believed, f"cuda:{each.place.ordinal}"
    if known is not None and known.really < known.now.low and apart(known.really, known.now.low):
        yield (
            f"{where}: only {known.really} can really be had, while this forecast counts with the {known.now.low} that "
            f"the engine will find: the start check is as it says, but a later step that needs more than "
            f"{known.really} fails, whatever the verdict here"
        )
    if each.check is not None and each.check.doubt is not None:
        yield f"{where}: {each.check.doubt}: the verdict here holds only if it is as taken"
