"""Every rule: its page, its fences and what they claim, its advice."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from oomph.cli.explain import lines_of
from oomph.diagnose import rules as folder
from oomph.diagnose.case import Case
from oomph.diagnose.causes import CAUSES, ENTAILS, NO_MEMORY_FAILURE
from oomph.diagnose.finding import Finding
from oomph.diagnose.hearing.case_of import case_of
from oomph.diagnose.rule import Rule, rules

FENCE = re.compile(r"^```log (?P<kind>\w+)\n(?P<log>.*?)^```$", re.MULTILINE | re.DOTALL)
SECTIONS = ("## What happened", "## Why", "## What to do")
each_rule = pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)


def fences(rule: Rule) -> Iterator[tuple[str, str]]:
    return ((found["kind"], found["log"]) for found in FENCE.finditer(rule.page))


def case(log: str, tmp_path: Path) -> Case:
    """Read as the command reads it."""
    file = tmp_path / "engine.log"
    file.write_text(log)
    return case_of(lines_of(str(file)))


LOGS = [
    pytest.param(rule, kind, log, id=f"{rule.code}-{kind}-{number}")
    for rule in rules()
    for number, (kind, log) in enumerate(fences(rule))
]


def fired() -> Iterator[tuple[Rule, str]]:
    return ((rule, log) for rule in rules() for kind, log in fences(rule) if kind == "fires")


def found(rule: Rule, log: str, tmp_path: Path) -> Finding:
    finding = rule.check(case(log, tmp_path))
    assert finding is not None
    return finding


def quotes(text: str, line: str) -> bool:
    """A sentence as it stands there; of a frame, its function."""
    return text[:40] in line or any(word in line for word in re.findall(r"\w{5,}", text))


@each_rule
def test_a_page_says_what_happened_why_and_what_to_do(rule: Rule) -> None:
    first, *_ = rule.page.strip().splitlines()
    places = [rule.page.find(section) for section in SECTIONS]

    assert first.endswith(".")
    assert -1 not in places
    assert places == sorted(places)


@each_rule
def test_a_page_shows_a_log_that_fires_and_one_that_is_silent(rule: Rule) -> None:
    assert {"fires", "silent"} == {kind for kind, _ in fences(rule)}


@pytest.mark.parametrize(("rule", "kind", "log"), LOGS)
def test_a_fence_does_what_it_says(rule: Rule, kind: str, log: str, tmp_path: Path) -> None:
    finding = rule.check(case(log, tmp_path))

    assert (finding is not None) is (kind == "fires")


@pytest.mark.parametrize(("rule", "log"), [pytest.param(*each, id=each[0].code) for each in fired()])
def test_a_finding_is_the_rules_own_with_evidence_from_the_log(rule: Rule, log: str, tmp_path: Path) -> None:
    finding = found(rule, log, tmp_path)
    lines = log.splitlines()

    assert (finding.code, finding.name, finding.cause) == (rule.code, rule.name, rule.cause)
    assert 0 < finding.confidence <= 1
    assert finding.summary
    assert finding.lines or finding.evidence
    assert all(1 <= said.line <= len(lines) for said in finding.lines)
    assert all(quotes(said.text, lines[said.line - 1]) for said in finding.lines)


@pytest.mark.parametrize(("rule", "log"), [pytest.param(*each, id=each[0].code) for each in fired()])
def test_every_remedy_has_a_price_a_lever_and_something_to_do(rule: Rule, log: str, tmp_path: Path) -> None:
    finding = found(rule, log, tmp_path)

    for remedy in finding.remedies:
        assert remedy.price
        assert remedy.lever
        assert remedy.change or remedy.act
    assert finding.remedies or finding.beyond or rule.code.startswith("NO")


def test_codes_and_names_are_used_once_and_stand_in_the_files_name() -> None:
    files = [path.stem for path in Path(folder.__path__[0]).glob("*.py") if path.stem != "__init__"]
    known = {f"{rule.code.lower()}_{rule.name.replace('-', '_')}" for rule in rules()}

    assert set(files) == known
    assert all(count == 1 for count in Counter(rule.code for rule in rules()).values())
    assert all(count == 1 for count in Counter(rule.name for rule in rules()).values())
    assert all(re.fullmatch(r"[A-Z]{2}\d{3}", rule.code) for rule in rules())


def test_every_cause_of_a_rule_is_known_and_nearly_all_known_causes_have_a_rule() -> None:
    named = {rule.cause for rule in rules()}

    assert len(CAUSES) == 50
    assert named <= {*CAUSES, NO_MEMORY_FAILURE}
    assert len(named & set(CAUSES)) >= 45


def test_what_follows_from_a_cause_is_a_cause() -> None:
    assert set(ENTAILS) <= set(CAUSES)
    assert set().union(*ENTAILS.values()) <= set(CAUSES)
