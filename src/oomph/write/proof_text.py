"""A proof for a person: the answer in one sentence, what happened stage by stage, latency, the pool, the accounts.

Knows what is said in which order. Does not know colours.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.proof.judge import Judged, Result
from oomph.diagnose.proof.proof import Proof
from oomph.write import proof_sentences as sentences
from oomph.write.facts import heading, labelled, section
from oomph.write.span import Line, Span, Style, joined, wrapped

_NARROWEST: Final = 40
_WIDEST: Final = 110
_STYLES: Final = {
    Result.HELD: Style.FITS,
    Result.BROKE: Style.OVERFLOWS,
    Result.REFUSED: Style.UNSURE,
    Result.UNKNOWN: Style.UNSURE,
    Result.NOT_RUN: Style.FAINT,
}
_MARKS: Final = {Result.HELD: "✓", Result.BROKE: "✗", Result.REFUSED: "–", Result.UNKNOWN: "?"}
_NAME: Final = 22


def proof_text(proof: Proof, *, width: int = 80) -> str:
    """The words alone, for a pipe."""
    return "".join(f"{joined(line)}\n" for line in proof_lines(proof, width=width))


def proof_lines(proof: Proof, *, width: int = 80) -> Iterator[Line]:
    """Answer first."""
    width = min(max(width, _NARROWEST), _WIDEST)
    for line in wrapped(f"{sentences.outcome(proof)}.", width):
        yield (Span(line, _STYLES[proof.result]),)
    for line in wrapped(sentences.subject(proof), width):
        yield (Span(line, Style.FAINT),)
    yield from _stages(proof, width)
    if proof.peak is not None:
        yield from _latency(proof.peak, width)
        yield from section("throughput", sentences.throughput(proof.peak), width, label=14)
    yield from section("kv pool", sentences.pool_facts(proof), width, label=14)
    yield from section("accounts", sentences.account_facts(proof), width, label=14, once=True)
    yield from _plan(proof, width)
    yield from section("notes", (("-", note) for note in proof.notes), width, label=2)


def _stages(proof: Proof, width: int) -> Iterator[Line]:
    yield from heading("stages", width)
    for each in proof.stages:
        name = f"{each.stage.scene.name} × {each.stage.scene.users}"
        for number, line in enumerate(wrapped(sentences.stage_words(each), max(width - _NAME - 4, 20))):
            mark = _MARKS[each.result] if number == 0 else " "
            begin = name if number == 0 else ""
            yield Span(f"  {mark} ", _STYLES[each.result]), Span(f"{begin:{_NAME}}", Style.STRONG), Span(line)
    for scene in proof.not_run:
        yield from labelled(scene.name, f"not run: {sentences.not_run_words(proof)}", width, indent=4, wide=_NAME)


def _latency(peak: Judged, width: int) -> Iterator[Line]:
    rows = list(sentences.latencies(peak))
    if not rows:
        return
    scene = peak.stage.scene
    yield from heading(f"latency at {scene.name}, {scene.users} at once", width)
    yield (Span(f"  {'':14}{'p50':>9}{'p90':>9}{'p99':>9}{'most':>9}", Style.FAINT),)
    for name, spread in rows:
        figures = (spread.p50, spread.p90, spread.p99, spread.most)
        yield Span(f"  {name:14}", Style.FAINT), Span("".join(f"{sentences.seconds(each):>9}" for each in figures))


def _plan(proof: Proof, width: int) -> Iterator[Line]:
    """What was planned, and what was seen."""
    rows = list(sentences.plan_rows(proof))
    if not rows:
        return
    yield from heading("against the plan", width)
    for what, planned, seen, agrees in rows:
        style = {"agrees": Style.FITS, "differs": Style.OVERFLOWS}.get(agrees, Style.FAINT)
        yield from labelled(what, f"planned {planned}; seen {seen}: {agrees}", width, wide=20, style=style)
