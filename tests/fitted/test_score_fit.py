"""How proposals are held against the corpus, and the program as it is run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from explained.records import CRASHES
from fitted.asking import Answer, Capacity, answer, workload
from fitted.failed import Failed, Reason, failed, release_of
from fitted.goals import GOALS, headline, worsened
from fitted.marks import Compared, Outcome, as_hard, compared, marked, outcome
from fitted.page import page
from fitted.readings import READINGS
from oomph.engines.history import release
from oomph.ledger.settings import Value
from scored.records import STARTUPS, records

ROOT: Final = Path(__file__).parents[2]
KEPT: Final = ROOT / "docs" / "accuracy_fit.json"


@pytest.fixture(scope="module", autouse=True)
def corpus() -> None:
    if not STARTUPS.exists() and not os.environ.get("CI"):
        pytest.skip("the shared evidence is not beside this checkout")


@pytest.fixture(scope="module")
def asked() -> dict[str, Failed]:
    return {record.id: record for record in failed()}


@pytest.fixture(scope="module")
def qwen(asked: dict[str, Failed]) -> Answer:
    return answer(asked["vllm-17469"], READINGS["vllm-17469"])


def test_every_start_up_that_failed_is_asked_or_has_a_reason(asked: dict[str, Failed]) -> None:
    assert len(asked) == 127
    assert {name for name, record in asked.items() if record.reason is None} == set(READINGS)
    assert all(reason in {record.reason for record in asked.values()} for reason in Reason)


def test_a_release_is_asked_as_the_record_states_it() -> None:
    lines = (json.loads(line) for line in CRASHES.read_text().splitlines())
    stated = {line["id"]: release_of(line) for line in lines} | {each.id: each.release for each in records()}
    for name, reading in READINGS.items():
        found = stated[name]
        assert found is None or found.key == release(reading.release).key, name
        assert release(reading.release) >= release("0.8.0")


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ((4096, 4), (4096, 4), Compared.NO_WORSE),
        ((8192, 5), (4096, 4), Compared.NO_WORSE),
        ((4095, 5), (4096, 4), Compared.WORSE),
        ((8192, 3), (4096, 4), Compared.WORSE),
        (None, (4096, 4), Compared.WORSE),
        ((4096, 4), None, None),
    ],
)
def test_no_worse_is_as_long_and_as_many(
    ours: tuple[int, int] | None, theirs: tuple[int, int] | None, verdict: Compared | None
) -> None:
    mine, its = (None if each is None else Capacity(length=each[0], users=each[1]) for each in (ours, theirs))

    assert compared(mine, its) is verdict


@pytest.mark.parametrize(
    ("change", "starved", "again"),
    [
        ({}, False, True),
        ({"max_model_len": 2048}, False, True),
        ({"gpu_memory_utilization": 0.95}, False, True),
        ({"gpu_memory_utilization": 0.95}, True, False),  # a larger pool was what it lacked
        ({"gpu_memory_utilization": 0.85}, False, False),
        ({"max_num_seqs": 8}, False, False),
        ({"enforce_eager": True}, False, False),
        ({"quantization": "fp8"}, False, False),
        ({"tensor_parallel_size": 2}, False, False),
    ],
)
def test_a_proposal_that_is_easier_nowhere_is_what_failed_again(
    qwen: Answer,
    change: dict[str, Value],
    starved: bool,  # noqa: FBT001 - a table
    again: bool,  # noqa: FBT001 - likewise
) -> None:
    failing = qwen.startup.but({"tensor_parallel_size": 4, "max_model_len": 1024, "max_num_seqs": 64})
    ours = failing.but(change)

    assert as_hard(ours, ours.forecast(), failing, failing.forecast(), starved=starved) is again


def test_a_record_by_hand(qwen: Answer) -> None:
    """A pool that the thread left 1 sequence of 1,024 tokens; ours leaves the graphs room by a smaller share."""
    found = marked(qwen)
    best = qwen.fitted.proposal

    assert qwen.theirs == Capacity(length=1024, users=1)
    assert best is not None
    assert best.change["tensor_parallel_size"] == 4
    assert outcome(qwen) is Outcome.SURE
    assert (found.gate, found.repeated, found.compared) == ("capture", False, Compared.NO_WORSE)


def test_what_failed_again_counts_as_worse(asked: dict[str, Failed]) -> None:
    found = marked(answer(asked["vllm-15664"], READINGS["vllm-15664"]))

    assert found.repeated
    assert not found.foreseen
    assert found.compared is Compared.WORSE


def test_weights_that_no_device_has_room_for_get_no_proposal(asked: dict[str, Failed]) -> None:
    found = marked(answer(asked["vllm-18114-c"], READINGS["vllm-18114-c"]))

    assert found.outcome is Outcome.NOTHING
    assert found.gate == "load"
    assert "nothing: by default it stops at load" in page([found], tuple(asked.values()))


def test_an_eighth_of_a_request_is_its_answer() -> None:
    found = workload(4096, 3)

    assert (found.prompt.p99, found.answer.p99, found.users) == (3584, 512, 3)


def test_a_figure_that_became_worse_is_named(qwen: Answer) -> None:
    now = headline([marked(qwen)])
    fewer = {name: count - 1 for name, count in now.items()}

    assert list(worsened(now, now)) == []
    assert [line.split(":")[0] for line in worsened(now, fewer)] == ["repeated"]
    assert [line.split(":")[0] for line in worsened(fewer, now)] == [goal.name for goal in GOALS if not goal.less]


def test_a_planted_worsening_is_an_error_and_the_only_one(tmp_path: Path) -> None:
    (tmp_path / "better.json").write_text(json.dumps({**json.loads(KEPT.read_text()), "sure": 99}))
    command = [
        sys.executable,
        str(ROOT / "scripts" / "score_fit"),
        "--check",
        "--headline",
        str(tmp_path / "better.json"),
    ]

    found = subprocess.run(command, capture_output=True, text=True, check=False)

    assert found.returncode == 1
    assert [line for line in found.stderr.splitlines() if line.startswith("worse")] == [
        f"worse: sure: 99 before, {json.loads(KEPT.read_text())['sure']} now"
    ]
