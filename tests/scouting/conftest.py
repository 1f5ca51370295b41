"""A package made of snippets, as if a release of vLLM had been unpacked."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from scouting.source import Package

Write = Callable[[dict[str, str]], Package]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes files, named from inside `vllm/`, and hands back the package they make."""

    def written(files: dict[str, str]) -> Package:
        for name, text in files.items():
            file = tmp_path / "vllm" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text), encoding="utf-8")
        return Package(tmp_path / "vllm")

    return written
