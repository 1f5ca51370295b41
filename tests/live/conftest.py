"""Gives the tests of this folder a real server, or says why there is none."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.pipe import engine_python
from live.served import Served, served

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in this folder: it needs the engine environment."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.engine)


@pytest.fixture(scope="session")
def engine() -> None:
    """Skip where there is no engine; in CI there must be one."""
    python = engine_python()
    if python is None or not python.exists():
        reason = f"no engine environment ({python or 'none was ever built'}); run scripts/engine"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def server(engine: None) -> Iterator[Served]:  # noqa: ARG001 - asked for so that it skips or fails
    """The server that all tests of a session share: 64 blocks of 32 tokens, 1,024 tokens a request, 64 sequences.

    Leave it as you found it: no test may end, stop or pause it. Ask `served(…)` for one that you may break.
    """
    with served(blocks=64, flags=("--max-num-seqs", "64")) as one:
        yield one
