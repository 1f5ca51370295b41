"""`LLM(model="…", max_model_len=8192)`, or the arguments that vLLM prints in its log → names and plain values.

Knows Python's literals and reads no others: nothing is ever run. Does not know the engine's flags. A value that cannot
be known without running the code is `Unknown`, as it was written.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Final

from oomph.errors import UsageError
from oomph.readers.python_text import CALL, PRINTED

_ENUM: Final = re.compile(r"<\w+\.(\w+): [^<>]*>")  # as Python prints a member
_OBJECT: Final = re.compile(r"<[\w. ]+ at 0x[0-9a-f]+>")  # as Python prints a function
_CUT: Final = re.compile(r",\s*(?:\.\.\.|…|\[\.\.\.\])\s*(?=[)}]\s*\Z)")
_PROMPT: Final = re.compile(r"^(?:>>> |\.\.\. ?)", re.MULTILINE)
_LONGEST: Final = 100_000
_WORDS: Final = {"true": True, "false": False, "null": None}
_LARGEST: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that only running the code would give."""

    written: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a call says: its arguments by name, and what the code puts into the environment."""

    arguments: Mapping[str, object]
    environment: Mapping[str, str] = field(default_factory=dict)
    offline: bool = False  # the class for batches, not a server


def read_call(text: str, *, notes: list[str]) -> Call:
    """Read the first call of an engine's class, or the first dictionary of arguments."""
    if len(text) > _LONGEST:
        message = f"{len(text):,} signs are more than a call has (paste only the one that makes the engine)"
        raise UsageError(message)
    try:
        return _read(_parsed(_tidied(text, notes)), called=bool(CALL.search(text)))
    except RecursionError:
        message = "an expression nests too deep to be read (write the value)"
        raise UsageError(message) from None


def _read(tree: ast.Module, *, called: bool) -> Call:
    names = dict(_assigned(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := _called(node)):
            return Call(
                arguments=dict(_arguments(node, names)), environment=dict(_environment(tree)), offline=name == "LLM"
            )
        if isinstance(node, ast.Dict) and not called:
            return Call(arguments=dict(_pairs(node, names)))
    message = "no LLM(…) was found in this text (paste the call that makes the engine)"
    raise UsageError(message)


def _tidied(text: str, notes: list[str]) -> str:
    """Take away prompts and what was cut out, so that the rest is Python again."""
    begin = PRINTED.search(text)
    if begin is not None and not CALL.search(text):
        text = text[text.index("{", begin.start()) :]
    text = _OBJECT.sub("None", _ENUM.sub(r'"\1"', _PROMPT.sub("", text)))
    text, cut = _CUT.subn("", text.strip())
    if cut:
        notes.append("the end was cut off (…): what stood there is not known")
    return dedent(text)


def _parsed(text: str) -> ast.Module:
    """The text as Python; where it is more than that, the call alone."""
    for part in (text, _alone(text)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about backslashes in strings of strangers
                return ast.parse(part)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    message = f"this looks like Python but cannot be read as such: {text.strip()[:60]!r} (is a bracket or comma lost?)"
    raise UsageError(message)


def _alone(text: str) -> str:
    """From the name of the class to the bracket that closes its call."""
    found = CALL.search(text) or re.search(r"\{", text)
    if found is None:
        return text
    depth = 0
    mark = ""
    for at in range(found.start(), len(text)):
        sign = text[at]
        if mark:
            mark = "" if sign == mark and text[at - 1] != "\\" else mark
        elif sign in "'\"":
            mark = sign
        depth += 0 if mark else (sign in "([{") - (sign in ")]}")
        if depth == 0 and sign in ")]}":
            return text[found.start() : at + 1]
    return text[found.start() :]


def _called(node: ast.Call) -> str | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name if CALL.fullmatch(f"{name}(") and (node.args or node.keywords) else None


def _arguments(node: ast.Call, names: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    if node.args and not isinstance(node.args[0], ast.Starred):
        yield "model", _value(node.args[0], names)
    for keyword in node.keywords:
        if keyword.arg is not None:
            yield keyword.arg, _value(keyword.value, names)
            continue
        inside = _value(keyword.value, names)
        if not isinstance(inside, dict):
            message = f"**{ast.unparse(keyword.value)[:40]} holds arguments that cannot be seen (write them out)"
            raise UsageError(message)
        yield from ((str(name), value) for name, value in inside.items())


def _pairs(node: ast.Dict, names: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value, _value(value, names)


def _assigned(tree: ast.Module) -> Iterator[tuple[str, object]]:
    """Names that the text gives a value to."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = _value(node.value, {})
            if not isinstance(value, Unknown):
                yield node.targets[0].id, value


def _environment(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """`os.environ["NAME"] = "value"`."""
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Subscript):
            name, value = _value(target.slice, {}), _value(node.value, {})
            if ast.unparse(target.value).endswith("environ") and isinstance(name, str) and isinstance(value, str):
                yield name, value


def _value(node: ast.expr, names: Mapping[str, object]) -> object:  # noqa: PLR0911 - one for each kind of literal
    """A literal, a name that the text explains, or small arithmetic; anything else is unknown."""
    match node:
        case ast.Constant() if node.value is not Ellipsis:
            return node.value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name) if name in _WORDS:
            return _WORDS[name]
        case ast.Attribute(value=ast.Name(id="torch"), attr=name):
            return name
        case ast.List() | ast.Tuple() | ast.Set():
            return _unless_unknown([_value(each, names) for each in node.elts])
        case ast.Dict():
            return _unless_unknown(dict(_pairs(node, names)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _sum(0, ast.Sub(), _value(operand, names), node)
        case ast.BinOp():
            return _sum(_value(node.left, names), node.op, _value(node.right, names), node)
        case _:
            return Unknown(ast.unparse(node))


def _unless_unknown(found: list[object] | dict[str, object]) -> object:
    inside = found.values() if isinstance(found, dict) else found
    return next((each for each in inside if isinstance(each, Unknown)), found)


def _sum(left: object, operator: ast.operator, right: object, node: ast.expr) -> object:
    """Arithmetic as people write it: `32 * 1024`."""
    if type(left) in {int, float} and type(right) in {int, float}:
        match operator:
            case ast.Mult():
                answer = left * right  # type: ignore[operator]  # both are numbers
            case ast.Add():
                answer = left + right  # type: ignore[operator]  # both are numbers
            case ast.Sub():
                answer = left - right  # type: ignore[operator]  # both are numbers
            case _:
                return Unknown(ast.unparse(node))
        if abs(answer) < _LARGEST:
            return answer
    return Unknown(ast.unparse(node))
