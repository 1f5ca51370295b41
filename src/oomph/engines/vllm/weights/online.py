"""Formats that the engine gives a checkpoint while it loads it, and those that it only reads by another name.

Knows which `--quantization` changes what is stored, which changes nothing, and which releases held the whole model
in 16 bits first. Does not know formats: `quantized` weighs them.
"""

from collections.abc import Mapping
from typing import Final

from oomph.engines.history import Release, Since
from oomph.errors import UsageError
from oomph.ledger.quantization import Format, Grain, Inputs, Method, Quantization, Scheme

# Whether a model that is quantized while it is loaded is on the device in 16 bits first, all of it.
whole_first: Final = Since(
    {
        "0.6.0": True,  # model_executor/layers/quantization/fp8.py
        "0.16.0": False,  # model_executor/layers/quantization/fp8.py
    }
)

# Whether bitsandbytes is among the formats.
bitsandbytes: Final = Since(
    {
        "0.6.0": True,  # model_executor/layers/quantization/__init__.py
        "0.28.0": False,  # model_executor/layers/quantization/__init__.py
    }
)


def _fp8(grain: Grain, block: tuple[int, int] | None = None) -> Quantization:
    scheme = Scheme(format=Format.FP8, bits=8, grain=grain, block=block, inputs=Inputs.DYNAMIC)
    return Quantization(method=Method.FP8, scheme=scheme)


_NF4: Final = Scheme(format=Format.NF4, bits=4, grain=Grain.GROUP, group=64)
_MXFP8: Final = Scheme(format=Format.MXFP8, bits=8, grain=Grain.GROUP, group=32)

# What each name makes of a checkpoint that is stored in the model's own format.
MADE: Final[Mapping[str, Quantization]] = {
    "bitsandbytes": Quantization(method=Method.BITSANDBYTES, scheme=_NF4),
    "fp8": _fp8(Grain.TENSOR),
    "fp8_per_block": _fp8(Grain.BLOCK, (128, 128)),
    "fp8_per_channel": _fp8(Grain.CHANNEL),
    "fp8_per_tensor": _fp8(Grain.TENSOR),
    "mxfp8": Quantization(method=Method.FP8, scheme=_MXFP8),
    "ptpc_fp8": _fp8(Grain.CHANNEL),
}
# The names under which a checkpoint is read as it is stored.
READ: Final[Mapping[Method, frozenset[str]]] = {
    Method.AWQ: frozenset({"auto_awq", "awq", "awq_marlin", "moe_wna16"}),
    Method.BITSANDBYTES: frozenset({"bitsandbytes"}),
    Method.FP8: frozenset({"deepseek_v4_fp8", "fp8"}),
    Method.GPTQ: frozenset({"auto_gptq", "gptq", "gptq_bitblas", "gptq_marlin", "gptq_marlin_24", "moe_wna16"}),
    Method.GROUPS: frozenset({"compressed-tensors"}),
    Method.MIXED: frozenset({"modelopt", "modelopt_fp4", "modelopt_mixed", "modelopt_mxfp8"}),
    Method.MODELOPT: frozenset({"modelopt", "modelopt_fp4", "modelopt_mixed", "modelopt_mxfp8", "mxfp8"}),
    Method.MXFP4: frozenset({"gpt_oss_mxfp4", "mxfp4"}),
    Method.ROUNDED: frozenset({"auto-round", "awq", "awq_marlin", "gptq", "gptq_marlin", "inc"}),
}


def known(named: str | None, stored: Quantization | None) -> bool:
    """Whether it is known what this name makes of a checkpoint that is stored so."""
    if named is None:
        return True
    return named in MADE if stored is None else named in READ[stored.method]


def made(named: str | None, stored: Quantization | None) -> Quantization | None:
    """How the engine keeps the checkpoint; as it is stored where the name changes nothing, or is not known."""
    return MADE.get(named or "") if stored is None else stored


def converts(named: str | None, stored: Quantization | None) -> bool:
    """Whether the engine makes the format while it loads."""
    return stored is None and (named or "") in MADE


def refuse_gone(kept: Quantization | None, release: Release) -> None:
    """Refuse a format that the release has no more."""
    if kept is not None and kept.method is Method.BITSANDBYTES and not bitsandbytes.at(release):
        message = (
            f"vLLM {release} cannot read bitsandbytes any more: it refuses to start (serve another format, "
            "use --quantization fp8 on one that is not quantized, or a release before 0.28.0)"
        )
        raise UsageError(message)
