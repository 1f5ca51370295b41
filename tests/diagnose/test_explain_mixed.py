"""Logs made of the lines of all pages, in any order and cut anywhere: nothing breaks, nothing idle is advised."""

import re
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oomph.diagnose.case import Case, Platform
from oomph.diagnose.explain import SURE, Outcome, explain, outcome
from oomph.diagnose.failed_gate import failed_gate
from oomph.diagnose.hearing.case_of import case_of
from oomph.diagnose.reconcile import reconcile
from oomph.diagnose.rule import rules
from oomph.diagnose.sieve import vain_levers
from oomph.engines.history import release
from oomph.ledger.ledger import Account
from oomph.ledger.observation import Quantity

FENCE = re.compile(r"^```log \w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINES = sorted({line for rule in rules() for log in FENCE.findall(rule.page) for line in log.splitlines()})
lines = st.sampled_from(LINES) | st.builds(lambda line, end: line[:end], st.sampled_from(LINES), st.integers(0, 300))
releases = st.none() | st.sampled_from(["0.2.7", "0.5.4", "0.6.3", "0.8.1", "0.9.2", "0.19.1", "0.26.0", "0.33.0"])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    log = enumerate(draw(st.lists(lines, max_size=12)), 1)
    named = draw(releases)
    found = case_of(log, release=None if named is None else release(named))
    platform = draw(st.frozensets(st.sampled_from(Platform), max_size=1))
    return replace(found, platform=found.platform | platform)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(cases())
def test_no_rule_can_advise_what_is_idle(case: Case) -> None:
    findings = explain(case)
    step = failed_gate(case)

    assert all(0 < finding.confidence <= 1 for finding in findings)
    if step is not None and case.engine in {"vLLM", None}:
        idle = [vain_levers(remedy, found, case, step) for found in findings for remedy in found.remedies]
        assert not any(idle)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(cases())
def test_the_surest_is_first_and_decides(case: Case) -> None:
    findings = explain(case)
    found = outcome(case, findings)

    assert all(finding.confidence <= findings[0].confidence for finding in findings)
    assert (found is Outcome.EXPLAINED) == bool(
        findings and findings[0].confidence >= SURE and not findings[0].code.startswith("NO")
    )


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(cases())
def test_accounts_add_up_to_what_was_seen(case: Case) -> None:
    ledger = reconcile(case).ledger
    total, free = case.size(Quantity.DEVICE_TOTAL), case.size(Quantity.DEVICE_FREE)

    if total is None or free is None:
        assert ledger.entries == ()
    else:
        assert ledger.total.likely == total.likely - free.likely
        assert ledger.of(Account.UNACCOUNTED) is not None
