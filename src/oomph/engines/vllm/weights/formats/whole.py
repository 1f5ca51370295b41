"""Whole numbers of four or eight bits: INT8, compressed-tensors' packing, GPTQ and AWQ.

Knows what their layers allocate before loading, where Marlin reads them and where it cannot. Does not know what Marlin
makes of them afterwards.
"""

from typing import Final

from oomph.engines.vllm.weights.formats.shapes import Shape, Share, Stored, ceil
from oomph.errors import UsageError
from oomph.ledger.dtype import Dtype
from oomph.ledger.quantization import Grain, Inputs, Scheme

WORD: Final = 32  # bits of the word that numbers are packed into
MARLIN_HIDDEN: Final = 128  # quantization/utils/marlin_utils.py
MARLIN_GROUPS: Final = (None, 32, 64, 128)
MARLIN_INNER: Final = 64
LEAST_GROUP: Final = 32  # quantization/moe_wna16.py halves groups to no less


def int8(scheme: Scheme, shape: Shape, _dtype: Dtype) -> tuple[Stored, ...]:
    """One matrix of INT8."""
    scales = shape.outputs if scheme.grain is Grain.CHANNEL else len(shape.parts)
    static = scheme.inputs is Inputs.STATIC
    return (
        Stored("weight", Dtype.I8, shape.outputs * shape.inputs),
        Stored("weight_scale", Dtype.F32, scales),
        *((Stored("input_scale", Dtype.F32, 1),) if static else ()),
        *((Stored("input_zero_point", Dtype.I8, 1),) if static and not scheme.centered else ()),
    )


def int8_experts(scheme: Scheme, share: Share, dtype: Dtype) -> tuple[Stored, ...]:
    """All experts of a layer of INT8, which have one scale for every output."""
    if scheme.grain is not Grain.CHANNEL or scheme.inputs is not Inputs.DYNAMIC:
        message = f"{share.name}: experts of INT8 need a scale per output and dynamic inputs: vLLM refuses to start"
        raise UsageError(message)
    return (
        Stored("w13_weight", Dtype.I8, share.count * share.up * share.hidden),
        Stored("w2_weight", Dtype.I8, share.count * share.hidden * share.inner),
        Stored("w13_weight_scale", Dtype.F32, share.count * share.up),
        Stored("w2_weight_scale", Dtype.F32, share.count * share.hidden),
        *share.biases(dtype),
    )


def packed(scheme: Scheme, shape: Shape, dtype: Dtype) -> tuple[Stored, ...]:
    """One matrix of compressed-tensors."""
    groups = shape.whole_groups(scheme.group)
    zeros = Stored("weight_zero_point", Dtype.I32, ceil(shape.outputs * scheme.bits, WORD) * groups)
    return (
        Stored("weight_packed", Dtype.I32, shape.outputs * ceil(shape.inputs * scheme.bits, WORD)),
        Stored("weight_scale", dtype, shape.outputs * groups),
        Stored("weight_shape", Dtype.I64, 2),
        *(() if scheme.symmetric else (zeros,)),
    )


