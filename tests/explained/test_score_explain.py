"""How explanations are counted, and the program as it is run."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from explained.asking import Answer
from explained.controls import CONTROLS, Control
from explained.given import given
from explained.goals import GOALS, headline, worsened
from explained.marks import marked
from explained.misses import misses
from explained.page import page
from explained.records import CRASHES, Crash, Evidence, crashes
from oomph.diagnose.case import Case, Phase
from oomph.diagnose.explain import Outcome
from oomph.diagnose.finding import Finding, Remedy
from oomph.engines.history import release

ROOT: Final = Path(__file__).parents[2]
KEPT: Final = ROOT / "docs" / "accuracy_explain.json"

CRASH: Final = Crash(
    id="one",
    engine="vllm",
    log="CUDA out of memory",
    evidence=Evidence.SUFFICIENT,
    cause="weights_exceed_gpu",
    sub_cause="a_finer_one",
    phase="load",
    confirmed=True,
    levers=("tp_or_more_gpus",),
    release="0.19.1 (also main)",
    model=None,
    gpu="2x RTX 3090 24GB under WSL2",
    arguments="VLLM_USE_V1=0 --gpu-memory-utilization 0.9, max_model_len=4096 --no-such-flag 3 (twice)",
)


def answered(*causes: str, crash: Crash = CRASH, lever: str = "tp_or_more_gpus", confidence: float = 0.9) -> Answer:
    remedy = Remedy(change={}, act="do", price="much", lever=lever)
    findings = tuple(
        Finding(code="LD001", name="n", summary="s", cause=cause, confidence=confidence, remedies=(remedy,))
        for cause in causes
    )
    outcome = Outcome.EXPLAINED if confidence > 0.6 else Outcome.UNSURE
    case = Case(engine="vLLM", phase=Phase.LOAD)
    return Answer(crash=crash, case=case, findings=findings, outcome=outcome)


@pytest.mark.parametrize(
    ("causes", "cause", "candidate"),
    [
        (["weights_exceed_gpu"], True, True),
        (["a_finer_one"], True, True),
        (["other", "weights_exceed_gpu"], False, True),
        (["other", "another", "a_third", "weights_exceed_gpu"], False, False),
        ([], False, False),
    ],
)
def test_a_cause_is_right_by_either_name_and_first(causes: list[str], cause: bool, candidate: bool) -> None:  # noqa: FBT001 - a table
    found = marked(answered(*causes))

    assert (found.cause, found.candidate, found.good) == (cause, candidate, cause)


def test_where_the_log_cannot_show_it_doubt_and_a_candidate_are_right() -> None:
    hidden = replace(CRASH, evidence=Evidence.INSUFFICIENT)

    assert marked(answered("other", "weights_exceed_gpu", crash=hidden, confidence=0.4)).good
    assert not marked(answered("weights_exceed_gpu", crash=hidden, confidence=0.9)).good
    assert not marked(answered("other", crash=hidden, confidence=0.4)).good


def test_a_remedy_is_right_where_it_repaired_and_idle_ones_are_counted() -> None:
    assert marked(answered("weights_exceed_gpu")).remedy is True
    assert marked(answered("weights_exceed_gpu", lever="upgrade")).remedy is False
    assert marked(answered("x", crash=replace(CRASH, levers=()))).remedy is None
    assert marked(answered("weights_exceed_gpu", lever="gpu_memory_utilization_down")).inert == (
        "gpu_memory_utilization_down",
    )
    assert marked(answered("weights_exceed_gpu")).inert == ()


def test_what_stands_beside_a_log_is_read_as_far_as_it_can_be() -> None:
    beside = given(CRASH)

    assert beside.release == release("0.19.1")
    assert dict(beside.flags) == {"VLLM_USE_V1": "0", "gpu_memory_utilization": 0.9, "max_model_len": 4096}
    assert [device.name for device in beside.hardware.devices] == ["NVIDIA GeForce RTX 3090"] * 2


def test_a_figure_that_became_worse_is_named() -> None:
    now = {goal.name: 0.9 for goal in GOALS}
    before = {**now, "phase": 0.95, "inert": 0.0}

    assert list(worsened(now, now)) == []
    assert [line.split(":")[0] for line in worsened(now, before)] == ["phase", "inert"]


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_what_is_no_such_failure_is_not_called_one(control: Control) -> None:
    assert control.right, control.made


@pytest.fixture(scope="module")
def corpus() -> None:
    if not CRASHES.exists() and not os.environ.get("CI"):
        pytest.skip("the shared evidence is not beside this checkout")


def check(kept: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "score_explain"), "--check", "--headline", str(kept)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("corpus")
def test_the_headline_that_is_kept_holds() -> None:
    found = check(KEPT)

    assert found.stderr == ""
    assert found.returncode == 0


@pytest.mark.usefixtures("corpus")
def test_a_planted_worsening_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "better.json").write_text(json.dumps({**json.loads(KEPT.read_text()), "phase": 1.5}))

    found = check(tmp_path / "better.json")

    assert found.returncode == 1
    assert "worse: phase" in found.stderr


@pytest.mark.usefixtures("corpus")
def test_the_page_and_the_list_of_misses_speak_of_every_kind_of_evidence() -> None:
    found = tuple(marked(answered("other", crash=crash)) for crash in crashes())
    written, missed = page(found), list(misses(found))

    assert all(evidence.replace("_", " ") in written for evidence in Evidence)
    assert all(any(crash.id in line for line in missed) for crash in crashes())
    assert headline(found)["cause.sufficient"] == 0
