"""The format in which vLLM serves a model's own numbers when `--dtype` is `auto`.

Knows `_resolve_auto_dtype` of `config/model.py`. Does not know `--dtype` itself, nor what quantized weights take.
"""

from typing import Final

from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry

# Architectures of the model types that `_FLOAT16_NOT_SUPPORTED_MODELS` of config/model.py lists as unstable in float16.
UNSTABLE_IN_F16: Final = frozenset(
    {"Gemma2ForCausalLM", "Gemma3ForCausalLM", "Gemma3ForConditionalGeneration", "Glm4ForCausalLM"}
)


def served(geometry: Geometry, *, bfloat16: bool = True) -> Dtype:
    """Of weights that are not quantized; `bfloat16` is whether the device has it (compute capability 8.0 and above)."""
    formats = [Dtype.BF16] if bfloat16 else []
    if geometry.architecture not in UNSTABLE_IN_F16:
        formats.append(Dtype.F16)
    formats.append(Dtype.F32)
    stored = geometry.dtype if geometry.dtype is not Dtype.F32 else formats[0]  # never at full width by itself
    return stored if stored in formats else formats[0]
