"""Lists every Prometheus metric a source tree declares under the `vllm:` prefix.

Knows a name given to a gauge, counter, histogram or info where it is built, and a name that a constant or a table keeps
for a builder nearby. Does not know names that are put together at run time, nor label lists handed in from elsewhere.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from scouting.literals import UnseenError, fold
from scouting.source import Module, Package, called, statements

_NAME: Final = re.compile(r"vllm:[a-z][a-z0-9_{}]*")
_KINDS: Final = ("gauge", "counter", "histogram", "summary", "info")
_LABELS_AT: Final = 2  # Counter(name, documentation, labelnames)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric as the source names it; the exposition adds `_total` to counters by itself."""

    name: str
    kind: str | None
    labels: tuple[str, ...] | None  # None where the source computes them
    hidden: bool  # only registered under --show-hidden-metrics-for-version
    file: str


def metrics(package: Package) -> tuple[Metric, ...]:
    """Every metric of the package; a name that two files declare is listed once for each."""
    found: dict[tuple[str, str], Metric] = {}
    kept: dict[str, tuple[str, str]] = {}  # constant -> the metric it names
    for path in package.paths("**/*.py"):
        if path.startswith("benchmarks/") or b"vllm:" not in (package.root / path).read_bytes():
            continue  # a benchmark reads metrics by prefix and declares none
        if (module := package.module(path)) is not None:
            for metric, constant in _Reading(package, module).declared():
                key = metric.name, metric.file
                if key not in found or found[key].kind is None:
                    found[key] = metric
                if constant and found[key].kind is None:
                    kept[constant] = key
    for constant, kind, labels in _built_elsewhere(package, kept):
        metric = found[kept[constant]]
        found[kept[constant]] = replace(metric, kind=metric.kind or kind, labels=metric.labels or labels)
    built = {metric.name for metric in found.values() if metric.kind is not None}
    declared = [metric for metric in found.values() if metric.kind is not None or metric.name not in built]
    return tuple(sorted(declared, key=lambda metric: (metric.name, metric.file)))


class _Reading:
    """One file that mentions the prefix."""

    def __init__(self, package: Package, module: Module) -> None:
        self.package = package
        self.module = module
        self.parents = {child: node for node in ast.walk(module.tree) for child in ast.iter_child_nodes(node)}

    def declared(self) -> Iterator[tuple[Metric, str]]:
        """Each name in the file, with the constant that keeps it if one does."""
        for node in ast.walk(self.module.tree):
            name = _metric_name(node)
            if name is None or isinstance(self.parents.get(node), ast.JoinedStr | ast.Expr | ast.Compare):
                continue
            above = list(self._above(node))
            call = next(
                (each for each in above if isinstance(each, ast.Call) and _kind(each) and _names(each, node)), None
            )
            function = next((each for each in above if isinstance(each, _Function)), None)
            metric = Metric(
                name=name,
                kind=_kind(call) if call is not None else _only_kind(function),
                labels=_labels(self.package, self.module, function, call) if call is not None else None,
                hidden=any(isinstance(each, ast.If) and "show_hidden" in ast.unparse(each.test) for each in above),
                file=self.module.path,
            )
            yield metric, "" if call is not None else _constant(above)

    def _above(self, node: ast.AST) -> Iterator[ast.AST]:
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent


def _metric_name(node: ast.AST) -> str | None:
    text = ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return text if _NAME.fullmatch(text) else None


def _kind(call: ast.Call) -> str | None:
    """What a builder builds, from its name: `_gauge_cls`, `Counter`, `OffloadingHistogramMetadata`."""
    word = called(call).lower()
    return next((kind for kind in _KINDS if kind in word), None)


def _builds(call: ast.Call) -> bool:
    """Whether the call makes a metric, unlike `increase_counter`, which only names its kind."""
    return called(call).endswith("_cls") or called(call)[:1].isupper()


def _names(call: ast.Call, node: ast.AST) -> bool:
    """Whether this literal is what the call is named by, not a word in its documentation."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "name"]
    return node in named or (not named and node in call.args[:1])


def _only_kind(function: ast.AST | None) -> str | None:
    """A name from a table in the function: the kind is sure only if all nameless builders there agree."""
    kinds = set()
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, ast.Call) and (kind := _kind(node)) and _nameless(node):
            kinds.add(kind)
    return kinds.pop() if len(kinds) == 1 else None


def _nameless(call: ast.Call) -> bool:
    return any(keyword.arg == "name" and isinstance(keyword.value, ast.Name) for keyword in call.keywords)


def _labels(package: Package, module: Module, function: ast.AST | None, call: ast.Call) -> tuple[str, ...] | None:
    """The label names; a table entry names only its own, the builder that reads the table adds the others."""
    if called(call).endswith("Metadata") or not _builds(call):
        return None
    positional = call.args[2] if len(call.args) > _LABELS_AT else None
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "labelnames"), positional)
    if given is None:
        return ()
    local = dict(module.names)
    for statement in statements(function) if function is not None else ():
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            local[statement.targets[0].id] = statement.value
    try:
        folded = fold(package, replace(module, names=local), given)
    except UnseenError:
        return None
    return tuple(str(label) for label in folded) if isinstance(folded, tuple) else None


def _constant(above: list[ast.AST]) -> str:
    """`Class.NAME` or `NAME` when the literal is the value of a constant."""
    match above[:2]:
        case [ast.Assign(targets=[ast.Name(id=name)]), ast.ClassDef(name=owner)]:
            return f"{owner}.{name}"
        case [ast.Assign(targets=[ast.Name(id=name)]), ast.Module()]:
            return name
    return ""


def _built_elsewhere(
    package: Package, kept: dict[str, tuple[str, str]]
) -> Iterator[tuple[str, str, tuple[str, ...] | None]]:
    """The builders, in the folders of the constants, that are named by one of the constants."""
    folders = {file.rpartition("/")[0] for _, file in kept.values()}
    for path in package.paths(*(f"{folder}/**/*.py" for folder in sorted(folders))):
        text = (package.root / path).read_text(encoding="utf-8")
        module = package.module(path) if any(constant.rpartition(".")[2] in text for constant in kept) else None
        for node in ast.walk(module.tree) if module is not None else ():
            for key, call in _pairs(node):
                constant = ast.unparse(key)
                if module is not None and constant in kept and (kind := _kind(call)):
                    yield constant, kind, _labels(package, module, None, call)


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.Call]]:
    """A name and its builder: `Counter(name=X)`, `{X: CounterMetadata(…)}`, `table[X] = CounterMetadata(…)`."""
    match node:
        case ast.Call(args=[ast.Name() | ast.Attribute() as key, *_]):
            yield key, node
        case ast.Dict(keys=keys, values=values):
            yield from ((k, v) for k, v in zip(keys, values, strict=True) if k is not None and isinstance(v, ast.Call))
        case ast.Assign(targets=[ast.Subscript(slice=key)], value=ast.Call() as call):
            yield key, call
    if isinstance(node, ast.Call):
        yield from ((keyword.value, node) for keyword in node.keywords if keyword.arg == "name")
