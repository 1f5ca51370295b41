"""Scales for queries, keys and values, which quantized checkpoints may bring and for which there is room until loaded.

Knows `layers/quantization/kv_cache.py` and what each config makes of it.
"""

from typing import Final

from oomph.engines.vllm.weights.formats.shapes import Stored
from oomph.engines.vllm.weights.ranks import part_outputs
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Latent, Layer
from oomph.ledger.quantization import Method, Quantization
from oomph.ledger.weights import Part

_NAMES: Final = ("q_scale", "k_scale", "v_scale", "prob_scale")


def scales(quantization: Quantization, layer: Layer, ranks: int, dtype: Dtype) -> tuple[Stored, ...]:
    """Of one layer."""
    heads = [mixer for mixer in layer.mixers if isinstance(mixer, Attention)]
    latent = sum(isinstance(mixer, Latent) for mixer in layer.mixers)
    match quantization.method:
        case Method.FP8:
            return _plain(len(heads), dtype)
        case Method.MODELOPT:
            return _plain(len(heads) + latent, dtype)
        case Method.MIXED:
            return _plain(len(heads), dtype) if quantization.cache_scales else ()
        case Method.GROUPS:
            return tuple(
                stored for mixer in heads for stored in _with_zero_points(_count(quantization, mixer, ranks), dtype)
            )
        case _:
            return ()


def _plain(mixers: int, dtype: Dtype) -> tuple[Stored, ...]:
    """One of each, in the model's own format."""
    return tuple(Stored(f"attn.{name}", dtype, mixers) for name in _NAMES) if mixers else ()


def _with_zero_points(count: int, dtype: Dtype) -> tuple[Stored, ...]:
    names = _NAMES[:3]
    points = (name.replace("scale", "zero_point") for name in names)
    return (
        *(Stored(f"attn.{name}", Dtype.F32, count) for name in names),
        *(Stored(f"attn.{name}", dtype, count) for name in points),
    )


def _count(quantization: Quantization, mixer: Attention, ranks: int) -> int:
    """One, or one for every KV head of the rank."""
    if not quantization.cache_heads:
        return 1
    return part_outputs(Part(outputs=mixer.kv_heads, heads=mixer.kv_heads), ranks, "KV heads")
