"""A proof as one page that stands alone: no network, no script, light and dark, readable on a phone.

Knows what is on the page and in which order. Does not know how it looks, nor where curves run.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from oomph.diagnose.proof.judge import Judged, Result
from oomph.diagnose.proof.proof import Proof
from oomph.ledger.proof import Scene
from oomph.write import proof_sentences as sentences
from oomph.write.chart import Chart, chart
from oomph.write.drawing import Drawing
from oomph.write.html_page import html_page, section
from oomph.write.look import drawn, page
from oomph.write.markup import Markup, tag, together
from oomph.write.proof_curves import STYLE, charts

_LOOKS: Final = {Result.HELD: "fits", Result.BROKE: "overflows", Result.REFUSED: "unsure", Result.UNKNOWN: "unsure"}


def proof_html(proof: Proof) -> str:
    """A whole file."""
    return html_page(f"{sentences.outcome(proof)}", drawn() + page() + STYLE, _sections(proof))


def _sections(proof: Proof) -> Iterator[Markup]:
    yield tag(
        "header",
        tag("p", sentences.subject(proof), class_="faint"),
        tag("h1", f"{sentences.outcome(proof)}.", class_=_LOOKS[proof.result]),
    )
    yield from (_figure(label, each) for label, each in charts(proof))
    yield section("Stages", _table(("stage", "users", "result", "what happened"), _stages(proof)))
    if proof.peak is not None:
        yield from _speed(proof.peak)
    yield from _facts("KV pool", sentences.pool_facts(proof))
    yield from _facts("Accounts", sentences.account_facts(proof))
    if rows := list(sentences.plan_rows(proof)):
        yield section("Against the plan", _table(("figure", "planned", "seen", "verdict"), rows))
    if proof.notes:
        yield section("Notes", tag("ul", *(tag("li", note) for note in proof.notes)))


def _figure(label: str, of: Chart) -> Markup:
    return tag("figure", _sheet(chart(of), "on-wide", label), _sheet(chart(of, narrow=True), "on-narrow", label))


def _sheet(sheet: Drawing, look: str, label: str) -> Markup:
    box = f"0 0 {sheet.width} {sheet.height}"
    return tag("svg", sheet.shapes, viewBox=box, class_=look, role="img", aria_label=label)


def _stages(proof: Proof) -> Iterator[tuple[str, ...]]:
    for each in proof.stages:
        scene = each.stage.scene
        yield (
            scene.name,
            str(scene.users),
            tag("span", each.result, class_=_LOOKS.get(each.result, "faint")),
            _told(scene, sentences.stage_words(each)),
        )
    for scene in proof.not_run:
        yield scene.name, str(scene.users), "not run", _told(scene, sentences.not_run_words(proof))


def _told(scene: Scene, words: str) -> Markup:
    """In one element: on a phone a cell has two columns, the second of which is this."""
    return tag("span", tag("span", f"{sentences.scene_meaning(scene)}: ", class_="faint"), words)


def _speed(peak: Judged) -> Iterator[Markup]:
    scene = peak.stage.scene
    rows = [
        (name, *(sentences.seconds(each) for each in (spread.p50, spread.p90, spread.p99, spread.most)))
        for name, spread in sentences.latencies(peak)
    ]
    if rows:
        title = f"Latency at {scene.name}, {scene.users} at once"
        yield section(title, _table(("", "p50", "p90", "p99", "most"), rows))
    yield from _facts("Throughput", sentences.throughput(peak))


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Markup:
    return tag(
        "table",
        tag("thead", tag("tr", *(tag("th", name or Markup(""), scope="col") for name in columns))),
        tag("tbody", *(_row(columns, row) for row in rows)),
    )


def _row(columns: tuple[str, ...], row: tuple[str, ...]) -> Markup:
    cells = (tag("td", word, data_label=name) for name, word in zip(columns[1:], row[1:], strict=True))
    return tag("tr", tag("th", row[0], scope="row"), *cells)


def _facts(title: str, facts: Iterable[tuple[str, str]]) -> Iterator[Markup]:
    pairs = [together(tag("dt", name), tag("dd", words)) for name, words in facts]
    if pairs:
        yield section(title, tag("dl", *pairs))
