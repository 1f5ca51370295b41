"""Four-bit floats, and the eight-bit ones that share their scales: NVFP4, MXFP4, MXFP8; and bitsandbytes' NF4.

Knows what `modelopt.py`, `mxfp4.py`, `bitsandbytes.py` and compressed-tensors allocate for them, and how the kernels
for MXFP4 experts pad them. Does not know the kernels.
"""

from enum import Enum
from typing import Final

from oomph.engines.vllm.weights.formats.shapes import Shape, Share, Stored, ceil
from oomph.engines.vllm.weights.kit import HOPPER, Kit
from oomph.ledger.dtype import Dtype
from oomph.ledger.quantization import Format, Inputs, Scheme

BLACKWELL: Final = 10  # of the data centre; the consumers' is 12
MX_GROUP: Final = 32
NV_GROUP: Final = 16
NF_GROUP: Final = 64


class Pad(Enum):
    """What a kernel for MXFP4 experts pads the width of an expert, and of the model, to multiples of."""

    NOT = (1, 1)
    TRITON = (64, 1)  # and Humming
    MARLIN = (128, 256)  # and FlashInfer's of TensorRT-LLM
    DEEPGEMM = (128, 128)


def nvfp4(scheme: Scheme, shape: Shape, dtype: Dtype) -> tuple[Stored, ...]:
    """One matrix."""
    scales = {Inputs.PLAIN: None, Inputs.DROPPED: dtype}.get(scheme.inputs, Dtype.F32)
    return (
        Stored("weight", Dtype.U8, shape.outputs * (shape.inputs // 2)),
        Stored("weight_scale", Dtype.F8_E4M3, shape.outputs * (shape.inputs // (scheme.group or NV_GROUP))),
        Stored("weight_scale_2", Dtype.F32, len(shape.parts)),
        *(() if scales is None else (Stored("input_scale", scales, len(shape.parts)),)),
    )


def nvfp4_experts(scheme: Scheme, share: Share, kit: Kit) -> tuple[Stored, ...]:
    """All experts of a layer; some kernels keep the input scales of other ranks' experts too."""
    group = scheme.group or NV_GROUP
    known = share.total if kit.capability.major >= BLACKWELL and not kit.bare else share.count
    return (
        Stored("w13_weight", Dtype.U8, share.count * share.up * (share.hidden // 2)),
        Stored("w2_weight", Dtype.U8, share.count * share.hidden * (share.inner // 2)),
        Stored("w13_weight_scale", Dtype.F8_E4M3, share.count * share.up * (share.hidden // group)),
        Stored("w2_weight_scale", Dtype.F8_E4M3, share.count * share.hidden * (share.inner // group)),
        Stored("w13_weight_scale_2", Dtype.F32, share.count * share.shards),
        Stored("w2_weight_scale_2", Dtype.F32, share.count),
        Stored("w13_input_scale", Dtype.F32, known * share.shards),
        Stored("w2_input_scale", Dtype.F32, known),
    )


def mx(scheme: Scheme, shape: Shape, _dtype: Dtype) -> tuple[Stored, ...]:
    """One matrix of MXFP4 or MXFP8."""
    return (
        Stored("weight", _number(scheme), shape.outputs * (shape.inputs * scheme.bits // 8)),
        Stored("weight_scale", Dtype.U8, shape.outputs * (shape.inputs // MX_GROUP)),
    )


def mx_experts(scheme: Scheme, share: Share, pad: Pad = Pad.NOT) -> tuple[Stored, ...]:
    """All experts of a layer, padded for their kernel; biases are never narrower than bfloat16."""
    narrow, wide = pad.value
    inner, hidden = ceil(share.inner, narrow) * narrow, ceil(share.hidden, wide) * wide
    up = share.shards * inner
    biases = (Stored("w13_bias", Dtype.BF16, share.count * up), Stored("w2_bias", Dtype.BF16, share.count * hidden))
    return (
        Stored("w13_weight", _number(scheme), share.count * up * (hidden * scheme.bits // 8)),
        Stored("w13_weight_scale", Dtype.U8, share.count * up * (hidden // MX_GROUP)),
        Stored("w2_weight", _number(scheme), share.count * hidden * (inner * scheme.bits // 8)),
        Stored("w2_weight_scale", Dtype.U8, share.count * hidden * (inner // MX_GROUP)),
        *(biases if share.bias else ()),
    )


def nf4(scheme: Scheme, shape: Shape, _dtype: Dtype) -> tuple[Stored, ...]:
    """One matrix of bitsandbytes; its scales may be kept in fewer bits themselves."""
    return _nf4("weight", scheme, shape.outputs * shape.inputs)


def nf4_experts(scheme: Scheme, share: Share, _dtype: Dtype) -> tuple[Stored, ...]:
    """All experts of a layer."""
    up, down = share.up * share.hidden, share.hidden * share.inner
    return (*_nf4("w13_weight", scheme, share.count * up), *_nf4("w2_weight", scheme, share.count * down))


def _nf4(name: str, scheme: Scheme, numbers: int) -> tuple[Stored, ...]:
    scales = ceil(numbers, scheme.group or NF_GROUP)
    return Stored(name, Dtype.U8, ceil(numbers, 2)), Stored(f"{name}.absmax", scheme.scale, scales)


def _number(scheme: Scheme) -> Dtype:
    """Numbers of four bits lie in pairs."""
    return Dtype.U8 if scheme.format is Format.MXFP4 else Dtype.F8_E4M3


def gpt_oss_pad(kit: Kit) -> Pad:
    """The first kernel of `_get_priority_backends_for_gpt_oss` that runs there (fused_moe/oracle/mxfp4.py)."""
    return Pad.TRITON if kit.capability == HOPPER and kit.triton and not kit.bare else Pad.MARLIN


def deepseek_pad(kit: Kit) -> Pad:
    """The first kernel of `_get_priority_backends` that runs there (fused_moe/oracle/mxfp4.py)."""
    if kit.bare or kit.capability.major in {8, BLACKWELL}:
        return Pad.MARLIN
    return Pad.TRITON if kit.capability == HOPPER else Pad.DEEPGEMM
