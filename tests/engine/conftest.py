"""Gives the tests of this folder the judges, or says why there are none."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.pipe import Bench, engine_python

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in this folder: it needs the engine environment."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.engine)


@pytest.fixture(scope="session")
def judges() -> Iterator[Bench]:
    """The judges by release, as in `judges["0.32.0"].ask("page", spec=…)`; each starts when first asked."""
    python = engine_python()
    if python is None or not python.exists():
        reason = f"no engine environment ({python or 'none was ever built'}); run scripts/engine"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with Bench() as bench:
        yield bench
