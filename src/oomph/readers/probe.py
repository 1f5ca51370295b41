"""This machine → a probe: every reader is asked, and what one cannot read becomes a note.

Knows in which order, and the signs of a card whose memory is the host's. Never needs root, never opens a CUDA context
unless it is asked to, and stops at nothing. Does not judge what was found.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from oomph.ledger.device import Capability
from oomph.ledger.probe import Gpu, Host, Probe, Process
from oomph.readers.amd import read_amd
from oomph.readers.cards import Cards
from oomph.readers.cgroup import read_device_limits
from oomph.readers.host import read_host
from oomph.readers.nvml import read_nvidia
from oomph.readers.processes import described
from oomph.readers.variables import read_variables

ROOT: Final = "OOMPH_ROOT"  # where the host's files are mounted, for one who probes from a container
_SHARING: Final = frozenset(  # Jetsons of all generations, and GB10
    Capability(major=major, minor=minor) for major, minor in ((5, 3), (6, 2), (7, 2), (8, 7), (10, 1), (11, 0), (12, 1))
)
_SHARING_NAMES: Final = re.compile(r"\b(?:GB10|Orin|Xavier|Thor|Tegra|nvgpu)\b", re.IGNORECASE)
_BOARDS: Final = re.compile(r"jetson|tegra|dgx.spark|\bgb10\b", re.IGNORECASE)


def probe(*, context: bool = False, root: Path | None = None, environment: Mapping[str, str] | None = None) -> Probe:
    """What is here now. With `context`, the CUDA driver is asked too, which takes memory of every card for a moment."""
    environment = os.environ if environment is None else environment
    root = Path(environment.get(ROOT) or "/") if root is None else root
    host = read_host(root, environment)
    nvidia, amd = read_nvidia(), read_amd(root)
    if context:
        from oomph.readers.context import with_context  # noqa: PLC0415 - only who asks for it pays for it

        nvidia = with_context(nvidia)
    gpus = tuple(_completed((*nvidia.gpus, *amd.gpus), host, root))
    return Probe(
        gpus=gpus,
        host=host,
        environment=read_variables(environment, root),
        driver=nvidia.driver,
        cuda=nvidia.cuda,
        notes=(*_of_nvidia(nvidia, amd, host), *amd.notes, *_without_memory(gpus)),
        taken=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _completed(gpus: tuple[Gpu, ...], host: Host, root: Path) -> Iterator[Gpu]:
    """The cards with what only the host knows of them: who their processes are, and what our groups may have."""
    limits = read_device_limits(root)
    met: dict[int, Process] = {}  # a process that is on eight cards is looked up once
    for gpu in gpus:
        slices = tuple(replace(part, processes=_known(part.processes, met, root)) for part in gpu.slices)
        yield replace(
            gpu,
            processes=_known(gpu.processes, met, root),
            slices=slices,
            limit=limits.get(gpu.bus or ""),
            unified=gpu.unified or _shares(gpu, host),
        )


def _known(processes: tuple[Process, ...], met: dict[int, Process], root: Path) -> tuple[Process, ...]:
    for each in processes:
        if each.pid not in met:
            met[each.pid] = described(each, root)
    return tuple(replace(met[each.pid], holds=each.holds, graphics=each.graphics) for each in processes)


def _shares(gpu: Gpu, host: Host) -> bool:
    """Whether its memory is the host's: the driver's own word if it was asked, else what the card or the board is."""
    if gpu.seen is not None and gpu.seen.integrated is not None:
        return gpu.seen.integrated
    if gpu.capability is not None:
        return gpu.capability in _SHARING
    named = _SHARING_NAMES.search(gpu.name or "") is not None
    return named or (gpu.total is None and gpu.error is None and _BOARDS.search(host.board or "") is not None)


def _of_nvidia(nvidia: Cards, amd: Cards, host: Host) -> Iterator[str]:
    """A machine with only AMD's cards has no driver of NVIDIA's to miss; a Jetson may have a card without NVML."""
    yield from nvidia.notes if nvidia.gpus or not amd.gpus else ()
    if not nvidia.gpus and _BOARDS.search(host.board or ""):
        yield f"this is a {host.board}: its card may not show in NVML; ask the CUDA driver (oomph probe --context)"


def _without_memory(gpus: tuple[Gpu, ...]) -> Iterator[str]:
    for gpu in gpus:
        if gpu.total is None and gpu.error is None:
            why = "it has none of its own, and uses the host's" if gpu.unified else "the driver does not tell it"
            yield f"GPU {gpu.index}: memory: {why}"
