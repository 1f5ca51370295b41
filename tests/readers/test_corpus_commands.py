"""Starts as people reported them: a command, a call or printed arguments are read, or refused for a good reason."""

import json
import re
from pathlib import Path

import pytest

from oomph.engines.vllm.releases import HISTORY
from oomph.errors import OomphError, UnknownRelease
from oomph.readers.command import Command
from oomph.readers.command_line import read_command

STARTUPS = Path(__file__).parents[3] / "shared" / "corpus" / "startups.jsonl"
START = re.compile(r"vllm serve|-m vllm\.|LLM\(|Namespace\(|^\{|^--")
WANTED = 0.85
# Records that leave out what a start needs, by the words of the refusal; the rest of them is of too old a release.
GOOD_REASONS = (
    "stands for a name that is not known here",
    "what that holds is not known here",
    "no release of vLLM has --gpu-[memory-utilization",
    "not JSON",
    "this looks like Python but cannot be read as such",
    "has no --guided-decoding-backend: it was removed in",
)


def outcome(record: dict[str, object]) -> Command | str:
    try:
        asked = HISTORY.release(str(record["vllm_version"]))
    except UnknownRelease:
        asked = HISTORY.read_through
    try:
        return read_command([str(record["args"])], asked)
    except OomphError as refused:
        return str(refused)


@pytest.mark.skipif(not STARTUPS.exists(), reason="the corpus is not beside this checkout")
def test_starts_of_the_corpus_are_read_or_refused_for_a_good_reason(capsys: pytest.CaptureFixture[str]) -> None:
    records = [json.loads(line) for line in STARTUPS.read_text(encoding="utf-8").splitlines()]
    starts = [record for record in records if record["args"] and START.search(record["args"])]
    outcomes = {record["id"]: outcome(record) for record in starts}
    refused = {name: said for name, said in outcomes.items() if isinstance(said, str)}
    share = 1 - len(refused) / len(outcomes)
    with capsys.disabled():
        print(f"\n  {share:.0%} of {len(outcomes)} starts of the corpus are read", end="")  # noqa: T201 - the figure

    assert [said for said in refused.values() if not any(reason in said for reason in GOOD_REASONS)] == []
    assert share >= WANTED


@pytest.mark.skipif(not STARTUPS.exists(), reason="the corpus is not beside this checkout")
def test_what_is_read_is_what_the_records_say() -> None:
    records = [json.loads(line) for line in STARTUPS.read_text(encoding="utf-8").splitlines()]
    told = {"tp": "tensor_parallel_size", "max_model_len": "max_model_len", "max_num_seqs": "max_num_seqs"}
    wrong = []
    for record in (record for record in records if record["args"] and START.search(record["args"])):
        command = outcome(record)
        if isinstance(command, Command):
            wrong += [
                (record["id"], flag, command.flags[flag], record[key])
                for key, flag in told.items()
                if flag in command.flags and record[key] is not None and command.flags[flag] != record[key]
            ]

    assert wrong == []
