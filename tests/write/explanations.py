"""Explanations for hypothesis: any figures, any findings, any words that a stranger may have put into a log."""

from hypothesis import strategies as st

from oomph.diagnose.case import Case, Failure, Phase, Platform
from oomph.diagnose.explain import Outcome
from oomph.diagnose.explanation import Explanation
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.reconcile import Compared, Reconciled
from oomph.ledger.gate import Verdict
from oomph.ledger.observation import Observation, Quantity, Reading
from write.made import devices, flags, ledgers, names, sizes, values, words

saids = st.builds(Said, line=st.integers(0, 1 << 40), text=names, rank=names)
remedies = st.builds(
    Remedy,
    change=st.dictionaries(words, values, max_size=2),
    act=st.none() | words,
    lever=st.none() | words,
    price=words,
    verdict=st.sampled_from(Verdict),
    spare=st.none() | sizes,
)
findings = st.builds(
    Finding,
    code=words,
    name=words,
    summary=words,
    cause=st.none() | words,
    confidence=st.floats(0, 1),
    lines=st.lists(saids, max_size=3).map(tuple),
    evidence=flags,
    arithmetic=flags,
    remedies=st.lists(remedies, max_size=3).map(tuple),
    unhelpful=st.none() | st.dictionaries(words, words, max_size=3),
    missing=flags,
    beyond=flags,
)
readings = st.builds(Reading, value=sizes | st.integers(0, 1 << 40) | names, line=st.integers(0, 99), text=names)
observations = st.builds(
    Observation,
    engine=st.just("vLLM"),
    ranks=st.dictionaries(names, st.dictionaries(st.sampled_from(Quantity), readings, max_size=6), max_size=2),
)
cases = st.builds(
    Case,
    engine=st.none() | names,
    model=st.none() | names,
    devices=st.lists(devices, max_size=2).map(tuple),
    platform=st.frozensets(st.sampled_from(Platform)),
    observation=st.none() | observations,
    failures=st.lists(st.builds(Failure, kind=words, said=saids), max_size=2).map(tuple),
    phase=st.none() | st.sampled_from(Phase),
)
compared = st.builds(Compared, what=words, seen=sizes, line=st.integers(0, 99), computed=st.none() | sizes)
explanations = st.builds(
    Explanation,
    case=cases,
    findings=st.lists(findings, max_size=3).map(tuple),
    outcome=st.sampled_from(Outcome),
    reconciled=st.builds(Reconciled, compared=st.lists(compared, max_size=2).map(tuple), ledger=ledgers),
    notes=flags,
)
