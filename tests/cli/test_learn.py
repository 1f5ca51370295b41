"""`oomph plan --learn LOG`: what a start-up measured is kept, told, and used by the plans that follow."""

import gzip
import json
from pathlib import Path

import pytest

from oomph.cli.main import main

QWEN = str(Path(__file__).parents[2] / "examples" / "qwen3.6-27b")
MTP = '{"method": "mtp", "num_speculative_tokens": 2}'
COMMAND = ("vllm", "serve", QWEN, "--kv-cache-dtype", "fp8", "--speculative-config", MTP)
ENGINE = "(EngineCore pid=258) INFO 04-24 10:21:03 [gpu_model_runner.py:4820]"
LOADED = f"{ENGINE} Model loading took 18.47 GiB memory and 10.990096 seconds\n"
ARGUMENTS = (
    "(APIServer pid=1) INFO 04-24 10:20:03 [utils.py:233] non-default args: {'model_tag': 'MODEL', 'model': 'MODEL', "
    "'kv_cache_dtype': 'fp8', 'api_key': ['sk-secret'], 'speculative_config': {'method': 'mtp', "
    "'num_speculative_tokens': 2}}\n"
)
VERSION = "(APIServer pid=1) INFO 04-24 10:20:03 [utils.py:279] vLLM server version 0.19.1, serving model MODEL\n"
FAILED = (
    "(EngineCore pid=258) ERROR 04-24 10:22:36 [core.py:1108] torch.OutOfMemoryError: CUDA out of memory. Tried to "
    "allocate 1.56 GiB. GPU 0 has a total capacity of 31.36 GiB of which 1.37 GiB is free. Including non-PyTorch "
    "memory, this process has 29.98 GiB memory in use. Of the allocated memory 24.95 GiB is allocated by PyTorch, and "
    "758.67 MiB is reserved by PyTorch but unallocated.\n"
)
WHOLE = (VERSION + ARGUMENTS + LOADED + FAILED).replace("MODEL", QWEN)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OOMPH_DATA", str(tmp_path / "data"))
    path = tmp_path / "vllm.log"
    path.write_text(WHOLE)
    return path


def plan(*words: str) -> int:
    return main(["plan", "--gpu", "rtx-5090", *words])


def weights(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    answer = json.loads(capsys.readouterr().out)
    (entry,) = [each for each in answer["ledger"] if each["account"] == "weights"]
    return {"release": answer["release"], "basis": entry["basis"], "likely": entry["size"]["likely"]}


def test_a_log_alone_says_what_was_started_and_is_planned(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = plan("--json", "--learn", str(log))

    assert status == 1
    assert weights(capsys) == {"release": "0.19.1", "basis": "observed", "likely": round(18.47 * (1 << 30))}


def test_what_was_learned_is_told_and_kept_without_secrets(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan("--learn", str(log))
    told = capsys.readouterr().err
    (kept,) = (log.parent / "data" / "measurements").iterdir()

    assert f"learned from a start-up of {QWEN} on NVIDIA GeForce RTX 5090 with vLLM 0.19.1:" in told
    assert "weights           18.47 GiB  line 3" in told
    assert "outside            4.29 GiB  line 4" in told
    assert str(kept) in told
    assert "sk-secret" not in told + kept.read_text()
    assert "Tried to allocate" not in kept.read_text()


def test_later_plans_use_it_where_it_holds_and_only_there(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan("--learn", str(log))
    capsys.readouterr()

    plan("--json", "--release", "0.20.0", "--", *COMMAND, "--max-num-seqs", "8")
    assert weights(capsys)["basis"] == "observed"
    plan("--json", "--release", "0.19.1", "--", *COMMAND, "--quantization", "fp8")
    assert weights(capsys)["basis"] != "observed"


def test_compressed_logs_and_commands_that_say_what_the_log_does_not(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write_bytes(gzip.compress((LOADED + FAILED).encode()))
    plan("--json", "--learn", str(log), "--release", "0.19.1", "--", *COMMAND)

    assert weights(capsys) == {"release": "0.19.1", "basis": "observed", "likely": round(18.47 * (1 << 30))}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--release", "0.20.0"), "the log is of vLLM 0.19.1, and 0.20.0 was asked for"),
        (("--", *COMMAND, "--kv-cache-dtype", "bfloat16"), "kv_cache_dtype fp8, and the command says bfloat16"),
    ],
)
def test_what_contradicts_the_log_is_refused(
    words: tuple[str, ...], why: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = plan("--learn", str(log), *words)

    assert status == 2
    assert why in capsys.readouterr().err
    assert not (log.parent / "data").exists()


def test_a_log_of_another_model_is_refused(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_text(WHOLE.replace(QWEN, "a/b"))
    status = plan("--learn", str(log), "c/d")

    assert status == 2
    assert "the log is of a/b, and c/d was asked for" in capsys.readouterr().err


def test_a_log_of_another_device_is_refused(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["plan", "--gpu", "rtx-3090", "--learn", str(log)])

    assert status == 2
    assert "the log is of a device of 31.36 GiB, and NVIDIA GeForce RTX 3090 has 23.57 GiB" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "hello\n", 'INFO: 127.0.0.1 - "GET /health HTTP/1.1" 200 OK\n', VERSION])
def test_a_log_without_a_figure_is_refused_with_words(
    content: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write_text(content)
    status = plan("--learn", str(log))

    assert status == 3
    assert "nothing can be learned from" in capsys.readouterr().err


def test_a_log_that_names_no_model_asks_for_it(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_text(LOADED)
    status = plan("--learn", str(log))

    assert status == 2
    assert "does not name its model" in capsys.readouterr().err


def test_what_cannot_be_kept_is_said_and_not_planned(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OOMPH_DATA", str(log))
    status = plan("--learn", str(log))
    said = capsys.readouterr()

    assert status == 3
    assert "cannot be kept" in said.err
    assert said.out == ""


def test_a_model_that_is_not_here_is_learned_all_the_same(
    log: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log.write_text(WHOLE.replace(QWEN, "/models/of-the-container"))
    status = plan("--learn", str(log))
    said = capsys.readouterr()

    assert status == 0
    assert "learned, but not planned: no model '/models/of-the-container'" in said.err
    assert list((tmp_path / "data" / "measurements").iterdir())


def test_a_broken_file_among_what_was_learned_is_named_and_does_no_harm(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan("--learn", str(log))
    (kept,) = (log.parent / "data" / "measurements").iterdir()
    kept.write_text("{")
    capsys.readouterr()
    plan("--json", "--release", "0.19.1", "--", *COMMAND)
    said = capsys.readouterr()

    assert f"{kept} is passed over" in said.err
    assert json.loads(said.out)["schema"] == "oomph.plan/1"
