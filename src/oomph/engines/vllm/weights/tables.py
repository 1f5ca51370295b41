"""The tables of cosines and sines that one rank keeps for the ways in which a model turns heads by position.

Knows how many rows vLLM gives them (`layers/rotary_embedding/`), and which models it leaves to transformers, which
keeps none. Does not know the few rows that towers have for pictures.
"""

from collections.abc import Iterator
from typing import Final

from oomph.engines.history import Release, Since
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry
from oomph.ledger.rotary import Rotary, Stretch
from oomph.units import Bytes

_GRIDS: Final = 4  # times as many rows where positions have a time, a height and a width
_WITHOUT_SPARE: Final = frozenset(
    {
        "Qwen3VLForConditionalGeneration",
        "Qwen3VLMoeForConditionalGeneration",
        "Qwen3_5ForCausalLM",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForCausalLM",
        "Qwen3_5MoeForConditionalGeneration",
    }
)

# Whose tables have as many rows as there are positions, although those have several axes.
without_spare: Final[Since[frozenset[str]]] = Since(
    {
        "0.6.0": frozenset(),  # model_executor/layers/rotary_embedding.py
        "0.32.0": _WITHOUT_SPARE,  # model_executor/models/qwen3_vl.py
    }
)

# Whether a table that is stretched dynamically has rows for the longer context.
dynamic_rows: Final = Since(
    {
        "0.6.0": True,  # model_executor/layers/rotary_embedding.py
        "0.22.0": False,  # model_executor/layers/rotary_embedding/dynamic_ntk_scaling_rope.py
    }
)

_SMOL: Final = frozenset({"SmolLM3ForCausalLM"})
_STAR: Final = _SMOL | {"Starcoder2ForCausalLM"}
_OLMO2: Final = _STAR | {"Olmo2ForCausalLM"}
_OLMO3: Final = _OLMO2 | {"Olmo3ForCausalLM"}
_MANY: Final = _OLMO3 | {"ArceeForCausalLM", "GlmForCausalLM", "PhiForCausalLM", "SeedOssForCausalLM"}

# The architectures that transformers runs, which computes angles instead of keeping them.
by_transformers: Final[Since[frozenset[str]]] = Since(
    {
        "0.6.0": _SMOL,  # model_executor/models/__init__.py
        "0.25.0": _STAR,  # model_executor/models/registry.py
        "0.26.0": _OLMO2,  # model_executor/models/registry.py
        "0.29.0": _OLMO3,  # model_executor/models/registry.py
        "0.32.0": _MANY,  # model_executor/models/registry.py
    }
)


def tables(geometry: Geometry, dtype: Dtype, release: Release) -> Iterator[Bytes]:
    """Every table by itself; `dtype` is the one that the model is served in."""
    if geometry.architecture in by_transformers.at(release):
        return
    spare = 1 if geometry.architecture in without_spare.at(release) else _GRIDS
    for rotary in geometry.rotary:
        rows = _rows(rotary, release) * (spare if rotary.axes else 1)
        yield (rotary.dtype or dtype).size(rows * rotary.width)


def _rows(rotary: Rotary, release: Release) -> int:
    match rotary.stretch:
        case Stretch.LINEAR:
            return int(rotary.tokens * rotary.factor)
        case Stretch.DYNAMIC:
            return int(rotary.tokens * rotary.factor) if dynamic_rows.at(release) else rotary.tokens
        case Stretch.YARN:
            return int((rotary.original or rotary.tokens) * rotary.factor)
        case Stretch.LONG:
            return rotary.tokens + (rotary.original or 0)
        case _:
            return rotary.tokens
