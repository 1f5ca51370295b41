"""`oomph rule`: the list, a page, and what is near to what was asked for."""

import pytest

from oomph.cli.main import main
from oomph.diagnose.rule import rules


def test_every_rule_is_listed_with_its_code_and_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")

    status = main(["rule"])
    lines = capsys.readouterr().out.splitlines()

    assert status == 0
    named = [line.split()[:2] for line in lines if not line.startswith(" ")]
    assert named == [[rule.code, rule.name] for rule in rules()]
    assert all(len(line) <= 160 for line in lines)


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_the_list_cuts_nothing_off(
    columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    main(["rule"])
    out = capsys.readouterr().out
    whole = " ".join(out.split())

    assert all(len(line) <= int(columns) for line in out.splitlines())
    assert "…" not in out
    assert all(f"{rule.code} {rule.name} {rule.page.strip().partition(chr(10))[0]}" in whole for rule in rules())


@pytest.mark.parametrize("written", ["GP001", "gp001", "graph-profile-pool-above-rest"])
def test_a_page_is_printed_as_it_is_written(written: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["rule", written])
    out = capsys.readouterr().out

    assert status == 0
    assert out.startswith("# GP001 graph-profile-pool-above-rest\n")
    assert "\n## Why\n" in out
    assert "```log fires\n" in out
    rule = next(rule for rule in rules() if rule.code == "GP001")
    assert rule.page.split() == out.split()[3:]


def test_paragraphs_fit_the_screen(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    main(["rule", "GP001"])
    out = capsys.readouterr().out
    prose = "".join(part for number, part in enumerate(out.split("```")) if number % 2 == 0)

    assert max(len(line) for line in prose.splitlines()) <= 60


@pytest.mark.parametrize(("written", "near"), [("GP01", "GP001"), ("gp0001", "GP001"), ("no-room-for-pol", "PS001")])
def test_an_unknown_code_is_refused_with_the_nearest(
    written: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rule", written]) == 2
    said = capsys.readouterr().err
    rule = next(rule for rule in rules() if rule.code == near)
    assert near in said or rule.name in said
