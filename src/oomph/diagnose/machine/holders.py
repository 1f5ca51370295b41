"""Who holds memory on a device, and what each is: a neighbour, a desktop, or an engine that outlived its server.

Knows how vLLM names its processes and which parents only adopt. Does not end anything.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from oomph.ledger.probe import Process
from oomph.ledger.visible import Place
from oomph.units import Bytes

_ENGINE: Final = "VLLM::"
_CORE: Final = "VLLM::EngineCor"  # as the kernel cuts it; its workers are on other cards too
_FIRST: Final = 1  # adopts every process whose parent has ended
_ADOPTING: Final = ("systemd", "init", "tini", "dumb-init", "docker-init", "catatonit", "conmon", "containerd-shim")
_SERVING: Final = ("vllm", "python", "ray", "uvicorn", "gunicorn", "uv", "torchrun", "api_server")


class Kind(StrEnum):
    """What a process is there for."""

    ORPHAN = "orphan"  # an engine whose server is gone; nobody will stop it
    ENGINE = "engine"
    SERVER = "mps-server"
    DISPLAY = "display"
    OUTSIDE = "outside"  # of this container: it cannot be seen from here
    TENANT = "tenant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """One process and what it is."""

    process: Process
    kind: Kind


def holders(place: Place) -> tuple[Holder, ...]:
    """Everybody on a device, the largest first."""
    found = {process.pid: process for process in place.part.processes}
    orphans = {pid for pid, process in found.items() if _orphaned(process)}
    orphans |= {pid for pid, process in found.items() if _is_engine(process) and process.parent in orphans}
    told = [Holder(process=each, kind=_kind(each, orphan=each.pid in orphans)) for each in found.values()]
    return tuple(sorted(told, key=lambda holder: (-(holder.process.holds or 0), holder.process.pid)))


def unexplained(place: Place) -> Bytes | None:
    """What is used and held by nobody who was named; None where either is not told."""
    held = [process.holds for process in place.part.processes]
    used = place.part.used
    if used is None or None in held or not place.gpu.listed:
        return None
    return Bytes(max(used - sum(size for size in held if size is not None), 0))


def held_by(found: tuple[Holder, ...], *kinds: Kind) -> Iterator[Holder]:
    """Those of some kinds."""
    return (holder for holder in found if holder.kind in kinds)


def _kind(process: Process, *, orphan: bool) -> Kind:
    name = process.name or ""
    if orphan:
        return Kind.ORPHAN
    if _is_engine(process):
        return Kind.ENGINE
    if name.startswith("nvidia-cuda-mps"):
        return Kind.SERVER
    if process.graphics:
        return Kind.DISPLAY
    return Kind.OUTSIDE if process.own_namespace is False else Kind.TENANT


def _is_engine(process: Process) -> bool:
    return any((title or "").startswith(_ENGINE) for title in (process.name, process.command))


def _orphaned(process: Process) -> bool:
    """Its parent only adopted it, or the core that it works for.

    A container's first process may be the server itself; its name then says so.
    """
    if not _is_engine(process) or process.own_namespace is False or process.parent is None:
        return False
    return _adopts(process.parent, process.parent_name) or any(
        (child.name or "").startswith(_CORE) and _adopts(parent.pid, parent.name)
        for child, parent in itertools.pairwise(process.ancestors)
    )


def _adopts(pid: int, name: str | None) -> bool:
    above = (name or "").lower().lstrip("(")
    if above.startswith(_ADOPTING):
        return True
    return pid <= _FIRST and not above.startswith((_ENGINE.lower(), *_SERVING))
