"""ModelOpt: one scheme and wildcards for what is excluded, or a scheme for every layer by name.

Knows `modelopt.py` of `layers/quantization/`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import translate
from typing import Final

from oomph.engines.vllm.weights.methods.module import Choice, Kind, Module, Rename, exactly
from oomph.errors import UsageError
from oomph.ledger.quantization import Quantization, Scheme

_TOWERS: Final = ("vision_tower", "vision_model", "vit_large_projector")
_TEXT: Final = "language_model."
_ORDERS: Final = (
    ("language_model.model.", "model.language_model."),
    ("model.language_model.", "language_model.model."),
)
_FUSED: Final = {"qkv_proj": ("q_proj", "k_proj", "v_proj"), "gate_up_proj": ("gate_proj", "up_proj")}


def uniform(quantization: Quantization, rename: Rename) -> Choice:
    """One scheme for matrices, experts and the head."""
    excluded = _excluded(quantization.ignore, rename)

    def choose(module: Module) -> Scheme | None:
        if module.kind is Kind.WORDS or excluded(module) or any(tower in module.name for tower in _TOWERS):
            return None
        own = quantization.experts if module.kind is Kind.EXPERTS else None
        return own or quantization.scheme

    return choose


def mixed(quantization: Quantization, rename: Rename) -> Choice:
    """What the config says of each layer; nothing said is nothing quantized."""
    excluded = _excluded(quantization.ignore, rename)
    named = {rename(target.pattern): target.scheme for target in quantization.targets}
    below = _below(named)

    def choose(module: Module) -> Scheme | None:
        if module.kind is Kind.WORDS or excluded(module):
            return None
        return _resolved(module, named, below)

    return choose


def _resolved(module: Module, named: Mapping[str, Scheme | None], below: Mapping[str, Scheme | None]) -> Scheme | None:
    """By its name, by what was fused, by what stands below it, by its neighbours: the first that is known."""
    names = _candidates(module.name)
    for name in names:
        if name in named:
            return named[name]
    bases = _candidates(module.name.rpartition(".")[0])
    last = tuple(part.rpartition(".")[2] for part in module.parts)
    if (known := _agreed(module, named, bases, last)) is not None:
        return known
    for name in names:
        if name in below:
            return below[name]
    if module.name.endswith(".experts"):
        return below.get(module.name.removesuffix(".experts"))
    return _agreed(module, named, bases, _FUSED.get(module.name.rpartition(".")[2], ()))


def _agreed(
    module: Module, named: Mapping[str, Scheme | None], bases: Iterable[str], parts: tuple[str, ...]
) -> Scheme | None:
    """The one scheme of the parts that the config knows."""
    names = (f"{base}.{part}" for base in bases for part in parts)
    schemes = {named[name] for name in names if name in named}
    if len(schemes) > 1:
        message = f"{module.name} fuses matrices of several schemes: vLLM refuses to start"
        raise UsageError(message)
    return schemes.pop() if schemes else None


def _below(named: Mapping[str, Scheme | None]) -> dict[str, Scheme | None]:
    """Of every name that others stand below: the scheme of the first of them."""
    found: dict[str, Scheme | None] = {}
    for name, scheme in named.items():
        for above in _above(name):
            found.setdefault(above, scheme)
    return found


def _above(name: str) -> Iterator[str]:
    while name := name.rpartition(".")[0]:
        yield name


def _candidates(name: str) -> tuple[str, ...]:
    """The name, and what a checkpoint may call it behind towers."""
    also = ["lm_head"] if name.endswith(".lm_head") else []
    also += [new + name.removeprefix(old) for old, new in _ORDERS if name.startswith(old)]
    return (name, *also)


def _excluded(names: Iterable[str], rename: Rename) -> Callable[[Module], bool]:
    """Named in full, or by a part of the name, or by a wildcard."""
    patterns = tuple(rename(pattern) for name in names for pattern in _spread(name))
    skipped = exactly(patterns)
    wild = [re.compile(translate(pattern)) for pattern in patterns if any(sign in pattern for sign in "*?[")]

    def excluded(module: Module) -> bool:
        if not patterns:
            return False
        name, shorter = module.name, module.name.removeprefix(_TEXT)
        return (
            skipped(module)
            or any(pattern != name and (pattern in name or pattern in shorter) for pattern in patterns)
            or any(rule.match(name) for rule in wild)
        )

    return excluded


def _spread(pattern: str) -> tuple[str, ...]:
    """`name*` is the name and what stands below it."""
    if pattern.endswith("*") and len(pattern) > 1 and pattern[-2] != ".":
        return pattern[:-1], f"{pattern[:-1]}.*"
    return (pattern,)
