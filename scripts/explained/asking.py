"""Asks for an explanation of each record, with what its class of evidence says shall be given.

Knows what goes in and what comes out. Does not know what is right.
"""

from dataclasses import dataclass, replace
from functools import cache
from tempfile import NamedTemporaryFile

from explained.given import Given, given
from explained.records import Crash, Evidence
from oomph.cli.explain import lines_of
from oomph.diagnose.case import Case
from oomph.diagnose.explain import Outcome, explain, outcome
from oomph.diagnose.finding import Finding
from oomph.diagnose.hearing.case_of import case_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was made of a record."""

    crash: Crash
    case: Case
    findings: tuple[Finding, ...]
    outcome: Outcome

    @property
    def cause(self) -> str | None:
        """Of the root."""
        return self.findings[0].cause if self.findings else None


@cache
def answer(crash: Crash, *, all_given: bool = False) -> Answer:
    """The log alone; and what else there is, where it is needed."""
    beside = given(crash) if all_given or crash.evidence is Evidence.NEEDS_MORE else Given()
    case = case_from(crash.log, beside)
    findings = explain(case)
    return Answer(crash=crash, case=case, findings=findings, outcome=outcome(case, findings))


def case_from(log: str, beside: Given) -> Case:
    """As the command line builds it."""
    case = case_of(
        _read(log),
        release=beside.release,
        flags=beside.flags,
        model_name=beside.model,
        devices=beside.hardware.devices,
    )
    return replace(case, platform=case.platform | beside.hardware.platform)


def _read(log: str) -> tuple[tuple[int, str], ...]:
    """Through a file, so that all is as it would be at the command line."""
    with NamedTemporaryFile("w", suffix=".log", encoding="utf-8") as file:
        file.write(log)
        file.flush()
        return tuple(lines_of(file.name))