def packed_experts(scheme: Scheme, share: Share, dtype: Dtype) -> tuple[Stored, ...]:
    """All experts of a layer of compressed-tensors."""
    group, bits = scheme.group, scheme.bits
    if group is not None and (share.hidden % group or share.inner % group):
        message = (
            f"{share.name}: {share.hidden} or {share.inner} on one rank is no whole number of groups of {group}: "
            "vLLM refuses to start (use fewer ranks, or --enable-expert-parallel)"
        )
        raise UsageError(message)
    first = 1 if group is None else share.hidden // group
    second = 1 if group is None else share.inner // group
    zeros = (
        Stored("w13_weight_zero_point", Dtype.I32, share.count * (share.up * bits // WORD) * first),
        Stored("w2_weight_zero_point", Dtype.I32, share.count * (share.hidden * bits // WORD) * second),
    )
    return (
        Stored("w13_weight_packed", Dtype.I32, share.count * share.up * (share.hidden * bits // WORD)),
        Stored("w2_weight_packed", Dtype.I32, share.count * share.hidden * (share.inner * bits // WORD)),
        Stored("w13_weight_scale", dtype, share.count * share.up * first),
        Stored("w2_weight_scale", dtype, share.count * share.hidden * second),
        Stored("w13_weight_shape", dtype, share.count * 2),
        Stored("w2_weight_shape", dtype, share.count * 2),
        *(() if scheme.symmetric else zeros),
        *share.biases(dtype),
    )


def gptq(scheme: Scheme, shape: Shape, dtype: Dtype) -> tuple[Stored, ...]:
    """One matrix of GPTQ; it has room for zero points whether it has any or not."""
    groups, per_word = shape.groups(scheme.group), WORD // scheme.bits
    return (
        Stored("qweight", Dtype.I32, shape.inputs // per_word * shape.outputs),
        Stored("scales", dtype, groups * shape.outputs),
        Stored("qzeros", Dtype.I32, groups * (shape.outputs // per_word)),
    )


def gptq_experts(scheme: Scheme, share: Share, dtype: Dtype) -> tuple[Stored, ...]:
    """All experts of a layer of GPTQ; they have room for biases whether the model has any or not."""
    first = 1 if scheme.group is None else share.hidden // scheme.group
    second = 1 if scheme.group is None else share.inner // scheme.group
    per_word = WORD // scheme.bits
    return (
        Stored("w13_qweight", Dtype.I32, share.count * (share.hidden // per_word) * share.up),
        Stored("w2_qweight", Dtype.I32, share.count * (share.inner // per_word) * share.hidden),
        Stored("w13_scales", dtype, share.count * first * share.up),
        Stored("w2_scales", dtype, share.count * second * share.hidden),
        Stored("w13_qzeros", Dtype.I32, share.count * first * (share.up // per_word)),
        Stored("w2_qzeros", Dtype.I32, share.count * second * (share.hidden // per_word)),
        *share.biases(dtype, always=True),
    )


def awq(scheme: Scheme, shape: Shape, dtype: Dtype) -> tuple[Stored, ...]:
    """One matrix of AWQ; one group for all inputs counts the undivided ones."""
    per_word, wide = WORD // scheme.bits, scheme.group is None or scheme.group >= shape.whole
    groups = shape.inputs // (scheme.group or shape.whole) if wide else shape.whole_groups(scheme.group)
    return (
        Stored("qweight", Dtype.I32, shape.inputs * (shape.outputs // per_word)),
        Stored("qzeros", Dtype.I32, groups * (shape.outputs // per_word)),
        Stored("scales", dtype, groups * shape.outputs),
    )


def awq_experts(scheme: Scheme, share: Share, dtype: Dtype) -> tuple[Stored, ...]:
    """All experts of a layer of AWQ."""
    group, per_word = scheme.group or 1, WORD // scheme.bits
    first, second = share.hidden // group, share.inner // group
    return (
        Stored("w13_qweight", Dtype.I32, share.count * share.hidden * (share.up // per_word)),
        Stored("w2_qweight", Dtype.I32, share.count * share.inner * (share.hidden // per_word)),
        Stored("w13_scales", dtype, share.count * first * share.up),
        Stored("w2_scales", dtype, share.count * second * share.hidden),
        Stored("w13_qzeros", Dtype.I32, share.count * first * (share.up // per_word)),
        Stored("w2_qzeros", Dtype.I32, share.count * second * (share.hidden // per_word)),
    )


def marlin_runs(scheme: Scheme, share: Share, *, padded: bool) -> bool:
    """Whether Marlin takes these experts; `padded` is whether their width may be filled up to its tiles."""
    group = scheme.group
    step = (group or 1) if padded else max(MARLIN_INNER, group or 0)
    return share.hidden % MARLIN_HIDDEN == 0 and share.inner % step == 0 and group in MARLIN_GROUPS


def bytewise_experts(scheme: Scheme, share: Share, dtype: Dtype) -> tuple[Stored, ...]:
    """All experts of a layer for the kernels that Marlin is not; groups that ranks would share are halved."""
    group, per_byte = scheme.group or 0, 8 // scheme.bits
    while group >= LEAST_GROUP and (share.inner % group or share.hidden % group):
        group //= 2
    if group < LEAST_GROUP:
        message = f"{share.name}: experts {share.inner} wide on one rank cannot be cut into groups: vLLM refuses"
        raise UsageError(message)
    first, second = share.hidden // group, share.inner // group
    zeros = (
        Stored("w13_qzeros", Dtype.U8, share.count * (share.up // per_byte) * first),
        Stored("w2_qzeros", Dtype.U8, share.count * (share.hidden // per_byte) * second),
    )
    return (
        Stored("w13_qweight", Dtype.U8, share.count * share.up * (share.hidden // per_byte)),
        Stored("w2_qweight", Dtype.U8, share.count * share.hidden * (share.inner // per_byte)),
        Stored("w13_scales", dtype, share.count * share.up * first),
        Stored("w2_scales", dtype, share.count * share.hidden * second),
        *(() if scheme.symmetric else zeros),
    )
