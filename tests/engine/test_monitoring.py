"""What the rules take for granted of a release's labels, held against its published source."""

from pathlib import Path

import pytest

from engine.test_tables import TAKEN
from oomph.engines.history import release
from oomph.engines.vllm.monitoring.sources import ANSWERING, NUMBERED, Source, scraped
from scouting.trees import home

pytestmark = pytest.mark.usefixtures("judges")  # skipped, or failed in CI, where the engine's trees are not at hand


def tree(name: str) -> Path:
    return home() / "trees" / name / "vllm"


def loggers(name: str) -> str:
    path = tree(name) / "v1" / "metrics" / "loggers.py"
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize("name", TAKEN)
def test_series_are_numbered_by_engine_from_the_release_on_that_the_table_says(name: str) -> None:
    assert ('"model_name", "engine"' in loggers(name)) is (release(name) in NUMBERED)


@pytest.mark.parametrize("name", TAKEN)
def test_answers_are_counted_by_status_from_the_release_on_that_the_table_says(name: str) -> None:
    found = any("Instrumentator(" in path.read_text() for path in (tree(name) / "entrypoints").rglob("*.py"))

    assert found is (release(name) in ANSWERING)


@pytest.mark.parametrize("name", TAKEN)
def test_who_waits_is_told_apart_by_the_words_that_the_rules_ask_for(name: str) -> None:
    told = scraped(Source.WAITING_BY_REASON, release(name)) is not None

    assert ('"capacity"' in loggers(name) and '"deferred"' in loggers(name)) is told
