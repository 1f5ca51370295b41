"""AutoRound: one scheme for the blocks it names, and what the config says of single layers.

Knows `inc/inc.py` and `inc/config_parser.py` of `layers/quantization/`.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.engines.vllm.weights.methods.module import Choice, Kind, Module, Rename
from oomph.errors import UsageError
from oomph.ledger.quantization import Quantization, Scheme

_SPECIAL: Final = frozenset(r"*+?^$()[]{}|\\")


def chooser(quantization: Quantization, rename: Rename) -> Choice:
    """What is said of the layer, of its short name, of what was fused, else of its block."""
    extra = {rename(target.pattern): target.scheme for target in quantization.targets}
    rules = [(re.compile(name), scheme) for name, scheme in extra.items() if _SPECIAL & set(name)]
    blocks = tuple(map(rename, quantization.only))
    order = {name: place for place, name in enumerate(extra)}

    def said(name: str) -> tuple[Scheme | None] | None:
        if name in extra:
            return (extra[name],)
        return next(((scheme,) for rule, scheme in rules if rule.search(name)), None)

    def choose(module: Module) -> Scheme | None:
        if module.kind is Kind.WORDS:
            return None
        if module.name in extra or f"model.{module.name}" in extra:
            return extra.get(module.name, extra.get(f"model.{module.name}"))
        shorter = [name for name in _shorter(module.name) if name in extra]
        if shorter:
            return extra[min(shorter, key=order.__getitem__)]
        usual = quantization.scheme if _wanted(module, blocks) else None
        votes = [said(part) for part in module.parts]
        if any(vote is not None for vote in votes):
            return _one(module, {usual if vote is None else vote[0] for vote in votes})
        own = said(module.name)
        return usual if own is None else own[0]

    return choose


def _shorter(name: str) -> Iterator[str]:
    """The name without what it begins with, down to its last word."""
    while name := name.partition(".")[2]:
        yield name


def _wanted(module: Module, blocks: tuple[str, ...]) -> bool:
    """The head only where it is asked for."""
    if not blocks:
        return module.kind is not Kind.HEAD
    return module.name.startswith(blocks)


def _one(module: Module, schemes: set[Scheme | None]) -> Scheme | None:
    if len(schemes) > 1:
        message = f"{module.name} fuses matrices of several schemes: vLLM refuses to start"
        raise UsageError(message)
    return schemes.pop()
