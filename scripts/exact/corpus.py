"""Weights that were measured at real start-ups, beside what we compute for them from the record alone.

Knows which records determine a checkpoint: those that name a config that is at hand, a format that is said or known by
the checkpoint's name, and how many ranks there were. Does not know the rest of a start-up.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from exact.loaded import adapters, loaded
from exact.subjects import MODELS, ROOT
from oomph.architectures.registry import geometry
from oomph.architectures.stored.quantization import quantization
from oomph.engines.vllm.weights.kit import Kit
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.served import served
from oomph.engines.vllm.weights.total import total
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Capability
from oomph.units import GIB

STARTUPS: Final = ROOT.parent / "shared" / "corpus" / "startups.jsonl"
NEAR: Final = 0.01  # of the measured weights

_TOKEN: Final = {"num_bits": 8, "type": "float", "symmetric": True, "strategy": "token", "dynamic": True}
_GROUP: Final = {**_TOKEN, "strategy": "group", "group_size": 128}


def _float8(inputs: Mapping[str, object], **weights: object) -> dict[str, object]:
    scheme = {"num_bits": 8, "type": "float", "symmetric": True, "dynamic": False, **weights}
    return {
        "quant_method": "compressed-tensors",
        "format": "float-quantized",
        "ignore": ["lm_head"],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": scheme, "input_activations": dict(inputs)}},
    }


# Checkpoints whose config is not at hand, but that of what they were made from: what their recipe adds to it.
MADE: Final[Mapping[str, Mapping[str, object]]] = {
    "unsloth/Llama-3.2-1B-Instruct-FP8-Block": _float8(_GROUP, strategy="block", block_structure=[128, 128]),
    "unsloth/Qwen3-8B-FP8": {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
    "casperhansen/deepseek-r1-distill-qwen-14b-awq": {
        "quant_method": "awq",
        "bits": 4,
        "group_size": 128,
        "zero_point": True,
        "version": "gemm",
    },
    "RedHatAI/DeepSeek-R1-Distill-Qwen-14B-FP8-dynamic": _float8(_TOKEN, strategy="channel"),
    "DeepSeek-R1-Distill-Qwen-32B-FP8": _float8(_TOKEN, strategy="channel"),
}
_LONGER: Final = {"max_position_embeddings": 131_072}
# The fields in which a checkpoint differs from the one whose config is at hand.
CHANGED: Final[Mapping[str, Mapping[str, object]]] = {
    "meta-llama/Meta-Llama-3-8B-Instruct": {"max_position_embeddings": 8192},
    "Qwen/Qwen2.5-1.5B-Instruct": {"max_position_embeddings": 32_768},
    "Qwen/Qwen3-4B-Thinking-2507": {"max_position_embeddings": 262_144},
    "casperhansen/deepseek-r1-distill-qwen-14b-awq": _LONGER,
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B": _LONGER,
    "DeepSeek-R1-Distill-Qwen-32B-FP8": _LONGER,
    "RedHatAI/DeepSeek-R1-Distill-Qwen-14B-FP8-dynamic": _LONGER,
}

UNNAMED: Final = "the record names no config that is at hand"
UNSAID: Final = "which matrices the checkpoint quantizes, and how, is not said"
UNREAD: Final = "bitsandbytes is not weighed yet"
ADAPTERS: Final = "room was made for adapters of a size that is not said"
INEXACT: Final = "the record does not name one checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One start-up that said what its weights took."""

    id: str
    model: str
    measured: float  # GiB, whatever the log called them
    parameters: float | None = None  # GiB, as they are
    ours: float | None = None  # GiB, as the allocator holds them, with the tables for positions
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
    file, method = said.get("config"), said.get("quantization")
    if file is None or not (MODELS / str(file)).exists():
        return UNNAMED
    if _ranks(said) is None or "thread" in str(said["model"]):
        return INEXACT
    if method == "bitsandbytes":
        return UNREAD
    if "LoRA" in str(said.get("notes")) and _adapter_rank(said) is None:
        return ADAPTERS
    own = quantization(_config(str(file))) is not None
    if method is not None and str(said["model"]) not in MADE and not (own and _same(str(file), str(said["model"]))):
        return UNSAID
    return None


def _same(file: str, model: str) -> bool:
    """Whether the config at hand is that of the checkpoint, or of one that only its numbers tell from it."""
    own = file.removesuffix(".json").replace("__", "/")
    return model.startswith(own) or (own.partition("/")[2] in model and "mxfp4" in model)


def _ranks(said: Mapping[str, object]) -> tuple[int, int] | None:
    tensor, stages = said.get("tp"), said.get("pp")
    if tensor is None and said.get("gpu_count") != 1:
        return None
    return int(str(tensor or 1)), int(str(stages or 1))


@cache
def _config(file: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((MODELS / file).read_text())
    return found


def _weighed(said: Mapping[str, object]) -> tuple[int, int]:
    """Parameters of the heaviest rank, and what it holds once they are loaded."""
    model, (tensor, stages) = str(said["model"]), _ranks(said) or (1, 1)
    config = {**_config(str(said["config"])), **CHANGED.get(model, {})}
    if model in MADE:
        config["quantization_config"] = MADE[model]
    found, kit = geometry(config), Kit(capability=_capability(said), bare="Marlin" in str(said.get("notes")))
    ranks = [Ranks(tensor=tensor, pipeline=stages, stage=stage) for stage in range(stages)]
    parameters = max(int(total(found, each, quantization=quantization(config), kit=kit)) for each in ranks)
    room = adapters(found, served(found), rank) if (rank := _adapter_rank(said)) else 0
    return parameters, room + max(loaded(config, each, kit) for each in ranks)


def _adapter_rank(said: Mapping[str, object]) -> int | None:
    """Of the adapters that room is made for; None where there are none."""
    args = str(said.get("args"))
    found = re.search(r"'max_lora_rank': (\d+)", args)
    return int(found[1]) if found and "'enable_lora': True" in args else None


def _capability(said: Mapping[str, object]) -> Capability:
    """Of the device that the record names; Hopper where it names none that is known."""
    gpu = str(said.get("gpu") or "").lower()
    for device in CATALOGUE.values():
        if device.capability is not None and gpu and (gpu in device.name.lower() or device.name.lower() in gpu):
            return device.capability
    return Kit().capability
