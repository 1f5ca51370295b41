"""The program as it is run: by hand, and by CI."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from scored.goals import GOALS, worsened

ROOT: Final = Path(__file__).parents[2]
KEPT: Final = ROOT / "docs" / "accuracy.json"


def check(headline: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "score"), "--check", "--headline", str(headline)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.usefixtures("corpus")
def test_the_headline_that_is_kept_holds() -> None:
    found = check(KEPT)

    assert found.stderr == ""
    assert found.returncode == 0


@pytest.mark.usefixtures("corpus")
def test_a_planted_worsening_is_an_error_and_is_named(tmp_path: Path) -> None:
    better = {**json.loads(KEPT.read_text()), "pool.median": 0.0001, "pool.inside": 1.5}
    (tmp_path / "better.json").write_text(json.dumps(better))

    found = check(tmp_path / "better.json")

    assert found.returncode == 1
    assert "worse: pool: median error (pool.median): was 0.0001, is now" in found.stderr
    assert "pool.inside" in found.stderr
    assert "weights" not in found.stderr


def test_without_the_corpus_nothing_is_scored_and_ci_fails(tmp_path: Path) -> None:
    house = tmp_path / "house"
    shutil.copytree(ROOT / "scripts" / "scored", house / "scripts" / "scored")
    shutil.copy(ROOT / "scripts" / "score", house / "scripts" / "score")
    (house / "src").symlink_to(ROOT / "src")

    def run(**environment: str) -> subprocess.CompletedProcess[str]:
        rest = {name: value for name, value in os.environ.items() if name != "CI"}
        command = [sys.executable, str(house / "scripts" / "score"), "--check"]
        return subprocess.run(command, capture_output=True, text=True, check=False, env={**rest, **environment})

    assert run().returncode == 0
    assert "there is no corpus" in run().stderr
    assert run(CI="true").returncode == 1


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
def test_every_figure_of_the_headline_is_watched(goal: object) -> None:
    kept: dict[str, float] = json.loads(KEPT.read_text())
    name = next(each.name for each in GOALS if each is goal)
    more = next(each.more for each in GOALS if each is goal)
    worse = {**kept, name: kept[name] - 0.1 * (1 if more else -1) * (100 if name.endswith("records") else 1)}

    assert list(worsened(kept, kept)) == []
    assert [line for line in worsened(worse, kept) if name in line] == list(worsened(worse, kept)) != []
    assert list(worsened({**kept, name: None}, kept)) != []


def test_a_figure_that_becomes_better_is_no_error() -> None:
    kept: dict[str, float] = json.loads(KEPT.read_text())
    better = {goal.name: kept[goal.name] + (0.1 if goal.more else -0.1) for goal in GOALS}

    assert list(worsened(better, kept)) == []
