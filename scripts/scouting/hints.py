"""Says what kind of option vLLM's `get_kwargs` makes of a dataclass field, from the field's annotation.

Knows the order in which `engine/arg_utils.py: get_kwargs` asks (dataclass, bool, Literal, sequence, int, float, dict,
str). Does not evaluate annotations: a name that cannot be followed inside the package counts as a class, which vLLM
reads as str.
"""

import ast
from dataclasses import dataclass, field
from typing import Final

from scouting.literals import Literal, UnseenError, fold
from scouting.source import Module, Package

_SEQUENCES: Final = {"list": "+", "List": "+", "Sequence": "+", "set": "+", "Set": "+", "tuple": "+", "Tuple": "+"}
_MAPPINGS: Final = {"dict", "Dict", "Mapping"}
_DEPTH: Final = 6


@dataclass(slots=True)
class Hint:
    """What the members of a union say together."""

    kinds: set[str] = field(default_factory=set)
    choices: tuple[Literal, ...] = ()
    nargs: str | None = None

    @property
    def kind(self) -> str | None:
        """The one that `get_kwargs` would act upon."""
        order = ("dataclass", "bool", "choice", "sequence", "int", "float", "json", "str", "class")
        first = next((kind for kind in order if kind in self.kinds), None)
        return {"dataclass": "json", "class": "str"}.get(first or "", first)


def hint(package: Package, module: Module, annotation: ast.expr, depth: int = _DEPTH) -> Hint:
    """The kinds an annotation admits, with the choices of its `Literal`s."""
    met = Hint()
    if depth:
        _meet(package, module, annotation, met, depth)
    return met


def _meet(package: Package, module: Module, node: ast.expr, met: Hint, depth: int) -> None:
    match node:
        case ast.Constant(value=None):
            return
        case ast.Constant(value=str() as text):
            _meet(package, module, ast.parse(text, mode="eval").body, met, depth)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            _meet(package, module, left, met, depth)
            _meet(package, module, right, met, depth)
        case ast.Subscript(value=value, slice=inside):
            _subscript(package, module, _last(value), inside, met, depth)
        case ast.Name() | ast.Attribute():
            _name(package, module, node, met, depth)


def _subscript(package: Package, module: Module, outer: str, inside: ast.expr, met: Hint, depth: int) -> None:
    members = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if outer == "Literal":
        met.kinds.add("choice")
        met.choices += _options(package, module, members)
    elif outer in {"Optional", "Union"}:
        for member in members:
            _meet(package, module, member, met, depth)
    elif outer in {"Annotated", "SkipValidation", "ClassVar", "InitVar"}:
        _meet(package, module, members[0], met, depth)
    elif outer in _SEQUENCES:
        element = hint(package, module, members[0], depth - 1)
        met.kinds.add("sequence")
        met.nargs, met.choices = _SEQUENCES[outer], met.choices + element.choices
        met.kinds |= {f"of {element.kind or 'str'}"}
    elif outer in _MAPPINGS:
        met.kinds.add("json")
    else:  # a class or a callable: read as text
        met.kinds.add("class")


def _options(package: Package, module: Module, members: list[ast.expr]) -> tuple[Literal, ...]:
    options: list[Literal] = []
    for member in members:
        try:
            options.append(fold(package, module, member))
        except UnseenError:  # a member that is itself a named Literal
            options += hint(package, module, member, 2).choices
    return tuple(options)


def _name(package: Package, module: Module, node: ast.expr, met: Hint, depth: int) -> None:
    name = _last(node)
    if name in {"bool", "int", "float", "str"}:
        met.kinds.add(name)
    elif name in _MAPPINGS:
        met.kinds.add("json")
    elif name in _SEQUENCES:
        met.kinds |= {"sequence", "of str"}
        met.nargs = _SEQUENCES[name]
    elif name != "None":
        _alias(package, module, name, met, depth)


def _alias(package: Package, module: Module, name: str, met: Hint, depth: int) -> None:
    """A named type: an alias is entered, a dataclass is JSON, any other class is text."""
    found = package.resolve(module, name)
    if found is None or depth <= 1:
        met.kinds.add("class")
    elif isinstance(found.node, ast.ClassDef):
        met.kinds.add(_class_kind(package, found.module, found.node))
    elif isinstance(found.node, ast.expr):
        inner = hint(package, found.module, found.node, depth - 1)
        met.kinds |= inner.kinds or {"class"}
        met.choices += inner.choices
        met.nargs = met.nargs or inner.nargs


def _class_kind(package: Package, module: Module, node: ast.ClassDef) -> str:
    for home in package.bases(module, node):
        if isinstance(home.node, ast.ClassDef):
            if any(_last(each) in {"dataclass", "config"} for each in home.node.decorator_list):
                return "dataclass"
            if any(_last(each) in {"dict", "TypedDict"} for each in home.node.bases):
                return "json"
    return "class"


def _last(node: ast.expr) -> str:
    """The last word of a dotted name; of a call, that of what it calls."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=function):
            return _last(function)
        case ast.Subscript(value=value):
            return _last(value)
    return ""
