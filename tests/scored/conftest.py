"""The corpus, where it is beside the checkout."""

import os
from collections.abc import Callable

import pytest

from scored.records import STARTUPS, Record, records


@pytest.fixture(scope="session")
def corpus() -> tuple[Record, ...]:
    """All records; skips where the corpus is absent, but CI must not pass without it."""
    if not STARTUPS.exists() and not os.environ.get("CI"):
        pytest.skip("the shared evidence is not beside this checkout")
    return records()


@pytest.fixture(scope="session")
def read(corpus: tuple[Record, ...]) -> Callable[[str], Record]:
    """A record of the corpus by its id."""
    return {record.id: record for record in corpus}.__getitem__
