"""How checkpoints whose own config is not at hand store their weights: by the usual recipe of what their name says.

Knows recipes. That a checkpoint followed one is an assumption, and the page says so.
"""

from collections.abc import Mapping
from typing import Final

from oomph.architectures.registry import geometry, quantization
from oomph.engines.vllm.model import Model
from oomph.ledger.ledger import Account, Basis, Entry
from oomph.units import GIB, Bounds
from scored.configs import beside, read

_GPTQ: Final = {"quant_method": "gptq", "group_size": 128, "desc_act": False, "sym": True}
_AWQ: Final = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"}
_SEES: Final = ["visual", "vision_tower", "multi_modal_projector"]
RECIPES: Final[Mapping[str, Mapping[str, object]]] = {
    "AWQ in groups of 128": _AWQ,
    "AWQ in groups of 128, but for what sees": {**_AWQ, "modules_to_not_convert": _SEES},
    "4 bits in groups of 128": {**_GPTQ, "bits": 4},
    "8 bits in groups of 128": {**_GPTQ, "bits": 8},
    "8-bit floats in blocks of 128": {
        "quant_method": "fp8",
        "activation_scheme": "dynamic",
        "weight_block_size": [128, 128],
    },
}


def model(name: str, file: str, *, recipe: str | None, context: int | None, told: tuple[float, float] | None) -> Model:
    """Of a config at hand; `context`: of this checkpoint; `told`: GiB that loading took, between these two."""
    config = dict(read(file))
    if context is not None:
        config["max_position_embeddings"] = context
    if recipe is not None:
        config["quantization_config"] = dict(RECIPES[recipe])
    stored = quantization(config, None if recipe is not None else beside(file))
    return Model(name=name, geometry=geometry(config), quantization=stored, weights=_weights(told))


def _weights(told: tuple[float, float] | None) -> Entry | None:
    if told is None:
        return None
    size = Bounds(*(round(end * GIB) for end in told))
    return Entry(account=Account.WEIGHTS, size=size, basis=Basis.OBSERVED, because="as the record says")
