"""Turns what one `add_argument` says, or one dataclass field, into a `Flag`.

Knows argparse's keywords and the converters vLLM gives to `type=`. Does not know where the options are declared.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from scouting.hints import hint
from scouting.literals import UnseenError, fold, shown
from scouting.source import Field, Module, Package, called

Keywords = Mapping[str, ast.expr | None]  # None: deleted again before the option was added

_CONVERTERS: Final = {"nullable_str": "str", "loads": "json", "nullable_kvs": "json"}
_NO_VALUE: Final = "0"
_NEGATABLE: Final = "no"  # stands in `nargs` until the negations are written out


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One option: every string that selects it, and what the source shows of its value."""

    names: tuple[str, ...]  # as written, the long form first
    negations: tuple[str, ...] = ()  # the `--no-x` forms that argparse adds by itself
    kind: str | None = None  # int, float, str, bool, choice, json, bytes; None where not visible
    nargs: str | None = None  # "0" takes no value, "?" may, "+" and "*" take several, None takes one
    human: bool = False  # accepts 32k, 1G, and so on
    choices: tuple[str, ...] = ()
    default: str | None = "None"  # the literal as Python writes it; None where not visible
    file: str = ""


def option(package: Package, module: Module, names: tuple[str, ...], field: Field | None, keywords: Keywords) -> Flag:
    """The option of these names: what its field says, then what the call says over it."""
    flag = Flag(names=tuple(sorted(names, key=lambda name: not name.startswith("--"))), file=module.path)
    if field is not None:
        flag = _from_field(package, flag, field)
    for key, value in keywords.items():
        flag = _from_keyword(package, module, flag, key, value)
    return _finished(flag)


def _from_field(package: Package, flag: Flag, field: Field) -> Flag:
    said = hint(package, field.module, field.annotation)
    kind, nargs = said.kind, None
    if kind == "sequence":
        kind = next((each.removeprefix("of ") for each in said.kinds if each.startswith("of ")), "str")
        nargs = said.nargs
    if said.kinds == {"bool", "str"}:  # --hf-token: bare, or with a value
        kind, nargs = "str", "?"
    if kind == "choice" and "str" in said.kinds:  # vLLM then only shows the choices
        kind = "str"
    return replace(
        flag,
        kind=kind,
        nargs=_NEGATABLE if kind == "bool" else nargs,
        choices=tuple(str(each) for each in said.choices) if kind == "choice" else (),
        default=shown(package, field.module, field.default),
    )


def _from_keyword(package: Package, module: Module, flag: Flag, key: str, value: ast.expr | None) -> Flag:
    match key:
        case "default":
            return replace(flag, default=shown(package, module, value))
        case "choices" if value is not None:
            return replace(flag, choices=_choices(package, module, value), kind="choice")
        case "nargs":
            return replace(flag, nargs=None if value is None else str(shown(package, module, value)).strip("'"))
        case "action" if value is not None:
            return _acted(flag, value)
        case "type" if value is not None:
            return _typed(flag, value)
    return flag


def _choices(package: Package, module: Module, value: ast.expr) -> tuple[str, ...]:
    match value:
        case ast.Call(args=[ast.Name() as alias]) if called(value) in {"get_args", "list"}:
            return tuple(str(each) for each in hint(package, module, alias).choices)
    try:
        folded = fold(package, module, value)
    except UnseenError:
        return ()
    return tuple(str(each) for each in folded) if isinstance(folded, tuple) else ()


def spread(value: ast.expr) -> Iterator[ast.expr | tuple[str, ast.expr]]:
    """The parts of `**x` and of `**{**x, "default": None}`."""
    if not isinstance(value, ast.Dict):
        yield value
        return
    for key, part in zip(value.keys, value.values, strict=True):
        if key is None:
            yield from spread(part)
        elif isinstance(key, ast.Constant):
            yield str(key.value), part


def _acted(flag: Flag, action: ast.expr) -> Flag:
    word = action.value if isinstance(action, ast.Constant) else getattr(action, "attr", getattr(action, "id", ""))
    if word in {"store_true", "store_false"}:
        default = flag.default if flag.default != "None" else repr(word == "store_false")
        return replace(flag, kind="bool", nargs=_NO_VALUE, default=default)
    if word == "BooleanOptionalAction":
        return replace(flag, kind="bool", nargs=_NEGATABLE)
    if word == "StoreBoolean":
        return replace(flag, kind="bool", nargs=flag.nargs or "?")
    return flag


def _typed(flag: Flag, value: ast.expr) -> Flag:
    """The converter named by `type=`, unwrapping `optional_type(…)`."""
    if flag.kind == "bool" or (flag.kind == "choice" and flag.choices):
        return flag
    if isinstance(value, ast.Call) and value.args:
        return _typed(flag, value.args[0])
    word = getattr(value, "attr", getattr(value, "id", ""))
    if word in {"int", "float", "str", "bool"}:
        return replace(flag, kind=flag.kind if flag.kind == "choice" else word)
    if word.startswith("human_readable_int"):
        return replace(flag, kind="int", human=True)
    return replace(flag, kind=_CONVERTERS.get(word, flag.kind or "str"))


def _finished(flag: Flag) -> Flag:
    """What follows from the rest: the negations, sizes, and text where nothing was said."""
    if flag.nargs == _NEGATABLE:
        negations = tuple(f"--no-{name[2:]}" for name in flag.names if name.startswith("--"))
        flag = replace(flag, nargs=_NO_VALUE, negations=negations)
    sized = flag.kind == "int" and flag.names[0].endswith("-bytes")
    return replace(flag, kind="bytes" if sized else flag.kind or "str")
