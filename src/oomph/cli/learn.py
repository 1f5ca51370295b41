"""`oomph plan --learn LOG`: keep what the start-ups in a log measured, and complete the command by what it says."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.alike import differing
from oomph.engines.vllm.hearing import FIRST_HINTS, HINTS
from oomph.engines.vllm.learned import measured
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.transcript import transcript
from oomph.errors import UnknownRelease, UnreadableError, UsageError
from oomph.ledger.device import Device
from oomph.ledger.measurement import Measurement
from oomph.ledger.observation import Observation, Quantity
from oomph.ledger.settings import Flags
from oomph.readers.command import Command
from oomph.readers.log import read_log
from oomph.readers.measurements import keep, model_name
from oomph.units import Bounds, largest

_NEAR: Final = 0.05  # of a device's memory: as far as a name may be off what the engine found there
_PATHS: Final = ("/", ".", "~")


def hear(log: str) -> tuple[Observation, ...]:
    """The start-ups in a log that measured something."""
    lines = read_log(log, hints=HINTS, first_hints=FIRST_HINTS)
    found = tuple(each for each in transcript(lines) if any(each.sizes(quantity) for quantity in Quantity))
    if not found:
        message = (
            f"nothing can be learned from {log}: no start-up of vLLM says in it what anything took "
            '(the lines are such as "Model loading took 18.47 GiB"; VLLM_LOGGING_LEVEL=INFO prints them)'
        )
        raise UnreadableError(message)
    return found


def released(observation: Observation) -> Release | None:
    """The release that a start-up names, where it is one that is known."""
    try:
        return None if observation.release is None else HISTORY.release(observation.release)
    except UnknownRelease:
        return None


def learn(heard: tuple[Observation, ...], command: Command, *, said: Release | None, device: Device) -> Command:
    """Keep what was heard, say so, and give back the command with what only the last start-up says."""
    *earlier, last = heard
    whole = _completed(command, last, said=said)
    _refuse_device(last, device)
    if whole.model is None:
        message = "the log does not name its model: name it after --learn LOG, or give the command that was run"
        raise UsageError(message)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for each in earlier:
        if each.model is not None:
            _keep(each, Command(model=each.model, flags=each.flags, release=released(each)), device, now)
    kept = _keep(last, whole, device, now)
    if kept is not None:
        sys.stderr.writelines(f"{line}\n" for line in _told(last, *kept))
    return whole


def _keep(heard: Observation, command: Command, device: Device, now: str) -> tuple[Measurement, Path] | None:
    found = measured(
        heard,
        model=model_name(command.model or ""),
        flags=command.flags,
        release=None if command.release is None else str(command.release),
        device=device,
        learned=now,
    )
    return None if found is None else (found, keep(found))


def _completed(command: Command, last: Observation, *, said: Release | None) -> Command:
    """The command by which it was started: as it was given, and as the log says; the two must not contradict."""
    named, logged = said or command.release, released(last)
    if named is not None and logged is not None and named != logged:
        message = f"the log is of vLLM {logged}, and {named} was asked for: learn it as what it is, then plan again"
        raise UsageError(message)
    _refuse_model(command.model, last.model)
    if other := differing(command.flags, last.flags):
        name = other[0]
        message = (
            f"the log was started with {name} {last.flags[name]}, and the command says {command.flags[name]}: "
            "learn the log by itself, then plan the command"
        )
        raise UsageError(message)
    flags = Flags({**last.flags, **command.flags})
    return replace(command, model=command.model or last.model, flags=flags, release=logged or named)


def _refuse_model(asked: str | None, logged: str | None) -> None:
    """Two names of the Hub are two models; a path may be another name of the same, as inside a container."""
    if asked is None or logged is None or asked.startswith(_PATHS) or logged.startswith(_PATHS):
        return
    if model_name(asked).casefold() != model_name(logged).casefold():
        message = f"the log is of {logged}, and {asked} was asked for: learn it as what it is, then plan again"
        raise UsageError(message)


def _refuse_device(last: Observation, device: Device) -> None:
    for quantity in (Quantity.TOTAL, Quantity.DEVICE_TOTAL):
        for size in last.sizes(quantity):
            if abs(size.likely - device.total) > _NEAR * device.total:
                message = (
                    f"the log is of a device of {size.likely}, and {device.name} has {device.total} (change --gpu)"
                )
                raise UsageError(message)


def _told(heard: Observation, kept: Measurement, path: Path) -> Iterator[str]:
    on = "" if kept.device is None else f" on {kept.device.name}"
    yield f"learned from a start-up of {kept.model}{on} with vLLM {kept.release or 'of an unknown release'}:"
    for quantity, by_rank in kept.figures.items():
        first = heard.reading(quantity)
        ranks = f", the largest of {len(by_rank)}" if len(by_rank) > 1 else ""
        size: Bounds = largest(*by_rank.values())
        yield f"  {quantity:<15}{size.likely!s:>12}  line {first.line if first else 0}{ranks}"
    yield f"kept in {path}"
