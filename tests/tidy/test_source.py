"""Rules of the house that no linter knows."""

import ast
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import oomph
from tidy.repository import ROOT, files

SOURCE = ROOT / "src" / "oomph"
MIDDLE = ("units.py", "errors.py", "ledger", "architectures", "engines", "fit", "diagnose", "write")
TABLES = [
    SOURCE / "engines" / "vllm" / name
    for name in (
        "believed.py",
        "compilation.py",
        "context.py",
        "facts.py",
        "flags/config_file.py",
        "flags/engine.py",
        "flags/server.py",
        "flags/spelling.py",
        "flags/takes.py",
        "lines.py",
        "metrics.py",
        "pool/facts.py",
        "states.py",
        "surroundings.py",
        "weights/adapters.py",
        "weights/kit.py",
        "weights/online.py",
        "weights/tables.py",
    )
]


def middle() -> Iterator[Path]:
    for name in MIDDLE:
        path = SOURCE / name
        yield from [path] if path.suffix else sorted(path.rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def test_the_middle_imports_only_the_standard_library_and_itself() -> None:
    allowed = sys.stdlib_module_names | {"oomph"}
    seen = {name.partition(".")[0] for path in middle() for name in imported(path)}

    assert seen
    assert seen <= allowed


def test_releases_are_compared_in_one_file_only() -> None:
    order = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    guilty = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        if path.name != "history.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare)
        and any(isinstance(operator, order) for operator in node.ops)
        and re.search(r"release|asked|version", ast.unparse(node))
    ]

    assert guilty == []


def lines_of_tables() -> Iterator[tuple[Path, int, str, str]]:
    """Each line of a table: its file, number, the release it begins with, and its comment."""
    for path in TABLES:
        comments: dict[int, str] = {}
        with path.open("rb") as source:
            for token in tokenize.tokenize(source.readline):
                if token.type == tokenize.COMMENT:
                    comments[token.start[0]] = token.string.removeprefix("#").strip()
        for node in ast.walk(ast.parse(path.read_text())):
            for begin, last, value in _changes(node):
                yield path, begin, value, comments.get(last, "")


def _changes(node: ast.AST) -> Iterator[tuple[int, int, str]]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "Since" and node.args and isinstance(node.args[0], ast.Dict):
            for key, value in zip(node.args[0].keys, node.args[0].values, strict=True):
                if isinstance(key, ast.Constant):
                    yield key.lineno, value.end_lineno or key.lineno, str(key.value)
        elif node.func.id in {"flag", "metric", "says"}:
            since = node.args[2]
            if isinstance(since, ast.Constant):
                yield node.lineno, node.end_lineno or node.lineno, str(since.value)


def test_every_line_of_a_table_cites_the_file_where_it_can_be_seen() -> None:
    lines = list(lines_of_tables())
    uncited = [f"{path.name}:{line} {value}" for path, line, value, comment in lines if not comment.endswith(".py")]

    assert len(lines) > 500
    assert uncited == []


def test_every_exception_from_a_rule_says_why() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files(".py")
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search(r"#\s*(noqa|type: ignore)", line) and not re.search(r"(noqa: |ignore\[)[^#]*(- |# )\w", line)
    ]
    ignores = (ROOT / "pyproject.toml").read_text().partition("[tool.ruff.lint]")[2].partition("[tool.ruff.lint.pyd")[0]
    bare = [line for line in ignores.splitlines() if re.match(r'\s+"[A-Z]+[0-9]*",\s*$', line)]

    assert silent == []
    assert bare == []


def test_every_test_can_fail() -> None:
    toothless = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        if not any(isinstance(inner, ast.Assert) or "raises" in ast.unparse(inner)[:40] for inner in ast.walk(node))
    ]

    assert toothless == []


@pytest.mark.parametrize(
    "pattern",
    [r"/(?:work|root|tmp|home/[a-z]+)/(?!\*)", r"files\.pythonhosted|pypi\.org|deb\.debian|registry\.npmjs"],
    ids=["path of a machine", "host of a registry"],
)
def test_nothing_speaks_of_one_machine_or_registry(pattern: str) -> None:
    here = Path(__file__)
    guilty = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in files()
        if path != here and (found := re.search(pattern, path.read_text(errors="replace")))
    ]

    assert guilty == []


def test_the_public_api_is_what_it_says() -> None:
    assert sorted(oomph.__all__) == [
        "Bounds",
        "Bytes",
        "OomphError",
        "UnknownDevice",
        "UnknownFlag",
        "UnknownModel",
        "UnknownRelease",
        "UnreadableError",
        "UsageError",
    ]
    assert all(hasattr(oomph, name) for name in oomph.__all__)


def test_every_change_has_a_fragment_that_says_what_a_user_gets() -> None:
    fragments = [path for path in files(".md") if path.parent.name == "changes"]

    assert fragments
    for path in fragments:
        assert re.fullmatch(r"[0-9a-z-]+\.(added|changed|fixed|removed)\.md|README\.md", path.name), path.name
        assert path.read_text().strip()
