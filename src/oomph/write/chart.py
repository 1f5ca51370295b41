"""Curves over time in pixels: a frame, bands behind it, a scale, and names at the curves' top.

Knows points and where they stand. Does not know what is measured, nor colours: every shape has a class.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oomph.write.drawing import NARROW, WIDE, Drawing, wide
from oomph.write.markup import Markup, tag, together

_TOP: Final = 30  # room for names
_BOTTOM: Final = 24  # room for the clock
_LEFT: Final = 56
_TICKS: Final = 4
_WHOLE: Final = 4  # from here on, ticks are whole numbers
_STEPS: Final = (1, 2, 4, 8)  # so that four ticks are whole numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One quantity over time."""

    name: str
    look: str  # its class
    points: tuple[tuple[float, float], ...]
    filled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A span of time behind the curves."""

    name: str
    begin: float
    end: float
    look: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Curves on one scale."""

    curves: tuple[Curve, ...]
    bands: tuple[Band, ...]
    end: float  # of the clock, in seconds
    top: float | None = None  # of the scale; None: as high as the curves
    percent: bool = False
    high: int = 130  # of the frame, in pixels
    named: bool = False  # bands say their names


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Where the curves stand."""

    left: float
    top: float
    width: float
    height: float
    end: float
    most: float

    def x(self, at: float) -> float:
        return self.left + self.width * min(max(at, 0.0), self.end) / self.end

    def y(self, value: float) -> float:
        return self.top + self.height * (1 - min(value, self.most) / self.most)


def chart(of: Chart, *, narrow: bool = False) -> Drawing:
    """From the back: bands, the scale, the curves, their names."""
    width = NARROW if narrow else WIDE
    most = of.top or _rounded(max((value for curve in of.curves for _, value in curve.points), default=1.0))
    named = 16 if of.named else 0
    frame = _Frame(
        left=_LEFT, top=_TOP + named, width=width - _LEFT - 8, height=of.high, end=max(of.end, 1e-3), most=most
    )
    shapes = together(
        *_bands(of, frame, named=bool(named)),
        *_scale(of, frame),
        *_clock(frame),
        *(shape for curve in of.curves for shape in _curve(curve, frame)),
        *_names(of, frame),
    )
    return Drawing(shapes=shapes, width=width, height=round(frame.top + of.high + _BOTTOM))


def _rounded(value: float) -> float:
    """The next round number: 1, 2, 4 or 8 with noughts."""
    if value <= 1:
        return 1.0
    power = 10 ** (len(str(int(value))) - 1)
    return float(next((step * power for step in _STEPS if step * power >= value), 10 * power))


def _bands(of: Chart, frame: _Frame, *, named: bool) -> Iterator[Markup]:
    for band in of.bands:
        x, end = frame.x(band.begin), frame.x(band.end)
        yield tag("rect", x=x, y=frame.top, width=max(end - x, 1), height=frame.height, class_=band.look)
    for x, name in _named(of.bands, frame) if named else ():
        yield tag("text", name, x=x, y=frame.top - 5, font_size=11, class_="o-faint")


def _named(bands: tuple[Band, ...], frame: _Frame) -> list[tuple[float, str]]:
    """Where names stand: the longest spans are named first, and no name touches another."""
    placed: list[tuple[float, float, str]] = []
    for band in sorted(bands, key=lambda each: each.begin - each.end):
        room = wide(band.name, 11)
        x = min(frame.x(band.begin) + 2, frame.left + frame.width - room)
        if all(x + room + 4 <= begin or end + 4 <= x for begin, end, _ in placed):
            placed.append((x, x + room, band.name))
    return sorted((x, name) for x, _, name in placed)


def _scale(of: Chart, frame: _Frame) -> Iterator[Markup]:
    for tick in range(_TICKS + 1):
        value = frame.most * tick / _TICKS
        y = frame.y(value)
        yield tag("line", x1=frame.left, x2=frame.left + frame.width, y1=y, y2=y, class_="o-grid")
        words = f"{value:.0%}" if of.percent else f"{value:,.0f}" if frame.most >= _WHOLE else f"{value:g}"
        yield tag("text", words, x=frame.left - 6, y=y + 4, font_size=11, text_anchor="end", class_="o-faint")


def _clock(frame: _Frame) -> Iterator[Markup]:
    step = _rounded(frame.end / 6) if frame.end > 6 else 1.0  # noqa: PLR2004 - six at the most
    at = 0.0
    while at <= frame.end:
        x = frame.x(at)
        anchor = "end" if at and x > frame.left + frame.width - 14 else "middle"
        yield tag(
            "text",
            f"{at:g} s",
            x=x,
            y=frame.top + frame.height + 16,
            font_size=11,
            text_anchor=anchor,
            class_="o-faint",
        )
        at += step


def _curve(curve: Curve, frame: _Frame) -> Iterator[Markup]:
    if not curve.points:
        return
    places = [(frame.x(at), frame.y(value)) for at, value in curve.points]
    line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    if curve.filled:
        ground = frame.top + frame.height
        area = f"{line}L{places[-1][0]:.1f} {ground:.1f}L{places[0][0]:.1f} {ground:.1f}Z"
        yield tag("path", d=area, class_=f"{curve.look} c-area")
    yield tag("path", d=line, class_=f"{curve.look} c-line")


def _names(of: Chart, frame: _Frame) -> Iterator[Markup]:
    x = frame.left
    for curve in of.curves:
        yield tag("line", x1=x, x2=x + 16, y1=10, y2=10, class_=f"{curve.look} c-line")
        yield tag("text", curve.name, x=x + 22, y=14, font_size=12, class_="o-ink")
        x += 22 + wide(curve.name, 12) + 18
