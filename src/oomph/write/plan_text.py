"""A forecast for a person: the answer in one sentence, the picture, the ledger, what to do, and then the rest.

Knows what is said in which order, and keeps every line within the width. Does not know colours: each span has a style,
and the edge chooses how that looks. Without any style it reads the same.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Verdict
from oomph.units import Bytes
from oomph.write import sentences
from oomph.write.bars import bars, letter
from oomph.write.facts import labelled, section
from oomph.write.picture import picture
from oomph.write.span import Line, Span, Style, cells, joined, shortened, wrapped

if TYPE_CHECKING:
    from oomph.diagnose.finding import Finding, Remedy  # a plan that fits has none, and should not wait for them

_NARROWEST: Final = 40
_WIDEST: Final = 200
_TEXT: Final = 110  # columns; longer lines are hard to read
_REMEDIES: Final = 4  # of a finding, unless everything is asked for
_VAIN: Final = 3  # likewise of what does not help
_STYLES: Final = {
    Verdict.FITS: Style.FITS,
    Verdict.OVERFLOWS: Style.OVERFLOWS,
    Verdict.UNSURE: Style.UNSURE,
}
_GRADES: Final = {Verdict.FITS: "note", Verdict.OVERFLOWS: "error", Verdict.UNSURE: "warning"}


def plan_text(forecast: Forecast, findings: "tuple[Finding, ...]" = (), *, width: int = 80, whole: bool = False) -> str:
    """The words alone, for a pipe."""
    return "".join(f"{joined(line)}\n" for line in plan_lines(forecast, findings, width=width, whole=whole))


def plan_lines(
    forecast: Forecast, findings: "tuple[Finding, ...]" = (), *, width: int = 80, whole: bool = False
) -> Iterator[Line]:
    """Answer first; with `whole`, every gate and every reason at the end."""
    width = min(max(width, _NARROWEST), _WIDEST)
    text = min(width, _TEXT)
    for line in wrapped(sentences.sentence(sentences.outcome(forecast)), text):
        yield (Span(line, _STYLES[forecast.verdict]),)
    for line in wrapped(sentences.subject(forecast), text):
        yield (Span(line, Style.FAINT),)
    yield ()
    yield from bars(picture(forecast), width)
    yield from _why(forecast, text)
    yield from _ledger(forecast, text)
    for finding in findings:
        yield from _finding(finding, forecast, text, whole=whole)
    yield from _inert(forecast, findings, text)
    yield from section("kv pool", sentences.pool_facts(forecast), text)
    if whole:
        yield from _gates(forecast, text)
        yield from _reasons(forecast, text)
        yield from _groups(forecast, text)
    yield from _settings(forecast, text)
    yield from section("notes", (("-", note) for note in sentences.notes(forecast)), text, label=2)


def _why(forecast: Forecast, width: int) -> Iterator[Line]:
    stopped = forecast.stopped_at
    if stopped is None:
        return
    yield ()
    yield from labelled("why", stopped.because, width, indent=0, wide=5)


def _ledger(forecast: Forecast, width: int) -> Iterator[Line]:
    """One line per entry; what there is no room for is left out from the right."""
    when, ledger = sentences.shown_ledger(forecast)
    if not ledger.entries:
        return
    yield ()
    yield (Span(shortened(f"{when}, on {sentences.whose(forecast)}", width), Style.STRONG),)
    for entry in sentences.by_account(ledger):
        sign = Span(letter(entry.account), entry.account)
        yield _row(sign, entry.account, entry.size.likely, (sentences.ranged(entry.size), entry.basis), width)
    if len(ledger.entries) > 1:
        known = (sentences.together(forecast), ledger.basis)
        yield _row(Span(" "), "together", ledger.total.likely, known, width)


def _row(sign: Span, name: str, likely: Bytes, known: tuple[str, str], width: int) -> Line:
    line = [Span("  "), sign, Span(f" {name:11}  {likely:>11}")]
    for column in (f"  {known[0]:26}", f"  {known[1]:10}"):
        if sum(cells(span.text) for span in line) + len(column) > width:
            break
        line.append(Span(column, Style.FAINT))
    return tuple(line)


def _finding(finding: "Finding", forecast: Forecast, width: int, *, whole: bool) -> Iterator[Line]:
    yield ()
    title = f"{_GRADES[forecast.verdict]}[{finding.code}] {finding.name}"
    yield (Span(shortened(title, width), Style.STRONG),)
    for line in wrapped(finding.summary, width - 2):
        yield (Span(f"  {line}"),)
    remedies, vain = finding.remedies, tuple((finding.unhelpful or {}).items())
    for remedy in remedies if whole else remedies[:_REMEDIES]:
        yield from _remedy(remedy, forecast, width)
    starts = any(remedy.fails_at is None for remedy in remedies)
    for words in finding.beyond:
        yield from labelled("or" if starts else "note", words, width)
    for flag, why in vain if whole else vain[:_VAIN]:
        yield from labelled("not", f"{flag}: {why}", width)
    if whole:
        yield from _evidence(finding, forecast, width)
    elif left := _left_out(len(remedies) - _REMEDIES, len(vain) - _VAIN):
        yield from labelled("more", f"{left}: --all", width)


def _left_out(to_do: int, not_to: int) -> str:
    return ", ".join(f"{count} {what}" for count, what in ((to_do, "to do"), (not_to, "not to do")) if count > 0)


def _evidence(finding: "Finding", forecast: Forecast, width: int) -> Iterator[Line]:
    """What was seen, unless it was said as the reason."""
    said = None if forecast.stopped_at is None else forecast.stopped_at.because
    for evidence in finding.evidence:
        if evidence != said:
            yield from labelled("seen", evidence, width)


def _remedy(remedy: "Remedy", forecast: Forecast, width: int) -> Iterator[Line]:
    label = "do" if remedy.fails_at is None else "partly"
    yield from labelled(label, sentences.change(remedy, forecast.engine), width, style=Style.FLAG)
    yield from labelled("price", remedy.price, width)
    yield from labelled("then", sentences.result(remedy), width, style=_STYLES[remedy.verdict])


def _inert(forecast: Forecast, findings: "tuple[Finding, ...]", width: int) -> Iterator[Line]:
    """Flags that change nothing where it stops, and of which no finding has said so."""
    left = sentences.also_inert(forecast, findings)
    if left:
        yield from section("changes nothing there", [("", ", ".join(left))], width, label=0)


def _gates(forecast: Forecast, width: int) -> Iterator[Line]:
    for gate in forecast.gates:
        yield ()
        yield Span(f"{gate.step}: ", Style.STRONG), Span(gate.verdict, _STYLES[gate.verdict])
        yield from _gate(gate, width)


def _gate(gate: Gate, width: int) -> Iterator[Line]:
    needs, has = sentences.sides(gate)
    facts = [("asks", sentences.HAPPENS[gate.step]), ("needs", needs), ("has", has), ("why", gate.because)]
    if gate.inert:
        facts.append(("inert", ", ".join(gate.inert)))
    for name, words in facts:
        yield from labelled(name, words, width)


def _reasons(forecast: Forecast, width: int) -> Iterator[Line]:
    """How each size is known."""
    when, ledger = sentences.shown_ledger(forecast)
    facts = ((entry.account, f"{entry.size}, {entry.basis}: {entry.because}") for entry in ledger)
    yield from section(f"how we know what is there {when}", facts, width, label=13)


def _groups(forecast: Forecast, width: int) -> Iterator[Line]:
    facts = (("group", words) for words in sentences.groups(forecast))
    yield from section("layers that take blocks together", facts, width)


def _settings(forecast: Forecast, width: int) -> Iterator[Line]:
    """Name, value and where it comes from; on a narrow screen one after the other."""
    longest = max((len(name) for name in forecast.settings), default=0)
    wide = longest + 2 if 2 * longest < width else 0
    facts = []
    for name, setting in forecast.settings.items():
        words = f"{sentences.value(setting)}  ({setting.because or setting.origin})"
        facts.append((name, words) if wide else ("", f"{name} {words}"))
    yield from section("settings", facts, width, label=wide)
