import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from oomph.cli.main import main
from oomph.write.span import cells

ROOT = Path(__file__).parents[2]
QWEN = "examples/qwen3.6-27b"
PLAN = ["plan", "--gpu", "rtx-3090", "--release", "0.32.0", QWEN]


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def environment(given: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR", "TERM"}}
    return {**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **given}


def on_a_terminal(**given: str) -> str:
    """What a terminal is sent."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "oomph", *PLAN], stdout=theirs, env=environment(given)) as process:
        os.close(theirs)
        sent = b""
        while True:
            try:
                more = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            sent += more
    os.close(ours)
    assert process.returncode == 1
    return sent.decode()


def in_a_pipe(**given: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "oomph", *PLAN], capture_output=True, env=environment(given), check=False
    )
    assert done.returncode == 1, done.stderr
    return done.stdout.decode()


def test_a_terminal_gets_colours_and_no_line_beyond_its_width() -> None:
    sent = on_a_terminal(COLUMNS="72")

    shown = re.sub(r"\x1b\[[\d;]*m", "", sent)

    assert shown != sent
    assert "\x1b" not in shown
    assert shown.startswith("Fails at load")
    assert all(cells(line) <= 72 for line in shown.splitlines())


@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_is_sent_where_none_is_wanted(plain: Mapping[str, str]) -> None:
    sent = on_a_terminal(COLUMNS="72", **plain)

    assert "\x1b" not in sent
    assert all(cells(line) <= 72 for line in sent.splitlines())
    assert "╳" in sent


@pytest.mark.parametrize("columns", [40, 60, 120, 200])
def test_a_pipe_gets_plain_lines_as_wide_as_asked(columns: int) -> None:
    sent = in_a_pipe(COLUMNS=str(columns))

    assert "\x1b" not in sent
    assert max(map(cells, sent.splitlines())) <= columns


@pytest.mark.parametrize("columns", ["", "0", "wide", "-5"])
def test_a_width_that_is_none_is_80(columns: str) -> None:
    assert in_a_pipe(COLUMNS=columns) == in_a_pipe(COLUMNS="80")


def test_where_only_ascii_can_be_shown_only_ascii_is_sent() -> None:
    sent = in_a_pipe(PYTHONUTF8="0", PYTHONIOENCODING="ascii", LC_ALL="C")

    assert sent.isascii()
    assert "W###" in sent
    assert "XX" in sent


def test_a_pipe_never_pays_for_rich_nor_for_writers_that_were_not_asked_for() -> None:
    program = f"import sys; from oomph.cli.main import main; main({PLAN!r}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment({}), check=True
    )
    modules = done.stderr.split()

    assert not {"rich", "oomph.write.plan_html", "oomph.write.plan_svg", "oomph.write.plan_json"} & set(modules)


def test_a_page_and_a_picture_are_written_beside_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, image = tmp_path / "plan.html", tmp_path / "plan.svg"
    main([*PLAN[:-1], "--html", str(page), "--svg", str(image), "--", "vllm", "serve", QWEN])

    assert capsys.readouterr().out.startswith("Fails at load")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert ET.fromstring(image.read_text(encoding="utf-8")).tag.endswith("svg")  # noqa: S314 - our own file


def test_a_picture_on_the_standard_output_is_all_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    main([*PLAN, "--svg", "-"])
    said = capsys.readouterr().out

    assert said.startswith("<svg")
    assert said.endswith("</svg>\n")


def test_the_standard_output_takes_one_answer(capsys: pytest.CaptureFixture[str]) -> None:
    status = main([*PLAN, "--json", "--html", "-"])

    assert status == 2
    assert "takes one answer" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main([*PLAN, "--html", str(tmp_path / "missing" / "plan.html")])
    said = capsys.readouterr()

    assert (status, said.out) == (3, "")
    assert "cannot be written to" in said.err
    assert "No such file or directory" in said.err


def test_everything_is_said_with_all(capsys: pytest.CaptureFixture[str]) -> None:
    main([*PLAN, "--all"])
    said = capsys.readouterr().out

    assert "load: overflows" in said
    assert "  inert    --gpu-memory-utilization" in said
    assert "layers that take blocks together" in said


def test_findings_are_in_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    main([*PLAN, "--json"])
    plan = json.loads(capsys.readouterr().out)

    assert plan["findings"][0]["code"] == "LD001"
    assert plan["findings"][0]["does_not_help"]


@pytest.mark.parametrize("answer", [[], ["--json"], ["--html", "-"]])
@pytest.mark.parametrize("buffered", ["", "1"])
def test_a_reader_who_has_seen_enough_does_not_change_the_verdict(answer: list[str], buffered: str) -> None:
    ours, theirs = os.pipe()
    command = [sys.executable, "-m", "oomph", *PLAN, *answer]
    os.close(ours)
    done = subprocess.run(
        command,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=environment({"PYTHONUNBUFFERED": buffered}),
        check=False,
    )
    os.close(theirs)

    assert (done.returncode, done.stderr) == (1, b"")
