"""A record as a question to the engine's model: its release, its devices, its settings, one of its ranks.

Knows what stands in for what a record leaves open: the newest release of its day, and a usual device. A figure that
depends on a stand-in is not scored. Does not know any answer.
"""

from dataclasses import dataclass, replace
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import kv
from oomph.engines.vllm.formulas.batches import Usage
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.resolve import longest, resolve
from oomph.engines.vllm.shapes import Start
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Device
from oomph.ledger.settings import Flags
from scored.dates import newest
from scored.records import Record

_STAND_IN: Final = CATALOGUE["h100-80gb"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a forecast of a record takes."""

    flags: Flags
    model: Model
    devices: tuple[Device, ...]
    release: Release
    usage: Usage

    def but(self, flags: Flags) -> "Asked":
        """The same with other flags."""
        return replace(self, flags=flags)

    def kept(self) -> kv.Kept:
        """What is kept for tokens, and how."""
        quantization = self.model.quantization
        return kv.kept(
            self.model.geometry,
            self.flags,
            self.start().settings,
            device=self.devices[0],
            release=self.release,
            narrow=quantization is not None and quantization.cache_scales,
            quantized=quantization is not None,
        )

    def start(self, *, stage: int = 0, second_runner: bool = False) -> Start:
        """One rank of a stage."""
        tensor, pipeline = (self.flags.count(f"{kind}_parallel_size") for kind in ("tensor", "pipeline"))
        return Start(
            geometry=self.model.geometry,
            device=self.devices[0],
            flags=self.flags,
            settings=resolve(
                self.flags,
                device=self.devices[0],
                release=self.release,
                context_tokens=longest(self.model.geometry, self.release),
                usage=self.usage,
            ),
            ranks=Ranks(tensor=tensor, pipeline=pipeline, stage=stage),
            release=self.release,
            second_runner=second_runner,
        )


def asked(record: Record) -> Asked | None:
    """What the record says, else what stands in for it; None without a model."""
    if record.model is None:
        return None
    ranks = record.command.count("tensor_parallel_size") * record.command.count("pipeline_parallel_size")
    return Asked(
        flags=record.command,
        model=record.model,
        devices=record.devices or (_STAND_IN,) * ranks,
        release=record.release or newest(record.date) or HISTORY.read_through,
        usage=record.usage,
    )
