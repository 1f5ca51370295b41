"""Weights that were measured at real start-ups, beside what we compute for them from the record alone.

Knows which records determine a checkpoint: those that name a config that is at hand, a format that is said or known by
the checkpoint's name, and how many ranks there were. Does not know the rest of a start-up.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from exact.subjects import ROOT
from oomph.architectures.registry import geometry
from oomph.architectures.stored.quantization import quantization
from oomph.engines.history import Release
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.weights.kit import HOPPER, kit
from oomph.engines.vllm.weights.loaded import resident
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import total
from oomph.errors import UnknownRelease
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Capability
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB
from scored.configs import config_of, file_of, stored
from scored.dates import newest

STARTUPS: Final = ROOT.parent / "shared" / "corpus" / "startups.jsonl"
NEAR: Final = 0.01  # of the measured weights

UNNAMED: Final = "the record names no config that is at hand"
UNSAID: Final = "which matrices the checkpoint quantizes, and how, is not said"
ADAPTERS: Final = "room was made for adapters of a size that is not said"
_WHILE_LOADING: Final = "bitsandbytes"  # a format that any checkpoint is given while it is loaded
INEXACT: Final = "the record does not name one checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One start-up that said what its weights took."""

    id: str
    model: str
    measured: float  # GiB, whatever the log called them
    parameters: float | None = None  # GiB, as they are
    ours: float | None = None  # GiB, as the forecast's entry has them
    undetermined: str | None = None  # why nothing can be computed

    @property
    def off(self) -> float | None:
        """Ours against what was measured, as a share of it."""
        return None if self.ours is None else self.ours / self.measured - 1

    @property
    def near(self) -> bool:
        """Whether ours is within the margin."""
        return self.off is not None and abs(self.off) <= NEAR


def records() -> Iterator[Record]:
    """Every start-up of the corpus that said what its weights took."""
    for line in STARTUPS.read_text().splitlines():
        said: dict[str, object] = json.loads(line)
        if said.get("weights_gib") is not None:
            yield _record(said)


def _record(said: Mapping[str, object]) -> Record:
    name, measured = str(said["model"]), float(str(said["weights_gib"]))
    why = _undetermined(said)
    if why is not None:
        return Record(id=str(said["id"]), model=name, measured=measured, undetermined=why)
    parameters, ours = (size / GIB for size in _weighed(said))
    return Record(id=str(said["id"]), model=name, measured=measured, parameters=parameters, ours=ours)


def _undetermined(said: Mapping[str, object]) -> str | None:
    file = file_of(said)
    if file is None:
        return UNNAMED
    if _ranks(said) is None or "thread" in str(said["model"]):
        return INEXACT
    if "LoRA" in str(said.get("notes")) and "enable_lora" not in _flags(said):
        return ADAPTERS
    return None if said.get("quantization") == _WHILE_LOADING or stored(said, file) else UNSAID


def _ranks(said: Mapping[str, object]) -> tuple[int, int] | None:
    tensor, stages = said.get("tp"), said.get("pp")
    if tensor is None and said.get("gpu_count") != 1:
        return None
    return int(str(tensor or 1)), int(str(stages or 1))


def _weighed(said: Mapping[str, object]) -> tuple[int, int]:
    """Parameters of the heaviest rank, and what it holds once they are loaded."""
    name, (tensor, stages) = str(said["model"]), _ranks(said) or (1, 1)
    config, capability, release = config_of(file_of(said) or "", name), _capability(said), _release(said)
    model = Model(name=name, geometry=geometry(config), quantization=quantization(config))
    ranks = [Ranks(tensor=tensor, pipeline=stages, stage=stage) for stage in range(stages)]
    there = kit(capability, release)
    parameters = max(int(total(model.geometry, each, quantization=model.quantization, kit=there)) for each in ranks)
    entries = (resident(model, Flags(_flags(said)), capability, release, ranks=each) for each in ranks)
    return parameters, max(int(entry.size.likely) for entry in entries)


def _flags(said: Mapping[str, object]) -> dict[str, Value]:
    """Those that change what is loaded."""
    args, found = str(said.get("args")), dict[str, Value]()
    if said.get("quantization") == _WHILE_LOADING:
        found["quantization"] = _WHILE_LOADING
    if "'enable_lora': True" in args:
        found["enable_lora"] = True
    if rank := re.search(r"'max_lora_rank': (\d+)", args):
        found["max_lora_rank"] = int(rank[1])
    return found


def _release(said: Mapping[str, object]) -> Release:
    """As the record says it; else the newest on its day."""
    try:
        return HISTORY.release(str(said.get("vllm_version")))
    except UnknownRelease:
        return newest(None if said.get("date") is None else str(said["date"])) or HISTORY.first


def _capability(said: Mapping[str, object]) -> Capability:
    """Of the device that the record names; Hopper where it names none that is known."""
    gpu = str(said.get("gpu") or "").lower()
    for device in CATALOGUE.values():
        if device.capability is not None and gpu and (gpu in device.name.lower() or device.name.lower() in gpu):
            return device.capability
    return HOPPER
