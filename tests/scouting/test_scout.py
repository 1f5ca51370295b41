import json
import os
import subprocess
import sys
from pathlib import Path

SCOUT = Path(__file__).parents[2] / "scripts" / "scout"


def scout(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # our own script, our own words
        [sys.executable, str(SCOUT), *words],
        env={**os.environ, "OOMPH_ENGINES": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def unpacked(home: Path, release: str, ratio: str) -> None:
    folder = home / "trees" / release / "vllm"
    (folder / "config").mkdir(parents=True)
    (folder / "__init__.py").touch()
    text = f"class CacheConfig:\n    gpu_memory_utilization: float = {ratio}\n"
    (folder / "config" / "cache.py").write_text(text, encoding="utf-8")


def test_two_releases_are_compared_answer_first(tmp_path: Path) -> None:
    unpacked(tmp_path, "0.1.0", "0.9")
    unpacked(tmp_path, "0.2.0", "0.92")
    done = scout(tmp_path, "0.1.0", "v0.2.0")

    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "0.1.0 -> 0.2.0: 1 default moved"
    assert "gpu_memory_utilization: 0.9 -> 0.92  (config/cache.py)" in done.stdout
    assert done.stderr == ""


def test_the_answer_is_also_json(tmp_path: Path) -> None:
    unpacked(tmp_path, "0.1.0", "0.9")
    answer = json.loads(scout(tmp_path, "0.1.0", "--json").stdout)

    assert answer["defaults"] == [{"name": "gpu_memory_utilization", "value": "0.9", "file": "config/cache.py"}]


def test_a_release_that_cannot_be_names_the_nearest(tmp_path: Path) -> None:
    unpacked(tmp_path, "0.19.1", "0.9")
    done = scout(tmp_path, "0.19.1a")

    assert done.returncode == 2
    assert "not a published release: '0.19.1a'" in done.stderr
    assert "nearest at hand: 0.19.1" in done.stderr


def test_three_releases_are_refused(tmp_path: Path) -> None:
    done = scout(tmp_path, "0.1.0", "0.2.0", "0.3.0")

    assert done.returncode == 2
    assert "two to compare" in done.stderr


def test_the_history_of_what_is_at_hand_is_written_by_part(tmp_path: Path) -> None:
    unpacked(tmp_path, "0.1.0", "0.9")
    unpacked(tmp_path, "0.2.0", "0.9")
    unpacked(tmp_path, "0.10.0", "0.92")
    done = scout(tmp_path, "--history", str(tmp_path / "kept"))
    kept = json.loads((tmp_path / "kept" / "defaults.json").read_text(encoding="utf-8"))["gpu_memory_utilization"]

    assert done.stdout.startswith("3 releases read")
    assert kept["spans"] == [{"first": "0.1.0", "last": None}]
    assert kept["said"] == [
        {"first": "0.1.0", "last": "0.2.0", "value": "0.9", "file": "config/cache.py"},
        {"first": "0.10.0", "last": None, "value": "0.92", "file": "config/cache.py"},
    ]
