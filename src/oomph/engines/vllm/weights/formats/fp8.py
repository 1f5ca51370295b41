"""Eight-bit floats with scales per tensor, per output or per block.

Knows `layers/quantization/fp8.py` and the FP8 schemes of compressed-tensors and ModelOpt, which allocate alike. Does
not know what kernels make of the tensors once they are loaded.
"""

import math
from typing import Final

from oomph.engines.vllm.weights.formats.shapes import Shape, Share, Stored, ceil
from oomph.errors import UsageError
from oomph.ledger.dtype import Dtype
from oomph.ledger.quantization import Grain, Inputs, Scheme

LEAST_BLOCK: Final = 32  # fused_moe/oracle/fp8.py refines blocks to no less


def linear(scheme: Scheme, shape: Shape, _dtype: Dtype) -> tuple[Stored, ...]:
    """One matrix."""
    scales = {
        Grain.TENSOR: len(shape.parts),
        Grain.CHANNEL: shape.outputs,
        Grain.BLOCK: _blocks(scheme, shape),
    }[scheme.grain]
    static = scheme.inputs is Inputs.STATIC
    return (
        Stored("weight", Dtype.F8_E4M3, shape.outputs * shape.inputs),
        Stored("weight_scale", scheme.scale, scales),
        *((Stored("input_scale", Dtype.F32, len(shape.parts)),) if static else ()),
    )


def experts(scheme: Scheme, share: Share, dtype: Dtype, *, native: bool) -> tuple[Stored, ...]:
    """All experts of a layer.

    The engine's `native` FP8 makes blocks that ranks would share smaller, and has biases; its other readers of FP8
    refuse the former and forget the latter.
    """
    first, second = _expert_scales(scheme, share, refines=native)
    static = scheme.inputs is Inputs.STATIC
    inputs = (Stored("w13_input_scale", Dtype.F32, share.count), Stored("w2_input_scale", Dtype.F32, share.count))
    return (
        Stored("w13_weight", Dtype.F8_E4M3, share.count * share.up * share.hidden),
        Stored("w2_weight", Dtype.F8_E4M3, share.count * share.hidden * share.inner),
        Stored("w13_weight_scale", Dtype.F32, share.count * first),
        Stored("w2_weight_scale", Dtype.F32, share.count * second),
        *(inputs if static else ()),
        *(share.biases(dtype) if native else ()),
    )


def _blocks(scheme: Scheme, shape: Shape) -> int:
    """Scales of a matrix by blocks; a block that two ranks would share is refused."""
    if scheme.block is None:
        return 0
    rows, columns = scheme.block
    row_parallel = shape.inputs != shape.whole
    if row_parallel and shape.inputs % columns:
        raise _torn(shape.name, shape.inputs, columns)
    if shape.divided and len(shape.parts) == 1 and shape.outputs % rows:
        raise _torn(shape.name, shape.outputs, rows)
    return ceil(shape.outputs, rows) * ceil(shape.inputs, columns)


def _expert_scales(scheme: Scheme, share: Share, *, refines: bool) -> tuple[int, int]:
    """Of one expert's maps up and down."""
    match scheme.grain:
        case Grain.TENSOR:
            return share.shards, 1
        case Grain.CHANNEL:
            return share.up, share.hidden
        case _:
            rows, columns = _expert_block(scheme, share, refines=refines)
            up = share.shards * ceil(share.inner, rows) * ceil(share.hidden, columns)
            return up, ceil(share.hidden, rows) * ceil(share.inner, columns)


def _expert_block(scheme: Scheme, share: Share, *, refines: bool) -> tuple[int, int]:
    """The block, made small enough that no two ranks share one."""
    rows, columns = scheme.block or (1, 1)
    if share.inner % rows == 0 and (not share.divided or share.inner % columns == 0):
        return rows, columns
    finer = math.gcd(rows, columns, share.inner, share.hidden)
    if not refines or finer < LEAST_BLOCK:
        raise _torn(share.name, share.inner, rows)
    return finer, finer


def _torn(name: str, size: int, block: int) -> UsageError:
    return UsageError(
        f"{name}: {size} on one rank is no whole number of blocks of {block}: vLLM refuses to start (use fewer ranks)"
    )
