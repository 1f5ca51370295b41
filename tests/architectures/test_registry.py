"""Every architecture has one home, and what the README says of them is counted."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from oomph.architectures.registry import FILES, TOWERS

ROOT = Path(__file__).parents[2]


def test_each_architecture_stands_in_one_file() -> None:
    names = [name for names in FILES.values() for name in names]

    assert len(names) == len(set(names)) >= 80


@pytest.mark.parametrize("file", FILES)
def test_a_file_reads_the_architectures_that_it_is_named_for(file: str) -> None:
    assert set(FILES[file]) == set(import_module(f"oomph.architectures.{file}").ARCHITECTURES)


def test_every_tower_belongs_to_an_architecture_that_is_read() -> None:
    assert {name for names in FILES.values() for name in names} >= TOWERS
    assert set(import_module("oomph.architectures.towers_by_name").TOWERS) == TOWERS


def test_the_readme_counts_them_right() -> None:
    said = re.search(r"for (\d+) architectures", (ROOT / "README.md").read_text())

    assert said is not None
    assert int(said[1]) == sum(len(names) for names in FILES.values())
