"""From a case to what is wrong: every rule is asked, and the most confident answer is the root cause.

Knows how answers are ranked, when they are sure enough, and that no advice leaves this house that is idle at the gate
that failed. Does not know any rule.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.causes import ENTAILS
from oomph.diagnose.finding import Finding
from oomph.diagnose.reconcile import reconcile
from oomph.diagnose.rule import Rule, rules
from oomph.diagnose.sieve import sifted
from oomph.engines.vllm import lines
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UnknownRelease
from oomph.ledger.observation import Quantity

SURE: Final = 0.6  # below this a cause is a candidate
_SPOKEN_FOR: Final = 0.03  # by what is in no account
_SUREST: Final = 0.97  # that a gap alone makes it
NOT_MEMORY: Final = "NO"  # codes of rules that say: this is no memory failure
_RAN_OUT: Final = re.compile(r"(?i:out of memory|OutOfMemory|cannot allocate memory|MemoryError)|\bOOM(?:Killed)?\b")
_RELEASE: Final = "the release of the engine, --release: nothing in the log names it"

# Sentences with which an engine refuses for want of memory, whatever rules make of them.
_REFUSALS: Final = frozenset(sentence.name for sentence in lines.REFUSALS) - {"engine gone", "block above step"}


class Outcome(StrEnum):
    """What was made of a case."""

    EXPLAINED = "explained"
    UNSURE = "unsure"
    NO_MEMORY_FAILURE = "no-memory-failure"


def explain(case: Case) -> tuple[Finding, ...]:
    """What is wrong, the root cause first, then what follows from it, then what else it may be."""
    beside = reconcile(case)
    asked = (_asked(rule, case) for rule in rules())
    found = [
        sifted(_supported(finding, beside.speaks), case, beside.contradicted)
        for finding in asked
        if finding is not None
    ]
    found.sort(key=lambda finding: (-finding.confidence, finding.code))
    if not found or found[0].confidence < SURE:
        return tuple(found)
    root, *others = found
    entailed = ENTAILS.get(root.cause or "", frozenset())
    return (root, *sorted(others, key=lambda finding: finding.cause not in entailed))


def _supported(finding: Finding, spoken: Mapping[str, str]) -> Finding:
    """Surer, where the gap between log and forecast speaks for it."""
    words = spoken.get(finding.cause or "")
    if words is None:
        return finding
    surer = min(finding.confidence + _SPOKEN_FOR, _SUREST)
    return replace(finding, confidence=max(finding.confidence, surer), arithmetic=(*finding.arithmetic, words))


def _asked(rule: Rule, case: Case) -> Finding | None:
    """A rule that looks into a table which does not know the release has nothing to say."""
    try:
        finding = rule.check(case)
    except UnknownRelease:
        return None
    return None if finding is None else _asking(finding, case)


def _asking(finding: Finding, case: Case) -> Finding:
    """Where a model is named and no release: what would be derived of both is missing."""
    known = case.release is not None or case.model is None or case.engine != HISTORY.engine
    if known or finding.code.startswith(NOT_MEMORY) or any("release" in words for words in finding.missing):
        return finding
    return replace(finding, missing=(*finding.missing, _RELEASE))


def outcome(case: Case, findings: tuple[Finding, ...]) -> Outcome:
    """How sure that is; a failure that no rule knows is not explained, but it is one."""
    if not findings:
        return Outcome.UNSURE if _ran_out(case) else Outcome.NO_MEMORY_FAILURE
    root = findings[0]
    if root.confidence < SURE:
        return Outcome.UNSURE
    return Outcome.NO_MEMORY_FAILURE if root.code.startswith(NOT_MEMORY) else Outcome.EXPLAINED


def _ran_out(case: Case) -> bool:
    said = (f"{failure.kind} {failure.said.text}" for failure in case.failures)
    refused = any(case.spoken(name) is not None for name in _REFUSALS)
    return refused or case.size(Quantity.TRIED) is not None or any(_RAN_OUT.search(text) for text in said)
