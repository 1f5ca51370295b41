"""compressed-tensors: groups of targets by name, pattern or class, and a list of what is ignored.

Knows `compressed_tensors.py` and `utils.py` of `layers/quantization/compressed_tensors/`.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from oomph.engines.vllm.weights.methods.module import Choice, Kind, Module, Rename, unanimous
from oomph.errors import UsageError
from oomph.ledger.quantization import Quantization, Scheme, Target

# What the engine's classes are called, as far as a config's `Linear` or `RoutedExperts` can be found in it.
_CLASSES: Final = {
    Kind.LINEAR: "columnparallellinear",
    Kind.EXPERTS: "routedexperts",
    Kind.HEAD: "parallellmhead",
    Kind.WORDS: "vocabparallelembedding",
}
EXPERT_PARTS: Final = ("gate_proj", "up_proj", "down_proj")
_PATTERN: Final = "re:"


def chooser(quantization: Quantization, rename: Rename) -> Choice:
    """The scheme of the first target that matches and is not ignored."""
    ignored = _matcher(_path(name, rename) for name in quantization.ignore)
    targets = [(_matcher((_path(target.pattern, rename),)), target) for target in _with_experts(quantization.targets)]

    def found(name: str) -> Target | None:
        return next((target for matches, target in targets if matches(name)), None)

    def of_class(kind: Kind) -> Target | None:
        named = (target for _, target in targets if not target.pattern.startswith(_PATTERN))
        return next((target for target in named if target.pattern.lower() in _CLASSES[kind]), None)

    def single(module: Module) -> Scheme | None:
        if ignored(module.name) or unanimous(module, ignored):
            return None
        target = found(module.name) or _fused(module, found) or of_class(module.kind)
        return None if target is None else target.scheme

    def choose(module: Module) -> Scheme | None:
        return _alike(module, single) if module.kind is Kind.EXPERTS else single(module)

    return choose


def _alike(module: Module, single: Choice) -> Scheme | None:
    """The scheme of the first expert's maps, which must be one."""
    names = (f"{module.name}.0.{part}" for part in EXPERT_PARTS)
    schemes = {single(Module(name=name, kind=Kind.EXPERTS)) for name in names}
    if len(schemes) > 1:
        message = f"{module.name}: the maps of an expert have several schemes: vLLM refuses to start"
        raise UsageError(message)
    return schemes.pop()


def _fused(module: Module, found: Callable[[str], Target | None]) -> Target | None:
    """The target of the first of the fused, if all have one."""
    targets = [found(part) for part in module.parts]
    return targets[0] if targets and all(target is not None for target in targets) else None


def _with_experts(targets: tuple[Target, ...]) -> tuple[Target, ...]:
    """What is said of `Linear` is said of experts too."""
    by_name = {target.pattern: target for target in targets}
    if "Linear" not in by_name or "RoutedExperts" in by_name:
        return targets
    return (*targets, Target(pattern="RoutedExperts", scheme=by_name["Linear"].scheme))


def _path(name: str, rename: Rename) -> str:
    """Names of modules are the checkpoint's; patterns and classes are not renamed."""
    return rename(name) if "." in name and not name.startswith(_PATTERN) else name


def _matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Whether a name equals one of these, or begins as the pattern after `re:` says."""
    listed = tuple(patterns)
    names = frozenset(pattern for pattern in listed if not pattern.startswith(_PATTERN))
    rules = [re.compile(pattern.removeprefix(_PATTERN)) for pattern in listed if pattern.startswith(_PATTERN)]
    return lambda name: name in names or any(rule.match(name) for rule in rules)
