"""Machines that are not here, judged by the command, and what a driver there would answer an engine."""

import functools
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardware.machine import machine
from oomph.ledger.probe import Probe
from oomph.ledger.visible import Place
from oomph.readers.probe_file import read_probe

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """What cuMemGetInfo says on one device before an engine has opened a context, and what the host could give away."""

    total: int
    free: int
    available: int
    integrated: bool
    capability: tuple[int, int]
    name: str


def judged(scenario: str, folder: Path, *words: str, status: int | None = None, **more: str) -> Json:
    """The answer of `oomph probe --json` there."""
    done = machine(scenario, folder).run("-m", "oomph", "probe", "--json", *words, **more)
    assert done.stderr == "", done.stderr
    assert done.returncode in ({0, 1, 3} if status is None else {status})
    answer: Json = json.loads(done.stdout)
    return answer


@functools.cache
def saved(scenario: str, *words: str) -> Probe:
    """The same answer as it would be read from a file, asked for once."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "probe.json")
        file.write_text(json.dumps(judged(scenario, Path(folder), *words)))
        return read_probe(str(file))


def driver(place: Place, probe: Probe) -> Driver:
    """As the engine's process would hear it; of a probe with --context."""
    seen, capability, available = place.part.seen, place.gpu.capability, probe.host.available
    assert seen is not None
    assert capability is not None
    assert available is not None
    return Driver(
        total=seen.total,
        free=seen.free + (seen.cost or 0),
        available=available,
        integrated=bool(seen.integrated),
        capability=(capability.major, capability.minor),
        name=place.gpu.name or "",
    )
