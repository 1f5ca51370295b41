"""The model of a start-up: its geometry and how its weights are stored, as far as the record determines them.

Knows which configs are at hand, and what is known of checkpoints whose own config is not. Does not know anything else
of a start-up.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from oomph.architectures.registry import geometry
from oomph.architectures.stored.quantization import quantization
from oomph.engines.vllm.model import Model

ROOT: Final = Path(__file__).parents[2]
SHARED: Final = ROOT.parent / "shared"
MODELS: Final = SHARED / "models"

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
    "Qwen/Qwen2-0.5B-Instruct": {"max_position_embeddings": 32_768},
    "Qwen/Qwen2.5-0.5B-Instruct": {"max_position_embeddings": 32_768},
    "Qwen/Qwen2.5-1.5B-Instruct": {"max_position_embeddings": 32_768},
    "Qwen/Qwen3-4B-Thinking-2507": {"max_position_embeddings": 262_144},
    "casperhansen/deepseek-r1-distill-qwen-14b-awq": _LONGER,
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B": _LONGER,
    "DeepSeek-R1-Distill-Qwen-32B-FP8": _LONGER,
    "RedHatAI/DeepSeek-R1-Distill-Qwen-14B-FP8-dynamic": _LONGER,
}
_FORMATS: Final = re.compile(
    r"int4|autoround|awq|gptq|fp8|fp4|4.?bit|exl3|container|deployment|build|thread", re.IGNORECASE
)
# Checkpoints of which the record names no config, though that of the same shapes is at hand.
NAMED: Final[Mapping[str, str]] = {"Qwen/Qwen2-0.5B-Instruct": "Qwen__Qwen2-0.5B.json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The model of a record, and whether it is known how its weights are stored."""

    model: Model
    stored: bool  # else the weights are not to be derived: the format is not said


def file_of(said: Mapping[str, object]) -> str | None:
    """The config at hand that a record names, or whose shapes its model is known to have."""
    file = said.get("config") or NAMED.get(str(said["model"]))
    return str(file) if file is not None and (MODELS / str(file)).exists() else None


@cache
def read(file: str) -> dict[str, object]:
    """A config that is at hand."""
    found: dict[str, object] = json.loads((MODELS / file).read_text())
    return found


@cache
def beside(file: str) -> dict[str, object] | None:
    """The file of ModelOpt that stands beside it, where there is one."""
    path = MODELS / file.replace(".json", ".hf_quant_config.json")
    found: dict[str, object] | None = json.loads(path.read_text()) if path.exists() else None
    return found


def config_of(file: str, model: str) -> dict[str, object]:
    """The config of a checkpoint: of the file at hand, with what is known to differ."""
    config = {**read(file), **CHANGED.get(model, {})}
    return {**config, "quantization_config": MADE[model]} if model in MADE else config


def stored(said: Mapping[str, object], file: str) -> bool:
    """Whether the format of the weights is known: nothing speaks of one, or the config is of the very checkpoint."""
    model = str(said["model"])
    if model in MADE:
        return True
    if quantization(read(file), beside(file)) is not None:
        return same(file, model)
    return said.get("quantization") is None and _FORMATS.search(model) is None


def same(file: str, model: str) -> bool:
    """Whether the config at hand is that of the checkpoint, or of one that only its numbers tell from it."""
    own = file.removesuffix(".json").replace("__", "/")
    return model.startswith(own) or (own.partition("/")[2] in model and "mxfp4" in model)


def checkpoint(said: Mapping[str, object]) -> Checkpoint | None:
    """The model of a record; None where no config of it is at hand."""
    file, name = file_of(said), str(said["model"])
    if file is None:
        return None
    known = stored(said, file)
    return Checkpoint(model=_model(file, name, known=known), stored=known)


@cache
def _model(file: str, name: str, *, known: bool) -> Model:
    config = config_of(file, name)
    formats = quantization(config, beside(file)) if known else None
    return Model(name=name, geometry=geometry(config), quantization=formats)
