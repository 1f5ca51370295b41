"""Environment variables that come with a command: which of them the engine hears, and which are nobody's business.

Knows prefixes. Does not know what a variable does. Reads nothing from the environment of this process.
"""

from collections.abc import Mapping
from typing import Final

from oomph.readers.words import holes

_HEARD: Final = (
    "VLLM_",
    "CUDA_",
    "NCCL_",
    "NVIDIA_VISIBLE_DEVICES",
    "PYTORCH_",
    "TORCH_",
    "TORCHINDUCTOR_",
    "FLASHINFER_",
    "HF_",
    "HUGGINGFACE_",
    "TRANSFORMERS_",
    "LMCACHE_",
    "RAY_",
    "HIP_",
    "ROCR_",
    "OMP_NUM_THREADS",
)
_SECRET: Final = ("TOKEN", "KEY", "SECRET", "PASSWORD")


def heard(name: str) -> bool:
    """Whether the engine, or a library below it, reads this variable, and it is no secret."""
    return name.startswith(_HEARD) and name.isupper() and not any(part in _SECRET for part in name.split("_"))


def kept(environment: Mapping[str, str]) -> dict[str, str]:
    """What the engine hears, by name; a value that only a running shell knows is left out."""
    return {name: value for name, value in environment.items() if heard(name) and not holes(value)}


def unseen(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Names whose value only a running shell knows."""
    return tuple(name for name, value in environment.items() if heard(name) and holes(value))


def visible(devices: str | None) -> int | None:
    """How many GPUs a list such as `0,1` names; None for all of them."""
    if devices is None or devices == "all":
        return None
    if devices in {"none", "void"}:
        return 0
    names = [name.strip() for name in devices.split(",")]
    return len([name for name in names[: names.index("-1")] if name]) if "-1" in names else sum(map(bool, names))
