"""An explanation as one page that stands alone: no network, no script, light and dark, readable on a phone.

Knows what is on the page and in which order. Does not know how it looks (`look`), nor where bars end (`picture`). A log
is full of strangers' words: whatever is not markup is text, and is escaped where it goes in.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from oomph.diagnose.explain import Outcome
from oomph.diagnose.explanation import Explanation
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.moment import device_total, moment
from oomph.write import accounts, sentences
from oomph.write.html_page import figure, html_page, section
from oomph.write.look import drawn, page, quoted
from oomph.write.markup import Markup, tag
from oomph.write.picture import snapshot
from oomph.write.table import named, swatch, table

_LOOKS: Final = {Outcome.EXPLAINED: "overflows", Outcome.UNSURE: "unsure", Outcome.NO_MEMORY_FAILURE: "fits"}
_COLUMNS: Final = ("account", "likely", "between", "basis", "how we know")


def explain_html(found: Explanation) -> str:
    """A whole file."""
    return html_page(accounts.answer(found), drawn() + page() + quoted(), _sections(found))


def _sections(found: Explanation) -> Iterator[Markup]:
    yield tag(
        "header",
        tag("p", accounts.subject(found), class_="faint"),
        tag("h1", accounts.answer(found), class_=_LOOKS[found.outcome]),
    )
    yield from _figure(found)
    if found.outcome is Outcome.UNSURE:
        yield from _candidates(found)
    elif found.root is not None:
        yield from _finding(found.root, found)
        yield from _others(found)
    yield from _ledger(found)
    yield from _compared(found)
    yield from _figures(found)
    yield from _listed("Notes", found.notes)


def _figure(found: Explanation) -> Iterator[Markup]:
    """What filled the device; two sheets, of which the page shows the one that suits its width."""
    gate, total = moment(found.case, found.reconciled.ledger), device_total(found.case)
    if gate is None or total is None or found.outcome is Outcome.NO_MEMORY_FAILURE:
        return
    shown = snapshot(gate, total)
    label = f"What filled the device of {total} when it ended: {gate.because}."
    yield figure(shown, label)


def _finding(finding: Finding, found: Explanation) -> Iterator[Markup]:
    yield section("How we know", *_proof(finding), _code(finding))
    cards = [_remedy(remedy, found) for remedy in finding.remedies]
    others = [tag("p", sentences.sentence(words)) for words in finding.beyond]
    if cards or others:
        listed = (tag("ol", *cards, class_="cards"),) if cards else ()
        yield section("What to do", *listed, *others)
    yield from _unhelpful(finding)
    yield from _listed("What would make it sure", finding.missing)


def _proof(finding: Finding) -> Iterator[Markup]:
    if finding.lines:
        yield tag("ol", *(_said(said) for said in dict.fromkeys(finding.lines)), class_="said")
    yield from (tag("p", sentences.sentence(words)) for words in finding.evidence)
    yield from (tag("p", words, class_="sum") for words in finding.arithmetic)


def _said(said: Said) -> Markup:
    number = tag("span", f"line {said.line}" if said.line else "", class_="faint")
    return tag("li", number, tag("code", said.text))


def _code(finding: Finding) -> Markup:
    return tag("p", f"{finding.code} {finding.name}, {accounts.sureness(finding)}", class_="faint")


def _remedy(remedy: Remedy, found: Explanation) -> Markup:
    result = accounts.then(remedy, found.case)
    words = accounts.deed(remedy, found.case.engine)
    return tag(
        "li",
        tag("code", words, class_="take") if remedy.act is None else tag("p", sentences.sentence(words), class_="deed"),
        *(() if result is None else (tag("p", sentences.sentence(result), class_=f"then {remedy.verdict}"),)),
        tag("p", tag("span", "Price: ", class_="faint"), remedy.price),
    )


def _unhelpful(finding: Finding) -> Iterator[Markup]:
    known = (finding.unhelpful or {}).items()
    items = [tag("li", named(flag), Markup(" "), tag("span", why)) for flag, why in known]
    if items:
        yield section("What does not help here", tag("ul", *items))


def _candidates(found: Explanation) -> Iterator[Markup]:
    for finding in found.candidates:
        share = f"{round(finding.confidence * 100)} %: {finding.summary}"
        cards = [_remedy(remedy, found) for remedy in finding.remedies]
        listed = (tag("p", "If it is that:", class_="faint"), tag("ol", *cards, class_="cards")) if cards else ()
        yield section(sentences.sentence(share), *_proof(finding), *listed, _code(finding))
    missing = dict.fromkeys(words for finding in found.candidates for words in finding.missing)
    yield from _listed("What would make it sure", missing)
    if found.candidates:
        yield from _unhelpful(found.candidates[0])


def _others(found: Explanation) -> Iterator[Markup]:
    words = (f"{each.code} {each.name}: {each.summary} ({accounts.sureness(each)})" for each in found.others)
    yield from _listed("Also found, after that", words)


def _listed(title: str, words: Iterable[str]) -> Iterator[Markup]:
    items = [tag("li", each) for each in words]
    if items:
        yield section(title, tag("ul", *items))


def _ledger(found: Explanation) -> Iterator[Markup]:
    ledger = found.reconciled.ledger
    if len(ledger.entries) <= 1:
        return
    rows = [
        (swatch(entry.account), str(entry.size.likely), sentences.ranged(entry.size), entry.basis, entry.because)
        for entry in ledger
    ]
    foot = (Markup("together"), str(ledger.total.likely), sentences.ranged(ledger.total), ledger.basis, "")
    yield section("On the device when it ran out", table(_COLUMNS, rows, foot))


def _compared(found: Explanation) -> Iterator[Markup]:
    both = [each for each in found.reconciled.compared if each.computed is not None]
    words = (f"{each.what} (line {each.line}): {accounts.compared(each)}" for each in both)
    yield from _listed("The log beside the forecast", words)


def _figures(found: Explanation) -> Iterator[Markup]:
    items = [tag("li", f"line {line}: {what}, {size}") for what, size, line in accounts.figures(found)]
    if items:
        head = tag("summary", tag("strong", "Every figure"), Markup(" "), tag("span", "that was read", class_="faint"))
        yield tag("section", tag("details", head, tag("ul", *items)))
