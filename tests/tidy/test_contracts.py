"""Every import contract is broken once, in a copy, and must be seen."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tidy.repository import ROOT

VIOLATIONS = {
    "upwards": ("Imports point downwards", "ledger/gate.py", "import oomph.engines.history"),
    "between siblings": ("Imports point downwards", "readers/command_line.py", "import oomph.write.plan_text"),
    "into the command line": ("Imports point downwards", "write/plan_text.py", "import oomph.cli.main"),
    "a room that is not in the plan": ("Imports point downwards", "extra/__init__.py", ""),
    "a file opened in the middle": ("The middle does no I/O", "ledger/gate.py", "import pathlib"),
    "the clock read in the middle": ("The middle does no I/O", "engines/vllm/forecast.py", "import time"),
    "a library in the middle": ("The middle imports only the standard library", "write/plan_text.py", "import rich"),
    "the engine imported": ("The engine is asked over a pipe, never imported", "cli/plan.py", "import vllm"),
}


def lint(copy: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_house_as_it_stands_keeps_every_contract(copy: Path) -> None:
    done = lint(copy)

    assert done.returncode == 0, done.stdout
    assert done.stdout.count("KEPT") == len({contract for contract, _, _ in VIOLATIONS.values()})


@pytest.mark.parametrize("planted", VIOLATIONS)
def test_a_planted_violation_is_seen(planted: str, copy: Path) -> None:
    contract, file, line = VIOLATIONS[planted]
    path = copy / "src" / "oomph" / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'"""Planted."""\n{line}\n' + (path.read_text() if path.exists() else ""))
    done = lint(copy)

    assert done.returncode == 1, done.stdout
    assert f"{contract} BROKEN" in done.stdout
