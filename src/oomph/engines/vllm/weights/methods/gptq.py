"""GPTQ: a list of what is quantized, and rules by pattern that change the scheme or lift it.

Knows `auto_gptq.py` and `utils/gptq_utils.py` of `layers/quantization/`.
"""

import re

from oomph.engines.vllm.weights.methods.module import Choice, Kind, Module, Rename, within
from oomph.ledger.quantization import Quantization, Scheme


def chooser(quantization: Quantization, rename: Rename) -> Choice:
    """The first rule that matches, else the scheme of all."""
    listed = within(map(rename, quantization.only))
    rules = [(re.compile(target.pattern), target.scheme) for target in quantization.targets]

    def choose(module: Module) -> Scheme | None:
        if module.kind is Kind.WORDS or (module.kind is Kind.HEAD and not quantization.head):
            return None
        if module.kind is not Kind.EXPERTS and quantization.only and not listed(module):
            return None
        for pattern, scheme in rules:
            if pattern.match(module.name):
                return scheme
        return quantization.scheme

    return choose
