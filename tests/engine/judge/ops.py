"""Answers for the functions that live in vLLM's compiled extension.

Knows what the extension's capability probes say on a device; this is the one table here that restates something of the
engine (csrc/quantization/w8a8/cutlass), because a probe in C++ cannot be run without it. It decides which quantized
kernel is chosen, never a size. Other compiled functions do not exist for whoever looks (`hasattr` guards rely on that),
except while a model is being built, when layers fetch kernels that they would call only later.
"""

import contextlib

import torch

from judge import device

_NAMESPACES = ("_C", "_moe_C", "_C_cache_ops", "_C_stable_libtorch", "_flashkda_C")
_BUILDING = []

_PROBES = {
    "cutlass_scaled_mm_supports_fp8": lambda number: number >= 89,
    "cutlass_scaled_mm_supports_block_fp8": lambda number: 90 <= number < 130,
    "cutlass_scaled_mm_supports_fp4": lambda number: 100 <= number < 130,
    "cutlass_group_gemm_supported": lambda number: number >= 90,
    "cutlass_sparse_scaled_mm_supported": lambda number: number == 90,
}


class CompiledOp:
    """One function of the extension: a probe answers, anything else gives zero."""

    def __init__(self, name):
        self.name = name

    def __call__(self, *_args, **_kwargs):
        major, minor = device.chosen().capability
        probe = _PROBES.get(self.name)
        return probe(10 * major + minor) if probe else 0

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def install():
    """Let torch find the compiled functions."""
    namespace = torch._ops._OpNamespace
    found = namespace.__getattr__

    def find(self, name):
        try:
            return found(self, name)
        except AttributeError:
            wanted = name in _PROBES or (_BUILDING and not name.startswith("__"))
            if self.name in _NAMESPACES and wanted:
                return CompiledOp(name)
            raise

    namespace.__getattr__ = find


@contextlib.contextmanager
def building():
    """While this lasts every compiled function can be found."""
    _BUILDING.append(True)
    try:
        yield
    finally:
        _BUILDING.pop()
