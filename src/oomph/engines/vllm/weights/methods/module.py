"""A module as the engine asks its quantization config about it, and the ways in which it compares names.

Knows `is_layer_skipped` of `quantization/utils/quant_utils.py`. Does not know any config.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from oomph.errors import UsageError
from oomph.ledger.quantization import Scheme


class Kind(Enum):
    """What a module is to the engine."""

    LINEAR = "linear"
    EXPERTS = "experts"
    HEAD = "head"
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One module by its full name in the engine, and the names of what was fused into it."""

    name: str
    kind: Kind
    parts: tuple[str, ...] = ()

    @property
    def linear(self) -> bool:
        """Whether the engine treats it as a matrix."""
        return self.kind in {Kind.LINEAR, Kind.HEAD}


Choice: TypeAlias = Callable[[Module], Scheme | None]
Rename: TypeAlias = Callable[[str], str]


def exactly(names: Iterable[str]) -> Callable[[Module], bool]:
    """Whether a module is named in full; experts are skipped by any longer name that begins alike."""
    known = frozenset(names)
    experts = tuple(name for name in known if "experts" in name)

    def skipped(module: Module) -> bool:
        if module.parts:
            return module.name in known or unanimous(module, lambda part: part in known)
        if "experts" in module.name:
            return any(module.name in name for name in experts)
        return module.name in known

    return skipped


def within(names: Iterable[str]) -> Callable[[Module], bool]:
    """Whether a module's name has one of these in it."""
    known = tuple(names)

    def found(name: str) -> bool:
        return any(part in name for part in known)

    def skipped(module: Module) -> bool:
        return found(module.name) or unanimous(module, found)

    return skipped


def unanimous(module: Module, holds: Callable[[str], bool]) -> bool:
    """Whether it holds for all that was fused; vLLM refuses what holds for some."""
    votes = {holds(part) for part in module.parts}
    if len(votes) > 1:
        message = f"{module.name} fuses matrices of which only some are quantized: vLLM refuses to start"
        raise UsageError(message)
    return votes == {True}
