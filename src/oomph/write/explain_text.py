"""An explanation for a person: what failed and why in one sentence, the proof, what to do, what not, and the rest.

Knows what is said in which order, and keeps every line within the width. Does not know colours: each span has a style,
and the edge chooses how that looks. Without any style it reads the same.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.explain import Outcome
from oomph.diagnose.explanation import Explanation
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.moment import device_total, moment
from oomph.ledger.gate import Verdict
from oomph.ledger.ledger import Account, Entry
from oomph.units import Bytes
from oomph.write import accounts
from oomph.write.bars import bars, letter
from oomph.write.facts import LABEL, heading, labelled, section
from oomph.write.picture import snapshot
from oomph.write.span import Line, Span, Style, cells, joined, shortened, wrapped

_NARROWEST: Final = 40
_WIDEST: Final = 200
_TEXT: Final = 110  # columns; longer lines are hard to read
_REMEDIES: Final = 4  # of a finding, unless everything is asked for
_VAIN: Final = 4  # likewise of what does not help
_LINES: Final = 6  # of evidence
_ROWS: Final = 3  # that one line of evidence takes
_CANDIDATES: Final = 3
_OUTCOMES: Final = {
    Outcome.EXPLAINED: Style.OVERFLOWS,
    Outcome.UNSURE: Style.UNSURE,
    Outcome.NO_MEMORY_FAILURE: Style.FITS,
}
_VERDICTS: Final = {Verdict.FITS: Style.FITS, Verdict.OVERFLOWS: Style.OVERFLOWS, Verdict.UNSURE: Style.UNSURE}


def explain_text(found: Explanation, *, width: int = 80, whole: bool = False) -> str:
    """The words alone, for a pipe."""
    return "".join(f"{joined(line)}\n" for line in explain_lines(found, width=width, whole=whole))


def explain_lines(found: Explanation, *, width: int = 80, whole: bool = False) -> Iterator[Line]:
    """Answer first; with `whole`, every finding, every remedy and every figure."""
    width = min(max(width, _NARROWEST), _WIDEST)
    text = min(width, _TEXT)
    for line in wrapped(accounts.answer(found), text):
        yield (Span(line, _OUTCOMES[found.outcome]),)
    for line in wrapped(accounts.subject(found), text):
        yield (Span(line, Style.FAINT),)
    yield from _picture(found, width)
    if found.outcome is Outcome.UNSURE:
        yield from _candidates(found, text, whole=whole)
    elif found.root is not None:
        yield from _finding(found.root, found, text, whole=whole)
        yield from _others(found, text, whole=whole)
    yield from _ledger(found, text)
    yield from _compared(found, text)
    if whole:
        figures = ((str(line), f"{what}: {size}") for what, size, line in accounts.figures(found))
        yield from section("every figure that was read, by its line", figures, text)
    yield from section("notes", (("-", note) for note in found.notes), text, label=2)


def _picture(found: Explanation, width: int) -> Iterator[Line]:
    """What filled the device when it ended, where the log says it."""
    gate, total = moment(found.case, found.reconciled.ledger), device_total(found.case)
    if gate is not None and total is not None and found.outcome is not Outcome.NO_MEMORY_FAILURE:
        yield ()
        yield from bars(snapshot(gate, total), width)


def _finding(finding: Finding, found: Explanation, width: int, *, whole: bool) -> Iterator[Line]:
    """The proof, what to do, what not, and what would make it sure."""
    yield from _proof(finding, width, whole=whole)
    yield from _remedies(finding, found, width, whole=whole)
    yield from _vain(finding, width, whole=whole)
    yield from section("what would make it sure", (("", words) for words in finding.missing), width, label=0)


def _proof(finding: Finding, width: int, *, whole: bool) -> Iterator[Line]:
    yield from heading("how we know", width, f"{finding.code} {finding.name}, {accounts.sureness(finding)}")
    lines = tuple(dict.fromkeys(finding.lines))
    for said in lines if whole else lines[:_LINES]:
        yield from labelled(_numbered(said), said.text, width, style=Style.FAINT, most=None if whole else _ROWS)
    for words in finding.evidence:
        yield from labelled("", words, width)
    label = "so"
    for words in finding.arithmetic:
        yield from labelled(label, words, width, style=Style.STRONG)
        label = ""
    yield from labelled("more", f"oomph rule {finding.code}", width)


def _numbered(said: Said) -> str:
    return f"{said.line}:" if said.line else ""


def _remedies(finding: Finding, found: Explanation, width: int, *, whole: bool) -> Iterator[Line]:
    shown = finding.remedies if whole else finding.remedies[:_REMEDIES]
    if shown or finding.beyond:
        yield from heading("what to do", width, "one of these" if len(shown) > 1 else "")
    for remedy in shown:
        yield from _remedy(remedy, found.case, width)
    for words in finding.beyond:
        yield from labelled("or", words, width)
    if len(finding.remedies) > len(shown):
        yield from labelled("more", f"{len(finding.remedies) - len(shown)} more to do: --all", width)


def _remedy(remedy: Remedy, case: Case, width: int) -> Iterator[Line]:
    yield from labelled("do", accounts.deed(remedy, case.engine), width, style=Style.FLAG)
    yield from labelled("price", remedy.price, width)
    result = accounts.then(remedy, case)
    if result is not None:
        yield from labelled("then", result, width, style=_VERDICTS[remedy.verdict])


def _vain(finding: Finding, width: int, *, whole: bool) -> Iterator[Line]:
    vain = tuple((finding.unhelpful or {}).items())
    shown = vain if whole else vain[:_VAIN]
    facts = (("not", f"{flag}: {why}") for flag, why in shown)
    yield from section("what does not help here", facts, width)
    if len(vain) > len(shown):
        yield from labelled("more", f"{len(vain) - len(shown)} more that do not: --all", width)


def _candidates(found: Explanation, width: int, *, whole: bool) -> Iterator[Line]:
    """What it may be, the likeliest first, each with what would tell and what to do if it is so."""
    shown = found.candidates if whole else found.candidates[:_CANDIDATES]
    if shown:
        yield from heading("what it may be", width)
    for finding in shown:
        yield from _candidate(finding, found, width, whole=whole)
    missing = dict.fromkeys(words for finding in shown for words in finding.missing)
    yield from section("what would make it sure", (("-", words) for words in missing), width, label=2)
    if shown:
        yield from _vain(shown[0], width, whole=whole)


def _candidate(finding: Finding, found: Explanation, width: int, *, whole: bool) -> Iterator[Line]:
    share = f"{round(finding.confidence * 100)} %"
    yield from labelled(share, finding.summary, width, style=Style.STRONG)
    for said in finding.lines if whole else finding.lines[:1]:
        yield from labelled(_numbered(said), said.text, width, style=Style.FAINT, most=None if whole else 1)
    for words in finding.arithmetic:
        yield from labelled("", words, width)
    for remedy in finding.remedies if whole else finding.remedies[:1]:
        yield from labelled("if so", accounts.deed(remedy, found.case.engine), width, style=Style.FLAG)
        yield from labelled("price", remedy.price, width)
    yield from labelled("more", f"oomph rule {finding.code}", width)


def _others(found: Explanation, width: int, *, whole: bool) -> Iterator[Line]:
    """What was found besides the root: in one line each, unless everything is asked for."""
    others = found.others if whole else found.sure
    facts = ((each.code, f"{each.summary} ({accounts.sureness(each)})") for each in others)
    yield from section("also found, after that", facts, width)


def _ledger(found: Explanation, width: int) -> Iterator[Line]:
    """What was on the device when it ran out, with what is in no account."""
    ledger, total = found.reconciled.ledger, device_total(found.case)
    if len(ledger.entries) <= 1 or total is None or found.outcome is Outcome.NO_MEMORY_FAILURE:
        return
    yield from heading("on the device when it ran out", width)
    for entry in ledger:
        if entry.account is not Account.UNACCOUNTED or 0 not in entry.size:
            yield from _row(entry, width)
    held = Bytes(ledger.total.likely)
    yield (Span(shortened(f"    {'together':11}  {held:>11}  of {total}", width)),)


def _row(entry: Entry, width: int) -> Iterator[Line]:
    sign = Span(letter(entry.account), entry.account)
    begin = (Span("  "), sign, Span(f" {entry.account:11}  {entry.size.likely:>11}  "))
    used = sum(cells(span.text) for span in begin)
    words = "in none of these" if entry.account is Account.UNACCOUNTED else f"{entry.basis}: {entry.because}"
    reason = wrapped(words, width - used) if width > used + LABEL else [""]
    yield (*begin, Span(reason[0], Style.FAINT))
    yield from ((Span(" " * used + line, Style.FAINT),) for line in reason[1:])


def _compared(found: Explanation, width: int) -> Iterator[Line]:
    """The forecast beside the figures."""
    both = [each for each in found.reconciled.compared if each.computed is not None]
    for number, each in enumerate(both):
        if number == 0:
            yield from heading("the log beside the forecast", width)
        style = Style.PLAIN if each.agrees else Style.UNSURE
        yield from labelled(f"{each.line}:", f"{each.what}: {accounts.compared(each)}", width, style=style)
