"""How findings are ranked, and what they make of a case."""

import pytest

from oomph.diagnose.case import Case, Failure
from oomph.diagnose.explain import Outcome, explain, outcome
from oomph.diagnose.finding import Finding, Said


def finding(code: str, confidence: float, cause: str = "weights_exceed_gpu") -> Finding:
    return Finding(code=code, name="a-condition", summary="it is so", cause=cause, confidence=confidence)


def failed(text: str, kind: str = "RuntimeError") -> Case:
    return Case(failures=(Failure(kind=kind, said=Said(line=1, text=text)),))


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ((), Outcome.NO_MEMORY_FAILURE),
        ((finding("LD001", 0.6),), Outcome.EXPLAINED),
        ((finding("LD001", 0.59),), Outcome.UNSURE),
        ((finding("NO001", 0.9), finding("LD001", 0.7)), Outcome.NO_MEMORY_FAILURE),
        ((finding("NO001", 0.4), finding("LD001", 0.3)), Outcome.UNSURE),
    ],
)
def test_the_first_finding_decides_and_doubt_is_said(findings: tuple[Finding, ...], expected: Outcome) -> None:
    assert outcome(Case(), findings) is expected


@pytest.mark.parametrize("text", ["CUDA error: out of memory", "CUDA out of memory. Tried to allocate 2.00 GiB"])
def test_a_memory_failure_that_no_rule_knows_is_one_all_the_same(text: str) -> None:
    assert outcome(failed(text), ()) is Outcome.UNSURE
    assert outcome(failed("CUDA error: unspecified launch failure"), ()) is Outcome.NO_MEMORY_FAILURE


def test_nothing_is_found_in_nothing() -> None:
    assert explain(Case()) == ()
