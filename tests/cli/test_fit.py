import json
from pathlib import Path
from typing import Any

import pytest

from engines.vllm.models import LLAMA
from oomph.cli.main import main

PEAK = ["--prompt", "6000", "--answer", "800"]


@pytest.fixture
def llama(tmp_path: Path) -> str:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    return str(tmp_path)


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    status = main(["fit", "--json", *words])
    return status, json.loads(capsys.readouterr().out)


def test_a_roomy_device_needs_no_flag(llama: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = asked(capsys, llama, "--gpu", "h100-80gb", *PEAK, "--users", "32")

    assert (status, answer["schema"], answer["verdict"]) == (0, "oomph.fit/1", "fits")
    assert answer["proposal"]["change"] == {}
    assert answer["command"] == f"vllm serve {llama}\n"
    assert answer["proposal"]["users"] >= 32


def test_the_users_it_holds_are_those_of_block_arithmetic(llama: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, answer = asked(capsys, llama, "--gpu", "h100-80gb", *PEAK, "--users", "32")
    proposal = answer["proposal"]
    block = 2 * 8 * 128 * 2 * 16 * 32  # keys and values, heads, width, bytes, tokens, layers
    lost = -(-(proposal["pool"]["likely"] - proposal["pool"]["low"]) // block)

    assert proposal["blocks"] == proposal["pool"]["likely"] // block
    assert proposal["users"] == (proposal["blocks"] - lost - 1) // -(-6800 // 16)


def test_what_is_proposed_is_planned_to_fit(llama: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = asked(capsys, llama, "--gpu", "rtx-4090", "--prompt", "3000", "--answer", "500", "--users", "16")
    words = answer["command"].replace("\\\n", " ").split()
    main(["plan", "--json", "--gpu", "rtx-4090", "--", *words])
    plan = json.loads(capsys.readouterr().out)

    assert status == 0
    assert answer["proposal"]["change"]
    assert plan["verdict"] == "fits"


def test_a_flag_that_is_typed_stays(llama: str, capsys: pytest.CaptureFixture[str]) -> None:
    typed = ["--", "vllm", "serve", llama, "--max-num-seqs", "40", "--enforce-eager"]
    _, answer = asked(capsys, "--gpu", "rtx-4090", "--prompt", "2000", "--answer", "200", "--users", "4", *typed)

    assert answer["proposal"]["flags"]["max_num_seqs"] == 40
    assert answer["proposal"]["flags"]["enforce_eager"] is True
    assert not {"max_num_seqs", "enforce_eager"} & set(answer["proposal"]["change"])


def test_too_many_users_get_the_most_that_is_held_and_what_would_hold_all(
    llama: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, answer = asked(capsys, llama, "--gpu", "rtx-4090", *PEAK, "--users", "300")

    assert (status, answer["verdict"]) == (1, "overflows")
    assert 0 < answer["proposal"]["users"] < 300
    assert any("rtx" in words.lower() or "h100" in words.lower() for words in answer["instead"])
    assert any("cpu-offload" in words for words in answer["instead"])


def test_a_smaller_checkpoint_is_taken_when_the_first_does_not_fit(
    llama: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    narrow = tmp_path / "awq"
    narrow.mkdir()
    stored = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"}
    (narrow / "config.json").write_text(json.dumps({**LLAMA, "quantization_config": stored}))
    status, answer = asked(capsys, llama, "--or", str(narrow), "--gpu", "12GiB", *PEAK, "--users", "2")

    assert status == 0
    assert answer["proposal"]["model"].endswith("awq")
    assert str(narrow) in answer["command"]


def test_hardware_is_found_with_the_least_memory_first(llama: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = asked(capsys, llama, "--gpu", "any", *PEAK, "--users", "8", "--have", "rtx-3060")
    memory = [each["memory"] for each in answer["hardware"]]

    assert status == 0
    assert memory == sorted(memory)
    assert memory


def test_what_is_owned_is_enough_where_it_holds_everything(llama: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = asked(capsys, llama, "--gpu", "any", *PEAK, "--users", "8", "--have", "h100-80gb")

    assert (status, answer["hardware"]) == (0, [])
    assert answer["proposal"]["device"]["name"] == "NVIDIA H100 80GB HBM3"


def test_a_wish_below_the_floor_is_refused(llama: str, capsys: pytest.CaptureFixture[str]) -> None:
    slow, _ = asked(capsys, llama, "--gpu", "l4", "--prompt", "500", "--answer", "50", "--users", "2", "--step", "1")
    fine, answer = asked(
        capsys, llama, "--gpu", "l4", "--prompt", "500", "--answer", "50", "--users", "2", "--step", "100"
    )

    assert (slow, fine) == (1, 0)
    assert 0 < answer["proposal"]["step_floor_seconds"] < 0.1


def test_a_trace_says_how_long_requests_are(llama: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.jsonl"
    lines = [{"prompt_tokens": 100 + number, "completion_tokens": 10} for number in range(200)]
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
    _, answer = asked(capsys, llama, "--gpu", "h100-80gb", "--trace", str(trace), "--users", "4")

    assert answer["workload"]["prompt"]["p99"] == 297
    assert answer["workload"]["answer"]["p50"] == 10


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--prompt", "6000", "--answer", "800"], "--users 32"),
        (["--answer", "800", "--users", "2"], "--prompt 6000"),
        (["--prompt", "9/3", "--answer", "800", "--users", "2"], "1500/6000"),
        (["--prompt", "100", "--answer", "8", "--users", "2", "--prefix", "101"], "cannot begin alike"),
    ],
)
def test_a_workload_that_says_too_little_is_refused(
    llama: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", llama, "--gpu", "l4", *words]) == 2
    assert said in capsys.readouterr().err


def test_without_a_model_there_is_nothing_to_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--gpu", "l4", *PEAK, "--users", "1"]) == 2
    assert "name a model" in capsys.readouterr().err


def test_a_person_reads_the_answer_first(llama: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["fit", llama, "--gpu", "rtx-4090", "--prompt", "3000", "--answer", "500", "--users", "16"])
    text = capsys.readouterr().out

    assert text.startswith("This surely holds 16 users at once, each with 3,500 tokens.\n")
    assert text.index("vllm serve") < text.index("what it costs") < text.index("why not")
    assert all(len(line) <= 110 for line in text.splitlines())


@pytest.mark.parametrize("form", ["vllm", "docker", "compose", "kubernetes", "python", "env", "config"])
def test_the_proposal_is_written_in_every_form(llama: str, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    peak = ["--prompt", "3000", "--answer", "500", "--users", "16"]
    _, answer = asked(capsys, llama, "--gpu", "rtx-4090", *peak)
    status = main(["fit", llama, "--gpu", "rtx-4090", *peak, "--as", form])
    text = capsys.readouterr().out

    assert status == 0
    assert all(str(value) in text.replace("_", "") for value in answer["proposal"]["change"].values())
