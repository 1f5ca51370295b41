"""Reads the watched defaults of a release from the places where each has lived.

Knows class fields, constants, options, environment variables, the values a function chooses between and the bare
numbers in it. Does not compute: a value that depends on the machine is shown as its condition and its expression.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scouting.hints import hint
from scouting.literals import shown
from scouting.options import Flag
from scouting.source import Found, Module, Package, called, statements


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """One default as the source shows it."""

    name: str
    value: str
    file: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """The default of a class field, `Class.field`."""

    path: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A name bound at the top of a module."""

    name: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """The value of one key, however deep, in a dictionary bound at the top of a module."""

    name: str
    key: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """The members of a `Literal`, or of an option's `choices`."""

    alias: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Every value a variable is given inside a function, each with its condition."""

    function: str
    variable: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """The fractions a function calculates with."""

    function: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """The default of a parameter, `Class.function`."""

    function: str
    name: str
    files: tuple[str, ...]


Place = Attribute | Constant | Entry | Options | Chosen | Numbers | Parameter


def defaults(
    package: Package, watched: Mapping[str, tuple[Place, ...]], flags: tuple[Flag, ...]
) -> tuple[Default, ...]:
    """The first place of each that this tree knows, then every environment variable."""
    found = []
    for name, places in watched.items():
        for place in places:
            if (met := _look(package, place, flags)) is not None:
                found.append(Default(name=name, value=met[0], file=met[1]))
                break
    return (*found, *_environment(package))


def _look(package: Package, place: Place, flags: tuple[Flag, ...]) -> tuple[str, str] | None:
    if isinstance(place, Options) and place.alias.startswith("--"):
        named = (each for each in flags if place.alias in each.names and each.choices)
        return next(((repr(each.choices), each.file) for each in named), None)
    for path in place.files:
        if (module := package.module(path)) is not None:
            value = _value(package, module, place)
            if value is not None:
                return value, path
    return None


def _value(package: Package, module: Module, place: Place) -> str | None:  # noqa: PLR0911  # one for each kind of place
    match place:
        case Attribute(path=path):
            return _attribute(package, module, path)
        case Constant(name=name):
            found = module.names.get(name)
            return _written(package, module, found) if isinstance(found, ast.expr) else None
        case Entry(name=name, key=key):
            return next(_entries(module.names.get(name), key), None)
        case Options(alias=alias):
            found = module.names.get(alias)
            return repr(hint(package, module, found).choices) if isinstance(found, ast.expr) else None
        case Chosen(function=function, variable=variable):
            node = _function(package, module, function)
            return "; ".join(_choices(node, variable)) or None if node is not None else None
        case Numbers(function=function):
            node = _function(package, module, function)
            return _numbers(node) if node is not None else None
        case Parameter(function=function, name=name):
            node = _function(package, module, function)
            return _parameter(package, module, node, name) if node is not None else None


def _entries(node: ast.AST | None, key: str) -> Iterator[str]:
    for table in ast.walk(node) if node is not None else ():
        for name, value in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
            if isinstance(name, ast.Constant) and name.value == key:
                yield ast.unparse(value)


def _attribute(package: Package, module: Module, path: str) -> str | None:
    owner, _, name = path.partition(".")
    node = module.names.get(owner)
    if not isinstance(node, ast.ClassDef):
        return None
    field = package.fields(module, node).get(name)
    return _written(package, field.module, field.default) if field is not None and field.default is not None else None


def _written(package: Package, module: Module, node: ast.expr) -> str:
    """The literal, or the expression where no literal can be seen."""
    return shown(package, module, node) or ast.unparse(node)


def _function(package: Package, module: Module, path: str) -> ast.FunctionDef | None:
    owner, _, name = path.rpartition(".")
    found: Found | None = None
    if owner and isinstance(node := module.names.get(owner), ast.ClassDef):
        found = package.method(module, node, name)
    elif not owner and name in module.names:
        found = Found(module, module.names[name])
    return found.node if found is not None and isinstance(found.node, ast.FunctionDef) else None


def _choices(node: ast.AST, variable: str, condition: str = "always") -> Iterator[str]:
    """`condition: value` for each assignment, in reading order."""
    for child in [*getattr(node, "body", ()), *getattr(node, "finalbody", ())]:
        match child:
            case ast.If(test=test, orelse=orelse):
                yield from _choices(child, variable, ast.unparse(test))
                yield from _choices(ast.Module(body=orelse, type_ignores=[]), variable, "else")
            case ast.Assign(targets=[target], value=value) if ast.unparse(target) == variable:
                yield f"{condition}: {ast.unparse(value).replace('UsageContext.', '')}"
            case ast.stmt():
                yield from _choices(child, variable, condition)


def _numbers(node: ast.FunctionDef) -> str | None:
    constants = [each.value for line in node.body for each in ast.walk(line) if isinstance(each, ast.Constant)]
    return ", ".join(repr(each) for each in constants if isinstance(each, float)) or None


def _parameter(package: Package, module: Module, node: ast.FunctionDef, name: str) -> str | None:
    named = [*node.args.posonlyargs, *node.args.args]
    values = [*[None] * (len(named) - len(node.args.defaults)), *node.args.defaults, *node.args.kw_defaults]
    for argument, value in zip([*named, *node.args.kwonlyargs], values, strict=True):
        if argument.arg == name and value is not None:
            return _written(package, module, value)
    return None


def _environment(package: Package) -> Iterator[Default]:
    """Each entry of `environment_variables`: the fallback of its `getenv`, else the whole expression."""
    module = package.first("envs.py", "envs/__init__.py")
    for statement in statements(module.tree) if module is not None else ():
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Dict) and module is not None:
            for key, entry in zip(value.keys, value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(entry, ast.Lambda | ast.Call):
                    yield Default(name=f"env {key.value!s}", value=_fallback(entry), file=module.path)


def _fallback(entry: ast.expr) -> str:
    for node in ast.walk(entry):
        if isinstance(node, ast.Call) and called(node) in {"getenv", "get", "env_with_choices"}:
            second = node.args[1] if len(node.args) > 1 else None
            return "None" if second is None else ast.unparse(second)
    return ast.unparse(entry.body if isinstance(entry, ast.Lambda) else entry)
