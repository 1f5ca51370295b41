"""Every example of the README is run, and says what the README says it says."""

import re
import shlex
from pathlib import Path

import pytest

from oomph.cli.main import main
from tidy.repository import ROOT

EXAMPLES = re.findall(r"```console\n\$ oomph (.+?)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command[:40] for command, _ in EXAMPLES])
def test_an_example_says_what_the_readme_shows(
    command: str, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("COLUMNS", raising=False)
    main(shlex.split(command))
    said = capsys.readouterr()

    assert said.out + said.err == shown


def test_the_picture_is_what_the_first_example_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    first, *words = shlex.split(EXAMPLES[0][0])
    main([first, "--svg", str(tmp_path / "plan.svg"), *words])
    capsys.readouterr()

    assert (tmp_path / "plan.svg").read_text() == (ROOT / "docs/pictures/plan.svg").read_text()
