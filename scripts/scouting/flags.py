"""Lists every option of `vllm serve` that a source tree declares.

Knows three ways vLLM has declared options: a literal `add_argument`, one fed from `get_kwargs(SomeConfig)["field"]`,
and a loop over all fields of a frontend class. Does not see options that a platform plugin adds at run time.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from scouting.options import Flag, Keywords, option, spread
from scouting.source import Field, Found, Module, Package, called, statements

_PARSER_HOMES: Final = ("entrypoints/launchers/cli_args.py", "entrypoints/openai/cli_args.py")
_SERVE_HOMES: Final = ("entrypoints/cli/serve.py", "scripts.py")


@dataclass(slots=True)
class _Holder:
    """What a local name in `add_cli_args` holds: the kwargs of a whole class, or of one field of it."""

    module: Module
    node: ast.ClassDef
    field: str | None
    changes: dict[tuple[str, str], dict[str, ast.expr | None]]

    def changed(self, field: str) -> dict[str, ast.expr | None]:
        return self.changes.setdefault((self.node.name, field), {})


def flags(package: Package) -> tuple[Flag, ...]:
    """All options of `vllm serve`, in the order in which the parser meets them; the last of two with one name wins."""
    met: dict[str, Flag] = {}
    for flag in _declared(package):
        met[flag.names[0]] = flag
    return tuple(met.values())


def _declared(package: Package) -> Iterator[Flag]:
    if (serve := package.first(*_SERVE_HOMES)) is not None:
        yield from _serve(package, serve)
    if (home := package.first(*_PARSER_HOMES)) is not None:
        function = home.names.get("make_arg_parser")
        if isinstance(function, ast.FunctionDef):
            yield from _Reading(package, home, None).read(function)


def _serve(package: Package, module: Module) -> Iterator[Flag]:
    """What the subcommand itself adds before it hands its parser on; other subcommands share the older file."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="serve_parser"), attr="add_argument")):
                yield from _Reading(package, module, None).add(node)


