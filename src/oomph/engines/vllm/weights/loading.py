"""What flags say of the weights: their format, what is loaded beside them, and what is kept elsewhere.

Knows `--dtype`, `--quantization`, adapters, offloading and the towers. Does not know what any of it weighs.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from oomph.engines.vllm.speculation import Speculation, speculation
from oomph.engines.vllm.weights.served import served
from oomph.errors import UsageError
from oomph.ledger.device import Capability
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry
from oomph.ledger.same import Same
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB

DTYPES: Final = {
    "bfloat16": Dtype.BF16,
    "float": Dtype.F32,
    "float16": Dtype.F16,
    "float32": Dtype.F32,
    "half": Dtype.F16,
}
_WITH_BFLOAT16: Final = 8  # major number of the compute capability (platforms/cuda.py)
_USUAL_RANK: Final = 16  # of adapters (config/lora.py)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapters:
    """Room that is made for adapters."""

    slots: int = 1  # --max-loras: that are on the device at once
    rank: int = _USUAL_RANK  # --max-lora-rank
    dtype: Dtype | None = None  # --lora-dtype; None: the model's own
    divided: bool = False  # --fully-sharded-loras
    listed: bool = False  # --lora-target-modules: only for those that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """How the weights of one model are loaded."""

    dtype: Dtype | None = None  # --dtype; None: as the model asks
    format: str | None = None  # --quantization
    reader: str = "auto"  # --load-format
    towers: bool = True
    guessing: Speculation
    adapters: Adapters | None = None
    offloaded: int = 0  # bytes of each rank that may stay with the host (--cpu-offload-gb)
    balanced: bool = False  # --enable-eplb


_READ: Final = (
    "dtype",
    "quantization",
    "load_format",
    "language_model_only",
    "enable_lora",
    "max_loras",
    "max_lora_rank",
    "lora_dtype",
    "fully_sharded_loras",
    "lora_target_modules",
    "cpu_offload_gb",
    "enable_eplb",
)


def loading(flags: Flags) -> Loading:
    """What the flags ask for."""
    return _once(Same(flags))


@lru_cache(maxsize=8)
def _once(flags: Same[Flags]) -> Loading:
    """A plan asks this of the same flags several times."""
    return _loading(speculation(flags.it), *map(flags.it.get, _READ))


@lru_cache(maxsize=256)
def _loading(guessing: Speculation, *values: Value) -> Loading:
    said = Flags({name: value for name, value in zip(_READ, values, strict=True) if value is not None})
    named = said.get("quantization")
    return Loading(
        dtype=_named(said, "dtype"),
        format=_format(named) if isinstance(named, str) and named.lower() not in {"none", "auto"} else None,
        reader=str(said.get("load_format", "auto")),
        towers=not said.switch("language_model_only", default=False),
        guessing=guessing,
        adapters=_adapters(said) if said.switch("enable_lora", default=False) else None,
        offloaded=_offloaded(said),
        balanced=said.switch("enable_eplb", default=False),
    )


def served_in(geometry: Geometry, asked: Loading, capability: Capability | None) -> Dtype:
    """In which the model's own numbers are served; vLLM refuses what the device does not have."""
    bfloat16 = capability is None or capability.major >= _WITH_BFLOAT16
    if asked.dtype is Dtype.BF16 and not bfloat16:
        message = (
            f"--dtype bfloat16 needs a device of compute capability {_WITH_BFLOAT16}.0, this one has {capability}: "
            "vLLM refuses to start (write --dtype half)"
        )
        raise UsageError(message)
    return asked.dtype or served(geometry, bfloat16=bfloat16)


def _named(said: Flags, name: str) -> Dtype | None:
    value = str(said.get(name, "auto"))
    if value != "auto" and value not in DTYPES:
        message = f"--{name.replace('_', '-')} {value[:40]}: not among auto, {', '.join(DTYPES)}"
        raise UsageError(message)
    return DTYPES.get(value)


def _adapters(said: Flags) -> Adapters:
    return Adapters(
        slots=said.count("max_loras"),
        rank=said.positive("max_lora_rank") or _USUAL_RANK,
        dtype=_named(said, "lora_dtype"),
        divided=said.switch("fully_sharded_loras", default=False),
        listed="lora_target_modules" in said,
    )


def _offloaded(said: Flags) -> int:
    value = said.get("cpu_offload_gb", 0)
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
    return int(value * GIB) if good and isinstance(value, int | float) else 0


def _format(named: str) -> str:
    """As vLLM names it; `auto_round` is written in both ways."""
    return "auto-round" if named.lower() == "auto_round" else named.lower()
