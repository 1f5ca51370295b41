"""Configs with one scheme and a list of exceptions: FP8, MXFP4, AWQ, bitsandbytes.

Knows `fp8.py`, `mxfp4.py`, `auto_awq.py` and `bitsandbytes.py` of `layers/quantization/`.
"""

from oomph.engines.vllm.weights.methods.module import Choice, Kind, Module, Rename, exactly, within
from oomph.ledger.quantization import Quantization, Scheme


def fp8(quantization: Quantization, rename: Rename) -> Choice:
    """All matrices and experts that are not listed by their full names."""
    skipped = exactly(map(rename, quantization.ignore))

    def choose(module: Module) -> Scheme | None:
        if module.kind not in {Kind.LINEAR, Kind.EXPERTS} or skipped(module):
            return None
        own = quantization.experts if module.kind is Kind.EXPERTS else None
        return own or quantization.scheme

    return choose


def mxfp4(quantization: Quantization, _rename: Rename) -> Choice:
    """Experts alone, whatever the config lists."""
    return lambda module: quantization.scheme if module.kind is Kind.EXPERTS else None


def awq(quantization: Quantization, rename: Rename) -> Choice:
    """All whose names have nothing of the list in them."""
    skipped = within(map(rename, quantization.ignore))

    def choose(module: Module) -> Scheme | None:
        if module.kind is Kind.WORDS or (module.kind is Kind.HEAD and not quantization.head):
            return None
        return None if skipped(module) else quantization.scheme

    return choose


def bitsandbytes(quantization: Quantization, rename: Rename) -> Choice:
    """All matrices and experts whose names have nothing of the list in them; words and head stay as they are."""
    skipped = within(map(rename, quantization.ignore))

    def choose(module: Module) -> Scheme | None:
        return quantization.scheme if module.kind in {Kind.LINEAR, Kind.EXPERTS} and not skipped(module) else None

    return choose
