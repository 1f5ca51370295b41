"""A forecast as one page that stands alone: no network, no script, light and dark, readable on a phone.

Knows what is on the page and in which order. Does not know how it looks (`look`), nor where bars end (`picture`).
"""

from collections.abc import Iterable, Iterator
from typing import Final

from oomph.diagnose.finding import Finding, Remedy
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate
from oomph.write import sentences
from oomph.write.html_page import figure, html_page, section
from oomph.write.look import drawn, page
from oomph.write.markup import Markup, tag, together
from oomph.write.picture import Fate, Picture, picture
from oomph.write.table import named, swatch, table


def plan_html(forecast: Forecast, findings: tuple[Finding, ...] = ()) -> str:
    """A whole file."""
    return html_page(sentences.answer(forecast), drawn() + page(), _sections(forecast, findings))


def _sections(forecast: Forecast, findings: tuple[Finding, ...]) -> Iterator[Markup]:
    shown = picture(forecast)
    yield _answer(forecast)
    yield _figure(forecast, shown)
    yield from (_finding(finding, forecast) for finding in findings)
    yield from _unhelpful(forecast, findings)
    yield from _ledger(forecast)
    yield from _facts(
        "KV pool", [*sentences.pool_facts(forecast), *(("group", it) for it in sentences.groups(forecast))]
    )
    yield _gates(forecast, shown)
    yield from _settings(forecast)
    yield from _notes(forecast)


def _answer(forecast: Forecast) -> Markup:
    stopped = forecast.stopped_at
    return tag(
        "header",
        tag("p", sentences.subject(forecast), class_="faint"),
        tag("h1", sentences.sentence(sentences.outcome(forecast)), class_=forecast.verdict),
        *(() if stopped is None else (tag("p", sentences.sentence(stopped.because)),)),
    )


def _figure(forecast: Forecast, shown: Picture) -> Markup:
    """Two sheets, of which the page shows the one that suits its width."""
    words = "; ".join(f"{row.step}: {sentences.margin(row)}" for row in shown.rows)
    label = f"What fills {sentences.whose(forecast)}, gate by gate. {words}."
    return figure(shown, label)


def _finding(finding: Finding, forecast: Forecast) -> Markup:
    starts = any(remedy.fails_at is None for remedy in finding.remedies)
    title = "What to do" if starts else "What is wrong"
    cards = [_remedy(remedy, forecast) for remedy in finding.remedies]
    listed = (tag("ol", *cards, class_="cards"),) if cards else ()
    others = (tag("p", sentences.sentence(words)) for words in finding.beyond)
    return section(title, tag("p", sentences.sentence(finding.summary)), *listed, *others, _code(finding))


def _code(finding: Finding) -> Markup:
    return tag("p", f"{finding.code} {finding.name}", class_="faint")


def _remedy(remedy: Remedy, forecast: Forecast) -> Markup:
    return tag(
        "li",
        tag("code", sentences.change(remedy, forecast.engine), class_="take"),
        tag("p", sentences.sentence(sentences.result(remedy)), class_=f"then {remedy.verdict}"),
        tag("p", tag("span", "Price: ", class_="faint"), remedy.price),
    )


def _unhelpful(forecast: Forecast, findings: tuple[Finding, ...]) -> Iterator[Markup]:
    """Flags that are often advised, and why they change nothing there; then those of which nothing more is said."""
    known = [item for finding in findings for item in (finding.unhelpful or {}).items()]
    items = [tag("li", named(flag), Markup(" "), tag("span", why)) for flag, why in known]
    if also := sentences.also_inert(forecast, findings):
        items.append(tag("li", *_spaced(tag("code", flag) for flag in also), tag("span", "changes nothing there")))
    if items:
        yield section("What does not help", tag("ul", *items))


def _spaced(parts: Iterable[Markup]) -> Iterator[Markup]:
    for part in parts:
        yield part
        yield Markup(" ")


def _ledger(forecast: Forecast) -> Iterator[Markup]:
    when, ledger = sentences.shown_ledger(forecast)
    if not ledger.entries:
        return
    rows = [
        (swatch(entry.account), str(entry.size.likely), sentences.ranged(entry.size), entry.basis, entry.because)
        for entry in ledger
    ]
    total = ledger.total
    foot = (Markup("together"), str(total.likely), sentences.together(forecast), ledger.basis, "")
    yield section(
        f"On the device {when}",
        tag("p", sentences.whose(forecast), class_="faint"),
        table(_COLUMNS, rows, foot),
    )


_COLUMNS: Final = ("account", "likely", "between", "basis", "how we know")


def _facts(title: str, facts: Iterable[tuple[str, str]]) -> Iterator[Markup]:
    pairs = [together(tag("dt", name), tag("dd", words)) for name, words in facts]
    if pairs:
        yield section(title, tag("dl", *pairs))


def _gates(forecast: Forecast, shown: Picture) -> Markup:
    return section(
        "Every gate", *(_gate(row.step, row.gate, row.fate, sentences.margin(row), forecast) for row in shown.rows)
    )


def _gate(step: str, gate: Gate | None, fate: Fate, words: str, forecast: Forecast) -> Markup:
    looks = {Fate.PASSES: "fits", Fate.STOPS: "overflows", Fate.UNSURE: "unsure"}
    head = tag("summary", tag("strong", step), Markup(" "), tag("span", words, class_=looks.get(fate, "faint")))
    if gate is None:
        why = next((why for skipped, why in forecast.skipped.items() if skipped == step), "nothing is said of it yet")
        return tag("details", head, tag("p", why))
    needs, has = sentences.sides(gate)
    facts = [("asks", sentences.HAPPENS[gate.step]), ("needs", needs), ("has", has), ("why", gate.because)]
    pairs = [together(tag("dt", name), tag("dd", said)) for name, said in facts]
    if gate.inert:
        pairs.append(together(tag("dt", "inert"), tag("dd", *_spaced(tag("code", flag) for flag in gate.inert))))
    return tag("details", head, tag("dl", *pairs), open="open" if gate is forecast.stopped_at else None)


def _settings(forecast: Forecast) -> Iterator[Markup]:
    pairs = [
        together(
            tag("dt", tag("code", name)),
            tag(
                "dd",
                sentences.value(setting),
                Markup(" "),
                tag("span", setting.because or setting.origin, class_="faint"),
            ),
        )
        for name, setting in forecast.settings.items()
    ]
    if pairs:
        yield section("Settings", tag("dl", *pairs, class_="settings"))


def _notes(forecast: Forecast) -> Iterator[Markup]:
    items = [tag("li", note) for note in sentences.notes(forecast)]
    if items:
        yield section("Notes", tag("ul", *items))