class _Reading:
    """One pass over one function that fills a parser."""

    def __init__(self, package: Package, module: Module, owner: Found | None) -> None:
        self.package = package
        self.module = module
        self.owner = owner  # the class on which `add_cli_args` was called
        self.held: dict[str, _Holder] = {}
        self.changes: dict[tuple[str, str], dict[str, ast.expr | None]] = {}
        self.bound: dict[str, ast.expr] = {}  # the variables of a loop over a literal table

    def read(self, function: ast.FunctionDef) -> Iterator[Flag]:
        for statement in statements(function):
            match statement:
                case ast.For(iter=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="items"))) if (
                    name in self.held
                ):
                    yield from self._every_field(self.held[name])
                case ast.For(target=ast.Tuple(elts=names), iter=ast.List(elts=rows) | ast.Tuple(elts=rows)):
                    yield from self._every_row(names, rows, statement)
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, value)
                    yield from self._follow(value)
                case ast.Delete(targets=targets):
                    for target in targets:
                        self._change(target, None)
                case ast.Expr(value=value) | ast.Return(value=ast.Call() as value):
                    yield from self._follow(value)

    def _follow(self, value: ast.expr) -> Iterator[Flag]:
        if not isinstance(value, ast.Call):
            return
        if called(value) == "add_argument":
            yield from self.add(value)
        elif called(value) == "_customize_cli_kwargs":
            self._customize(value)
        elif called(value) == "add_cli_args" and isinstance(value.func, ast.Attribute):
            owner = self.package.resolve(self.module, getattr(value.func.value, "id", ""))
            if owner is not None and isinstance(owner.node, ast.ClassDef):
                found = self.package.method(owner.module, owner.node, "add_cli_args")
                if found is not None and isinstance(found.node, ast.FunctionDef):
                    yield from _Reading(self.package, found.module, owner).read(found.node)

    def _holder(self, value: ast.expr) -> _Holder | None:
        match value:
            case ast.Call(args=[ast.Name(id=name)]) if called(value) in {"get_kwargs", "_compute_kwargs"}:
                found = self.owner if name == "cls" else self.package.resolve(self.module, name)
                if found is not None and isinstance(found.node, ast.ClassDef):
                    return _Holder(found.module, found.node, None, self.changes)
            case ast.Name(id=name):
                return self.held.get(name)
            case ast.Subscript(value=inner, slice=ast.Constant(value=str() as field)):
                holder = self._holder(inner)
                if holder is not None and holder.field is None:
                    return _Holder(holder.module, holder.node, field, self.changes)
            case ast.Call(func=ast.Attribute(attr="copy" | "deepcopy"), args=[inner]):
                return self._holder(inner)
        return None

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name) and (holder := self._holder(value)) is not None:
            self.held[target.id] = holder
        self._change(target, value)

    def _change(self, target: ast.expr, value: ast.expr | None) -> None:
        """`kwargs["field"]["type"] = …`, or its deletion."""
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            holder = self._holder(target.value)
            if holder is not None and holder.field is not None:
                holder.changed(holder.field)[str(target.slice.value)] = value

    def _customize(self, call: ast.Call) -> None:
        """The later frontends change the kwargs in a method of their own; bases first, as `super()` does."""
        if self.owner is None or not isinstance(self.owner.node, ast.ClassDef) or not call.args:
            return
        held = self._holder(call.args[0])
        for home in reversed(list(self.package.bases(self.owner.module, self.owner.node))):
            if held is None or not isinstance(home.node, ast.ClassDef):
                continue
            for function in home.node.body:
                if isinstance(function, ast.FunctionDef) and function.name == "_customize_cli_kwargs":
                    self.held[function.args.args[-1].arg] = held
                    for statement in statements(function):
                        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                            self._change(statement.targets[0], statement.value)
                        elif isinstance(statement, ast.Delete):
                            for target in statement.targets:
                                self._change(target, None)

    def _every_field(self, holder: _Holder) -> Iterator[Flag]:
        for name, field in self.package.fields(holder.module, holder.node).items():
            yield self._option((f"--{name.replace('_', '-')}",), field, holder.changed(name))

    def _every_row(self, names: list[ast.expr], rows: list[ast.expr], loop: ast.For) -> Iterator[Flag]:
        """`for arg, type in [("--x", str), …]`, as 0.11 keeps its deprecated options."""
        for row in rows:
            cells = row.elts if isinstance(row, ast.Tuple) else []
            self.bound = {getattr(name, "id", ""): cell for name, cell in zip(names, cells, strict=False)}
            for statement in statements(loop):
                if isinstance(statement, ast.Expr):
                    yield from self._follow(statement.value)
        self.bound = {}

    def _meant(self, node: ast.expr) -> ast.expr:
        return self.bound.get(node.id, node) if isinstance(node, ast.Name) else node

    def add(self, call: ast.Call) -> Iterator[Flag]:
        """One `add_argument`; positionals are not options."""
        words = [self._meant(arg) for arg in call.args]
        names = tuple(arg.value for arg in words if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
        if not names or not names[0].startswith("-"):
            return
        field: Field | None = None
        keywords: dict[str, ast.expr | None] = {}
        for keyword in call.keywords:
            if keyword.arg is not None:
                keywords[keyword.arg] = self._meant(keyword.value)
                continue
            for part in spread(keyword.value):
                if isinstance(part, tuple):
                    keywords[part[0]] = part[1]
                elif (holder := self._holder(part)) is not None and holder.field is not None:
                    field = self.package.fields(holder.module, holder.node).get(holder.field)
                    keywords |= holder.changed(holder.field)
        yield self._option(names, field, keywords)

    def _option(self, names: tuple[str, ...], field: Field | None, keywords: Keywords) -> Flag:
        flag = option(self.package, self.module, names, field, keywords)
        human = flag.kind in {"int", "bytes"} and field is not None and field.name in _human_names(self.package)
        return replace(flag, human=flag.human or human)


def _human_names(package: Package) -> frozenset[str]:
    """The fields for which this release's `get_kwargs` accepts sizes as people write them."""
    module = package.first("engine/arg_utils.py")
    functions = [module.names.get(name) for name in ("_compute_kwargs", "get_kwargs")] if module is not None else []
    words: set[str] = set()
    for node in (node for function in functions if function is not None for node in ast.walk(function)):
        if isinstance(node, ast.Set):
            words |= {str(each.value) for each in node.elts if isinstance(each, ast.Constant)}
        elif isinstance(node, ast.Compare) and getattr(node.left, "id", "") == "name":
            compared = [inner for each in node.comparators for inner in getattr(each, "elts", [each])]
            words |= {str(each.value) for each in compared if isinstance(each, ast.Constant)}
    return frozenset(words)
