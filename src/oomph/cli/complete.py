"""A case, completed by what the command line says: the model, the release, the devices; and the forecast of all that.

Knows what goes before what: what the user says before what the log says, what the engine measured before what the
catalogue says. Nothing is fetched because a log names it. What cannot be had is told, and the case stays as it is.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from oomph.cli.model import model_at
from oomph.diagnose.case import Case
from oomph.diagnose.grounds.inferred import implied
from oomph.engines.vllm.alike import differing
from oomph.engines.vllm.learned import apply, measured
from oomph.engines.vllm.levers.startup import Startup, ranks
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.resolve import longest, resolve
from oomph.errors import OomphError
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Device
from oomph.ledger.observation import Quantity
from oomph.ledger.observed import Observed, Seen
from oomph.readers.command import Command
from oomph.units import Bounds

_NEAR: Final = 0.05  # of a device's memory: as far as a name may be off what the engine found there


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A case with its forecast, where there is one, and what had to be said on the way."""

    case: Case
    notes: tuple[str, ...] = ()


def complete(case: Case, command: Command, *, weights: str | None = None) -> Completed:
    """Fill in what is known; a forecast needs the model, the release and the device."""
    notes = [*command.notes, *_contradictions(case, command)]
    case = replace(case, devices=tuple(_devices(case)))
    try:
        startup = _startup(case, command, weights=weights)
        if startup is not None:
            case = replace(case, startup=startup, forecast=startup.forecast())
    except OomphError as trouble:
        notes.append(f"no forecast stands beside the log: {trouble}")
    return Completed(case=case, notes=tuple(notes))


def _contradictions(case: Case, command: Command) -> Iterator[str]:
    """Where the log says otherwise than the user; what the engine measured goes first, else the user does."""
    logged = case.observation
    if logged is None:
        return
    if logged.release is not None and case.release is not None and logged.release != str(case.release):
        yield f"the log is of {HISTORY.engine} {logged.release}, and is explained as of {case.release}, as was asked"
    for name in differing(command.flags, logged.flags):
        yield f"the log was started with {name} {logged.flags[name]}; {command.flags[name]} is taken, as was asked"
    total = _printed(case, Quantity.TOTAL, Quantity.DEVICE_TOTAL)
    given = case.devices[0] if case.devices else None
    if total is not None and given is not None and abs(total.likely - given.total) > _NEAR * given.total:
        yield f"the engine saw a device of {total.likely}, and {given.name} has {given.total}: what it saw is taken"


def _startup(case: Case, command: Command, *, weights: str | None) -> Startup | None:
    where = command.model or _local(case.model)
    if where is None or not case.devices or case.release is None or case.engine not in {HISTORY.engine, None}:
        return None
    release = HISTORY.release(str(case.release))
    startup = Startup(
        flags=case.flags,
        model=model_at(where, weights=weights),
        devices=case.devices,
        release=release,
        usage=command.usage,
    )
    found = None if weights is not None or startup.model is None else implied(case, startup)
    if found is None or startup.model is None:
        return replace(startup, observed=_observed(case, startup))
    startup = replace(startup, model=replace(startup.model, weights=found.weights))
    return replace(startup, observed=replace(_observed(case, startup) or Observed(), outside=found.outside))


def _local(model: str | None) -> str | None:
    """What the log names is only looked at where it is a folder here."""
    if model is None or "\0" in model:
        return None
    return model if os.path.isfile(os.path.join(model, "config.json")) else None  # noqa: PTH113, PTH118 - Path raises for a name that no disk can hold


def _observed(case: Case, startup: Startup) -> Observed | None:
    """What the log measured, for the forecast of the very start-up that it is of."""
    if case.observation is None or startup.model is None:
        return None
    poorest = min(startup.devices, key=lambda device: device.total)
    kept = measured(
        case.observation,
        model=startup.model.name,
        flags=startup.flags,
        release=str(startup.release),
        device=poorest,
    )
    context = longest(startup.model.geometry, startup.release)
    settings = resolve(startup.flags, device=poorest, release=startup.release, context_tokens=context)
    if kept is None:
        return None
    found = apply(
        [kept],
        model=startup.model.name,
        flags=startup.flags,
        settings=settings,
        device=poorest,
        release=startup.release,
    )
    return replace(found, outside=_not_to_be_had(found.outside, case.size(Quantity.RESERVED)))


def _not_to_be_had(outside: Seen | None, unused: Bounds | None) -> Seen | None:
    """What the allocator kept in pieces when it ran out is no room, as little as what is outside of it."""
    if outside is None or unused is None:
        return outside
    words = f"{outside.because}, with {unused.likely} that PyTorch kept in pieces"
    ranks = {rank: size + unused for rank, size in outside.ranks.items()}
    return Seen(size=outside.size + unused, because=words, ranks=ranks)


def _devices(case: Case) -> Iterator[Device]:
    """As given, with the memory that the engine found there; else as the log describes them."""
    total, free = _printed(case, Quantity.TOTAL, Quantity.DEVICE_TOTAL), case.size(Quantity.FREE)
    known = case.devices or tuple(_described(case, total))
    alone = known * ranks(case.flags) if len(known) == 1 else known
    for device in alone:
        found = device if total is None else replace(device, total=total.likely)
        yield found if free is None or free.likely > found.total else replace(found, free=_within(free, found))


def _described(case: Case, total: Bounds | None) -> Iterator[Device]:
    """As the log names it, or by its memory."""
    name = "" if case.observation is None else case.observation.device or ""
    listed = next((device for device in CATALOGUE.values() if device.name == name.strip()), None)
    if listed is None and total is not None:
        near = [each for each in CATALOGUE.values() if abs(each.total - total.likely) <= _NEAR * total.likely]
        kind = near[0] if len({each.capability for each in near}) == 1 and near else None
        listed = Device(
            name=name or f"a device of {total.likely}",
            total=total.likely,
            capability=None if kind is None else kind.capability,
        )
    yield from () if listed is None else (listed,)


def _printed(case: Case, *quantities: Quantity) -> Bounds | None:
    return next((size for quantity in quantities if (size := case.size(quantity)) is not None), None)


def _within(free: Bounds, device: Device) -> Bounds:
    return Bounds(*(min(end, device.total) for end in (free.low, free.high, free.likely)))
