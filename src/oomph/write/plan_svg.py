"""The picture as one SVG that stands alone: for a README, light and dark, with the fonts that a system has.

Knows the sheet around the drawing: the answer above it, the first remedy below it. Does not know how bars are drawn.
"""

from functools import partial
from typing import Final

from oomph.diagnose.finding import Finding
from oomph.ledger.forecast import Forecast
from oomph.write import sentences
from oomph.write.drawing import WIDE, Drawing, drawing, wide
from oomph.write.look import SANS, drawn
from oomph.write.markup import Markup, tag
from oomph.write.picture import picture
from oomph.write.span import cells, shortened, wrapped

_EDGE: Final = 28  # pixels around everything
_BOLD: Final = 1.1  # how much wider bold letters are
_FLAGS: Final = 60  # signs of a remedy that leave room for what comes of it
_MONO: Final = 0.61  # how wide a sign of equal width is, as a share of the font's size


def plan_svg(forecast: Forecast, findings: tuple[Finding, ...] = ()) -> str:
    """A whole file."""
    drawn_bars = drawing(picture(forecast))
    head, top = _head(forecast)
    foot, bottom = _foot(forecast, findings, top + drawn_bars.height)
    width, height = WIDE + 2 * _EDGE, bottom + _EDGE
    return (
        tag(
            "svg",
            tag("title", sentences.answer(forecast)),
            tag("style", Markup(drawn())),
            tag("rect", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=12, class_="o-ground"),
            tag("g", *head, moved(drawn_bars, top), *foot, transform=f"translate({_EDGE} 0)", font_family=SANS),
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {width} {height}",
            width=width,
            height=height,
            role="img",
        )
        + "\n"
    )


def moved(shapes: Drawing, top: int) -> Markup:
    """Further down."""
    return tag("g", shapes.shapes, transform=f"translate(0 {top})")


def _head(forecast: Forecast) -> tuple[list[Markup], int]:
    """What was asked, then the answer; and where it ends."""
    y, shapes = _EDGE + 8, []
    for line in wrapped(sentences.subject(forecast), WIDE, partial(wide, size=14)):
        shapes.append(tag("text", line, x=0, y=y, font_size=14, class_="o-faint"))
        y += 20
    y += 8
    said = sentences.sentence(sentences.outcome(forecast))
    for line in wrapped(said, WIDE, partial(wide, size=20 * _BOLD)):
        shapes.append(tag("text", line, x=0, y=y, font_size=20, class_=f"o-name o-{forecast.verdict}"))
        y += 26
    return shapes, y - 2


def _foot(forecast: Forecast, findings: tuple[Finding, ...], y: int) -> tuple[list[Markup], int]:
    """The first remedy that starts it, and what the forecast says with it."""
    remedies = [remedy for finding in findings for remedy in finding.remedies if remedy.fails_at is None][:1]
    shapes = []
    for remedy in remedies:
        y += 30
        flags = shortened(sentences.change(remedy, forecast.engine), _FLAGS)
        x = wide("do", 14) + 10
        shapes.append(tag("text", "do", x=0, y=y, font_size=14, class_="o-faint"))
        shapes.append(tag("text", flags, x=x, y=y, font_size=14, class_="o-mono o-flag"))
        x += cells(flags) * 14 * _MONO + 16
        shapes.append(tag("text", sentences.result(remedy), x=x, y=y, font_size=14, class_=f"o-{remedy.verdict}"))
    return shapes, y
