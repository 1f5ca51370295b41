"""What a user gets: the built wheel, in a fresh environment."""

import json
import re
import subprocess
import sys
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from tidy.repository import ROOT

pytestmark = pytest.mark.package


def run(*words: str | Path) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed_dependencies() -> set[str]:
    """As the architecture page lists them under "Dependencies"."""
    page = (ROOT / "docs" / "explain" / "architecture.md").read_text()
    section = page.partition("\n## Dependencies")[2].partition("\n## ")[0]
    return {name.lower().replace("_", "-") for name in re.findall(r"^- `([\w-]+)`", section, re.MULTILINE)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment that holds the wheel and what it brings."""
    folder = tmp_path_factory.mktemp("fresh") / "env"
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    return folder / "bin" / "python"


def test_the_wheel_asks_for_exactly_what_the_architecture_page_lists(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    asked = {
        re.split(r"[^\w-]", line, maxsplit=1)[0].lower().replace("_", "-")
        for line in metadata.get_all("Requires-Dist") or []
    }

    assert asked == listed_dependencies()
    assert "oomph/py.typed" in ZipFile(wheel).namelist()


def test_a_fresh_install_brings_nothing_that_no_listed_dependency_needs(python: Path) -> None:
    program = """
import json, re
from importlib.metadata import distributions, requires
def name(text): return re.split(r"[^\\w-]", text, maxsplit=1)[0].lower().replace("_", "-")
needs = {name(d.metadata["Name"]): {name(r) for r in d.requires or [] if "extra ==" not in r} for d in distributions()}
print(json.dumps({key: sorted(value) for key, value in needs.items()}))
"""
    needs: dict[str, list[str]] = json.loads(run(python, "-c", program))
    reached, queue = set(), ["oomph"]
    while queue:
        if (name := queue.pop()) in needs and name not in reached:
            reached.add(name)
            queue += needs[name]

    assert set(needs["oomph"]) <= listed_dependencies()
    assert set(needs) - reached <= {"pip", "setuptools", "wheel"}


def test_importing_oomph_imports_nothing_outside_the_standard_library(python: Path) -> None:
    program = "import sys; before = set(sys.modules); import oomph; print(*sorted(set(sys.modules) - before))"
    imported = {name.partition(".")[0] for name in run(python, "-I", "-c", program).split()}

    assert "oomph" in imported
    assert imported - {"oomph"} <= sys.stdlib_module_names


def test_the_installed_command_answers(python: Path) -> None:
    assert run(python.with_name("oomph"), "--version").startswith("oomph ")
