"""Reads a bare source tree with `ast`: modules by path, names through imports, class fields through bases.

Knows the shape of a Python package. Does not know what vLLM keeps where, and never imports what it reads.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

_BLOCKS: Final = ("body", "handlers", "cases", "orelse", "finalbody")
_HOPS: Final = 8  # a name that is re-exported more often than this is taken for a circle


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed file, the names it binds at its top level, and where the imported ones come from."""

    path: str
    tree: ast.Module
    names: dict[str, ast.AST]
    imports: dict[str, tuple[str, str]]
    stars: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A node together with the module whose names it is written in."""

    module: Module
    node: ast.AST


@dataclass(frozen=True, slots=True)
class Field:
    """One annotated attribute of a class."""

    module: Module
    name: str
    annotation: ast.expr
    default: ast.expr | None


class Package:
    """The files under one package folder, parsed on first use."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._modules: dict[str, Module | None] = {}
        self._inner: dict[str, dict[str, tuple[str, str]]] = {}

    def module(self, path: str) -> Module | None:
        """The file at this path inside the package, or None where there is none."""
        if path not in self._modules:
            self._modules[path] = self._parse(path)
        return self._modules[path]

    def first(self, *paths: str) -> Module | None:
        """The first of several candidate homes that exists in this tree."""
        return next((module for path in paths if (module := self.module(path)) is not None), None)

    def paths(self, *patterns: str) -> tuple[str, ...]:
        """The files that match any of these globs, sorted, each once."""
        found = {file.relative_to(self.root).as_posix() for pattern in patterns for file in self.root.glob(pattern)}
        return tuple(sorted(path for path in found if path.endswith(".py")))

    def _parse(self, path: str) -> Module | None:
        file = self.root / path
        if not file.is_file():
            return None
        tree = ast.parse(file.read_bytes(), filename=path)
        names: dict[str, ast.AST] = {}
        imports: dict[str, tuple[str, str]] = {}
        stars: list[str] = []
        fallbacks = {each for handler in _handlers(tree) for each in statements(handler)}
        for statement in statements(tree):
            if isinstance(statement, ast.ImportFrom):
                home = _home(path, statement)
                stars += [home for alias in statement.names if alias.name == "*"]
                imports |= {alias.asname or alias.name: (home, alias.name) for alias in statement.names}
            for name, node in _bound(statement):
                if statement in fallbacks and (name in names or name in imports):
                    continue  # an `except` is for machines that lack something
                names[name] = node
                imports.pop(name, None)  # the later binding is the one that runs
        return Module(path, tree, names, imports, tuple(stars))

    def resolve(self, module: Module, name: str, hops: int = _HOPS) -> Found | None:
        """What a bare name means in a module, following imports inside the package."""
        if name in module.names:
            return Found(module, module.names[name])
        homes = [module.imports[name]] if name in module.imports else [(star, name) for star in module.stars]
        if not homes and (inner := self._inner_import(module, name)) is not None:
            homes = [inner]
        for home, original in homes if hops else ():
            target = self.first(f"{home}.py", f"{home}/__init__.py")
            if target is not None and (found := self.resolve(target, original, hops - 1)) is not None:
                return found
        return None

    def _inner_import(self, module: Module, name: str) -> tuple[str, str] | None:
        """An import that stands inside a function, which vLLM uses against import circles."""
        if module.path not in self._inner:
            self._inner[module.path] = {
                alias.asname or alias.name: (_home(module.path, node), alias.name)
                for node in ast.walk(module.tree)
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
        return self._inner[module.path].get(name)

    def bases(self, module: Module, node: ast.ClassDef) -> Iterator[Found]:
        """The class itself, then its bases as far as this package defines them, nearest first."""
        yield Found(module, node)
        for base in node.bases:
            found = self.resolve(module, base.id) if isinstance(base, ast.Name) else None
            if found is not None and isinstance(found.node, ast.ClassDef):
                yield from self.bases(found.module, found.node)

    def fields(self, module: Module, node: ast.ClassDef) -> dict[str, Field]:
        """Every annotated attribute in the order a dataclass would have it: the bases' first."""
        collected: dict[str, Field] = {}
        for home in reversed(list(self.bases(module, node))):
            body = home.node.body if isinstance(home.node, ast.ClassDef) else []
            constants = {name: node for each in body for name, node in _bound(each) if name.isupper()}
            scope = replace(home.module, names=home.module.names | constants) if constants else home.module
            for statement in body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    name = statement.target.id
                    collected[name] = Field(scope, name, statement.annotation, statement.value)
        return collected

    def method(self, module: Module, node: ast.ClassDef, name: str) -> Found | None:
        """The function a class answers with, its own or a base's."""
        for home in self.bases(module, node):
            for statement in home.node.body if isinstance(home.node, ast.ClassDef) else ():
                if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name == name:
                    return Found(home.module, statement)
        return None


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Every statement below a node in reading order, not entering functions and classes."""
    for block in _BLOCKS:
        for child in getattr(node, block, ()):
            if isinstance(child, ast.stmt):
                yield child
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from statements(child)


def _handlers(tree: ast.Module) -> Iterator[ast.ExceptHandler]:
    for statement in statements(tree):
        yield from getattr(statement, "handlers", ())


def _bound(statement: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name, statement
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                yield target.id, statement.value
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
        yield statement.target.id, statement.value


def _home(path: str, statement: ast.ImportFrom) -> str:
    """The path, without suffix, of the module an import names; the package's own name is dropped."""
    parts = (statement.module or "").split(".") if statement.module else []
    if statement.level:
        return "/".join([*path.split("/")[: -statement.level], *parts])
    return "/".join(parts[1:] if parts[:1] == ["vllm"] else ["<outside>", *parts])


def called(node: ast.AST) -> str:
    """The last word of what a call calls: `add_argument` for `group.add_argument(...)`, empty for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
