"""What a person is told of a log: within any width, whatever the log says."""

import json

from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.case import Case
from oomph.diagnose.explain import Outcome
from oomph.diagnose.explanation import Explanation
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.reconcile import Reconciled
from oomph.ledger.gate import Verdict
from oomph.units import GIB, Bounds
from oomph.write.explain_html import explain_html
from oomph.write.explain_json import SCHEMA, explain_json
from oomph.write.explain_text import explain_lines, explain_text
from oomph.write.span import cells, joined
from write.explanations import explanations
from write.made import HOSTILE
from write.test_plan_html import KNOWN, read

FOUND = Finding(
    code="GP001",
    name="graph-profile-pool-above-rest",
    summary="the pool of the graph profile does not fit",
    cause="graph_profile_minimal_kv",
    confidence=0.95,
    lines=(Said(line=85, text="Tried to allocate 1.56 GiB"),),
    arithmetic=("1.56 GiB = 512 × 3,276,800 B",),
    remedies=(
        Remedy(change={"max_num_seqs": 16}, price="fewer at once", verdict=Verdict.FITS, spare=Bounds(3 * GIB)),
        Remedy(change={}, act="wait", price="time"),
    ),
    unhelpful={"--gpu-memory-utilization": "there is no budget yet"},
    missing=("the model",),
)


def told(*findings: Finding, outcome: Outcome = Outcome.EXPLAINED, case: Case | None = None) -> Explanation:
    return Explanation(case=case or Case(), findings=findings, outcome=outcome, reconciled=Reconciled())


def test_the_order_is_answer_proof_deed_vanity_doubt() -> None:
    text = explain_text(told(FOUND))
    parts = (
        "The pool of the graph profile does not fit.",
        "how we know  GP001 graph-profile-pool-above-rest, 95 % sure",
        "  85:      Tried to allocate 1.56 GiB",
        "  so       1.56 GiB = 512 × 3,276,800 B",
        "  do       --max-num-seqs 16",
        "  price    fewer at once",
        "  then     it starts; 3.00 GiB to spare at that gate",
        "  do       wait",
        "  not      --gpu-memory-utilization: there is no budget yet",
        "what would make it sure",
        "the model",
    )
    places = [text.find(part) for part in parts]

    assert -1 not in places
    assert places == sorted(places)


def test_a_remedy_that_no_forecast_has_seen_promises_nothing() -> None:
    assert "then" not in explain_text(told(Finding(code="A", name="b", summary="c", remedies=(FOUND.remedies[1],))))


def test_candidates_are_told_with_what_would_tell_them_apart() -> None:
    other = Finding(code="B", name="b", summary="another thing", confidence=0.3, missing=("the release",))
    text = explain_text(told(FOUND, other, outcome=Outcome.UNSURE))

    assert text.startswith("Not sure; perhaps the pool of the graph profile does not fit.")
    assert text.index("another thing") > text.index("  if so    --max-num-seqs 16")
    assert "  - the model\n  - the release\n" in text


def test_a_failure_that_no_rule_knows_is_said_to_be_one() -> None:
    assert explain_text(told(outcome=Outcome.UNSURE)).startswith("Memory ran out, and no rule recognises why.")


@given(explanations, st.integers(1, 300), st.booleans())
def test_every_line_fits_and_shows_only_what_can_be_seen(found: Explanation, width: int, whole: bool) -> None:  # noqa: FBT001 - as hypothesis gives it
    room = min(max(width, 40), 200)
    for line in explain_lines(found, width=width, whole=whole):
        text = joined(line)
        assert cells(text) <= room
        assert text.isprintable()


@given(explanations)
def test_no_words_of_a_log_become_markup(found: Explanation) -> None:
    page = read(explain_html(found))

    assert page.open == []
    assert set(page.tags) <= KNOWN
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in {"href", "src"}]
    assert "".join(page.words).replace("\n", "").isprintable()


def test_hostile_lines_are_shown_as_they_are_written() -> None:
    lines = tuple(Said(line=number, text=text) for number, text in enumerate(HOSTILE, 1))
    found = told(Finding(code="A", name="b", summary=HOSTILE[0], lines=lines))
    page, text = explain_html(found), explain_text(found)

    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\\x1b[31mred" in text
    assert "\\u202egnp.exe" in text
    assert not any(sign in page + text for sign in "\x1b\u202e")


@given(explanations)
def test_the_contract_has_every_key_whatever_is_found(found: Explanation) -> None:
    told = json.loads(explain_json(found))

    assert told["schema"] == SCHEMA
    assert {"release", "phase", "verdict", "findings", "observations", "ledger"} <= told.keys()
    for finding in told["findings"]:
        keys = {"code", "name", "summary", "cause", "confidence", "evidence", "arithmetic", "remedies", "missing"}
        assert keys | {"does_not_help"} <= finding.keys()
        assert all({"line", "text"} <= each.keys() for each in finding["evidence"])
        assert all({"flag", "why"} == each.keys() for each in finding["does_not_help"])
        remedy = {"change", "act", "price", "verdict", "spare", "lever"}
        assert all(remedy == each.keys() for each in finding["remedies"])


def test_sizes_are_whole_bytes() -> None:
    (finding,) = json.loads(explain_json(told(FOUND)))["findings"]

    assert finding["remedies"][0]["spare"] == {"low": 3 * GIB, "likely": 3 * GIB, "high": 3 * GIB}
    assert finding["evidence"] == [{"line": 85, "rank": None, "text": "Tried to allocate 1.56 GiB"}]
