"""Digests of the functions that decide bytes, so that two releases can be compared without being read.

Knows how to strip what decides nothing: docstrings, annotations, log calls, the wording of errors. Does not know what a
function means, and a change inside a helper that is not watched leaves the digest of its caller alone.
"""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from scouting.source import Package

_DIGITS: Final = 12
_TALK: Final = {"annotation", "returns", "type_comment", "ctx"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One watched function: where it stands and what it does, as a digest."""

    name: str  # as in the source: Class.function
    digest: str
    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Functions to look for: patterns of dotted names, in the files they have lived in."""

    files: tuple[str, ...]
    names: tuple[str, ...]
    prefix: str = ""  # keeps two runners apart whose functions have the same names


def functions(package: Package, watched: tuple[Watch, ...]) -> tuple[Function, ...]:
    """Every watched function this tree defines; of two files that define it, the first one listed counts."""
    found: dict[str, Function] = {}
    for watch in watched:
        for path in watch.files:
            if (module := package.module(path)) is None:
                continue
            for name, node in _named(module.tree):
                if any(fnmatchcase(name, pattern) for pattern in watch.names):
                    function = Function(name=watch.prefix + name, digest=digest(node), file=path, line=node.lineno)
                    found.setdefault(function.name, function)
    return tuple(found[name] for name in sorted(found))


def _named(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, _Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _Function):
            yield inside + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _named(node, f"{inside}{node.name}.")
        elif isinstance(node, ast.If | ast.Try):
            yield from _named(node, inside)


def digest(node: _Function) -> str:
    """The same for two functions that do the same in the same words."""
    return hashlib.sha256(repr(_bare(node)).encode()).hexdigest()[:_DIGITS]


def _bare(node: object) -> object:  # noqa: PLR0911  # one for each shape of node
    """The node as nested tuples, without what is said about the code; None for a statement that only speaks."""
    match node:
        case list():
            return tuple(kept for each in node if (kept := _bare(each)) is not None)
        case ast.Expr(value=value) if isinstance(value, ast.Constant) or _speaks(value):
            return None
        case ast.AnnAssign(value=None):
            return None
        case ast.AnnAssign(target=target, value=value):
            return "Assign", (_bare(target),), _bare(value)
        case ast.Raise(exc=ast.Call(func=error)):
            return "Raise", _bare(error)  # the wording is a sentence
        case ast.Assert(test=test):
            return "Assert", _bare(test)
        case ast.If(body=body, orelse=orelse) if not _bare(body) and not _bare(orelse):
            return None  # it only decided whether to log
        case ast.AST():
            return type(node).__name__, *(_bare(getattr(node, name)) for name in node._fields if name not in _TALK)
    return repr(node)


def _speaks(value: ast.expr) -> bool:
    call = value.func if isinstance(value, ast.Call) else None
    return isinstance(call, ast.Attribute) and getattr(call.value, "id", "") in {"logger", "warnings"}
