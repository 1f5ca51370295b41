"""Folds an expression into a literal where the source shows one, and says so where it does not.

Knows constants, arithmetic, names that stand for constants and the default of a dataclass field. Does not run code.
"""

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from scouting.source import Found, Module, Package, called

Literal = str | int | float | bool | None | tuple["Literal", ...]

_ARITHMETIC: Final[dict[type[ast.operator], Callable[[int | float, int | float], int | float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_POWER_LIMIT: Final = 64  # an exponent above this is no default anybody wrote


class UnseenError(Exception):
    """The value is not written down where it is used."""


def fold(package: Package, module: Module, node: ast.AST | None) -> Literal:  # noqa: PLR0911  # one for each shape
    """The literal an expression stands for; raises `UnseenError` where only running it would tell."""
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return tuple(fold(package, module, item) for item in items)
        case ast.Dict(keys=[], values=[]):
            return ()
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(fold(package, module, operand))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not fold(package, module, operand)
        case ast.BinOp(left=left, op=op, right=right):
            return _arithmetic(op, fold(package, module, left), fold(package, module, right))
        case ast.Name(id=name):
            return _of(package, package.resolve(module, name), name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return _attribute(package, module, name, attribute)
        case ast.Call():
            return _call(package, module, node)
    raise UnseenError


def shown(package: Package, module: Module, node: ast.AST | None) -> str | None:
    """The folded literal as Python writes it, or None where it cannot be seen."""
    try:
        return repr(fold(package, module, node))
    except UnseenError:
        return None


def _of(package: Package, found: Found | None, name: str) -> Literal:
    if found is None or not isinstance(found.node, ast.expr):
        raise UnseenError
    others = {other: node for other, node in found.module.names.items() if other != name}  # x = x + 1 has no end
    return fold(package, replace(found.module, names=others), found.node)


def _attribute(package: Package, module: Module, name: str, attribute: str) -> Literal:
    """`CacheConfig.block_size` or `Device.AUTO`: the class's own word for it."""
    found = package.resolve(module, name)
    if found is None or not isinstance(found.node, ast.ClassDef):
        raise UnseenError
    if (field := package.fields(found.module, found.node).get(attribute)) is not None:
        return fold(package, field.module, field.default)
    for statement in found.node.body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", None) == attribute:
            return fold(package, found.module, statement.value)
    raise UnseenError


def _call(package: Package, module: Module, node: ast.Call) -> Literal:
    """The wrappers vLLM puts around a default: `field`, `Field`, `get_field`, `int`."""
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    match called(node), node.args:
        case (("field" | "Field"), _) if "default" in keywords:
            return fold(package, module, keywords["default"])
        case (("field" | "Field"), _) if "default_factory" in keywords:
            return _factory(package, module, keywords["default_factory"])
        case "Field", [first]:
            return fold(package, module, first)
        case "get_field", [ast.Name(id=name), ast.Constant(value=str() as attribute)]:
            return _attribute(package, module, name, attribute)
        case (("int" | "float" | "str" | "bool"), [first]):
            return fold(package, module, first)
    raise UnseenError


def _factory(package: Package, module: Module, node: ast.expr) -> Literal:
    match node:
        case ast.Lambda(body=body):
            return fold(package, module, body)
        case ast.Name(id="list" | "dict" | "tuple" | "set"):
            return ()
    raise UnseenError


def _number(value: Literal) -> int | float:
    if isinstance(value, int | float):
        return value
    raise UnseenError


def _arithmetic(op: ast.operator, left: Literal, right: Literal) -> Literal:
    if isinstance(op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    a, b = _number(left), _number(right)
    if isinstance(op, ast.Pow) and 0 <= b <= _POWER_LIMIT:
        return float(a**b) if isinstance(a, float) else int(a**b)
    if isinstance(op, ast.Div) and b:
        return a / b
    if isinstance(op, ast.LShift) and isinstance(a, int) and isinstance(b, int):
        return a << b
    if type(op) in _ARITHMETIC:
        return _ARITHMETIC[type(op)](a, b)
    raise UnseenError
