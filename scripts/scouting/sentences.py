"""Lists what a release says to its user: log lines, errors, assertions and progress bars, as templates.

Knows literals, f-strings (their holes become `{}`), and a message that a variable holds first. Does not know a sentence
that is glued together from pieces in several places, nor what a logger adds in front.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scouting.source import Package, called, statements

_LEVELS: Final = {"debug", "info", "warning", "error", "critical", "exception", "log", "warn"}
_LOGGER: Final = re.compile(r"\blogger\.(\w+)")
_SHORTEST: Final = 4  # a shorter one is a format, not a sentence
_SELF_TOLD: Final = {"__repr__", "__str__"}  # what a log call prints when it is given the object
Held = dict[str, list[ast.expr]]
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Sentence:
    """One template, how it is said, and where."""

    text: str
    said: str  # info, warning, …; the exception's name; assert; progress
    file: str


def sentences(package: Package, patterns: tuple[str, ...]) -> tuple[Sentence, ...]:
    """Every sentence of the files that match, each once per file and way of saying it."""
    found = set()
    for path in package.paths(*patterns):
        if (module := package.module(path)) is not None:
            for text, said in _said(module.tree, {}):
                if len(text.strip()) >= _SHORTEST:
                    found.add(Sentence(text=text, said=said, file=path))
    return tuple(sorted(found))


def _said(scope: ast.AST, held: Held) -> Iterator[tuple[str, str]]:
    """Reads one function at a time, because a message variable means something only in its function."""
    held = {name: list(values) for name, values in held.items()}
    own = list(statements(scope))
    for statement in own:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                held.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                held.setdefault(name, []).append(value)
    for statement in own:
        for message, said in _messages(statement, held):
            for text in _texts(message, held):
                yield text, said
        if isinstance(statement, _Scope):
            yield from _said(statement, held)
        if isinstance(statement, ast.Return) and statement.value and getattr(scope, "name", "") in _SELF_TOLD:
            yield from ((text, "repr") for text in _texts(statement.value, held))


def _messages(statement: ast.stmt, held: Held) -> Iterator[tuple[ast.expr, str]]:
    match statement:
        case ast.Expr(value=ast.Call() as call):
            yield from _call(call, held)
        case ast.Raise(exc=ast.Call(args=[first, *_]) as error):
            yield first, called(error)
        case ast.Assert(msg=ast.expr() as message):
            yield message, "assert"
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=parts)) if name.endswith("parts"):
            yield from ((part, "part") for part in parts)
        case ast.For(iter=source) | ast.Assign(value=source) | ast.With(items=[ast.withitem(context_expr=source), *_]):
            yield from _progress(source)


def _call(call: ast.Call, held: Held) -> Iterator[tuple[ast.expr, str]]:
    level = called(call).removesuffix("_once")
    if level in _LEVELS and call.args:
        yield call.args[1 if level == "log" and len(call.args) > 1 else 0], level
    elif level in {"print_warning", "print_info"} and call.args:
        yield call.args[0], level.removeprefix("print_")
    elif ast.unparse(call.func).endswith(("parts.append", "parts.extend")):  # of a line that is joined later
        for arg in call.args:
            yield from ((part, "part") for part in (arg.elts if isinstance(arg, ast.List) else [arg]))
    elif isinstance(call.func, ast.Name) and call.args:  # log_fn = logger.info, or logger.debug when idle
        first = next(iter(held.get(call.func.id, ())), None)
        if isinstance(first, ast.Attribute | ast.IfExp) and (words := _LOGGER.search(ast.unparse(first))):
            yield call.args[0], words[1].removesuffix("_once")


def _progress(source: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """The label of a `tqdm` bar, which is what stays in a captured log."""
    for node in ast.walk(source) if isinstance(source, ast.Call | ast.IfExp) else ():
        if isinstance(node, ast.Call):
            yield from ((keyword.value, "progress") for keyword in node.keywords if keyword.arg == "desc")


def _filled(part: ast.expr, held: Held) -> str:
    """A piece of an f-string; a hole that can only hold one sentence is filled with it."""
    match part:
        case ast.Constant(value=value):
            return str(value)
        case ast.FormattedValue(value=ast.Name(id=name)) if len(held.get(name, ())) == 1:
            texts = list(_texts(ast.Name(id=name), held))
            return texts[0] if len(texts) == 1 else "{}"
    return "{}"


def _texts(node: ast.expr, held: Held) -> Iterator[str]:
    """The templates an expression may stand for: both arms of a condition, every value of a variable."""
    match node:
        case ast.Constant(value=str() as text):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(_filled(part, held) for part in parts)
        case ast.Name(id=name):
            others = {other: values for other, values in held.items() if other != name}  # it may be made of itself
            for value in held.get(name, ()):
                yield from _texts(value, others)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _texts(body, held)
            yield from _texts(orelse, held)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            ends = list(_texts(right, held)) or ["{}"]
            yield from (start + end for start in list(_texts(left, held)) or ["{}"] for end in ends)
        case ast.BinOp(op=ast.Mod(), left=left):
            yield from _texts(left, held)
        case ast.Call(func=ast.Attribute(value=value, attr="format" | "strip" | "join")):
            yield from _texts(value, held)
