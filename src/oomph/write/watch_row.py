"""One engine as a row of the screen: its pool as a bar, its figures in columns.

Knows which figures and how wide. Does not know what is wrong: a row only takes the mark and the colour of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oomph.diagnose.serving.course import Course
from oomph.diagnose.serving.judge import Judged, Standing
from oomph.diagnose.serving.notice import Level, Notice
from oomph.write.span import Line, Span, Style, cells, shortened

STYLES: Final = {Level.NOTE: Style.FAINT, Level.WARNING: Style.UNSURE, Level.ERROR: Style.OVERFLOWS}
MARKS: Final = {Level.NOTE: "✓", Level.WARNING: "!", Level.ERROR: "✗"}
SPARKS: Final = "▁▂▃▄▅▆▇█"
_FIGURES: Final = ("run", "wait", "preempt/s", "prefix", "prompt/s", "answer/s")
_WIDTHS: Final = (5, 6, 10, 7, 9, 9)
_NARROW: Final = (5, 5, 7, 7, 8, 7)
_NARROW_FIGURES: Final = ("run", "wait", "pre/s", "prefix", "prompt", "answer")
_WIDE: Final = 100  # columns, from which there is room for the model and for whole words
_PERCENT: Final = 5
_FULL, _FILLING = 0.90, 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """How wide each part of a row is."""

    name: int
    model: int
    bar: int
    figures: tuple[int, ...]
    heads: tuple[str, ...]

    @classmethod
    def within(cls, width: int, names: Sequence[str], models: Sequence[str]) -> "Columns":
        """As the names need and the screen permits; what is left is the bar's."""
        wide = width >= _WIDE
        figures, heads = (_WIDTHS, _FIGURES) if wide else (_NARROW, _NARROW_FIGURES)
        rest = width - sum(figures) - _PERCENT - 3
        name = min(max(map(cells, names), default=6), 36 if wide else 22, max(8, rest - 6))
        model = min(max(map(cells, models), default=5), 20, max(0, rest - name - 12)) if wide else 0
        return cls(name=name, model=model, bar=min(24, max(4, rest - name - model - 3)), figures=figures, heads=heads)


def head(columns: Columns) -> Line:
    """The names of the columns."""
    pool = f"{'pool':<{columns.bar + _PERCENT}}"
    model = f"{'model':<{columns.model}}  " if columns.model else ""
    figures = "".join(f"{name:>{width}}" for name, width in zip(columns.heads, columns.figures, strict=True))
    return (Span(f"  {'engine':<{columns.name}}  {model}{pool}{figures}", Style.FAINT),)


def row(columns: Columns, standing: Standing, engine: Judged | None) -> Line:
    """An engine, or an endpoint that tells of none."""
    notices = standing.notices if engine is None else (*standing.notices, *engine.notices)
    gravest = worst(notices)
    name = _padded(called(standing, engine), columns.name)
    if engine is None:
        words = standing.answer.words or ""
        return (_mark(gravest), Span(name + "  ", Style.STRONG), Span(shortened(words, 60), STYLES[gravest]))
    model = f"{_padded(engine.course.last.model, columns.model)}  " if columns.model else ""
    return (
        _mark(gravest),
        Span(f"{name}  ", Style.PLAIN if gravest is Level.NOTE else Style.STRONG),
        Span(model, Style.FAINT),
        *_bar(engine.course.last.kv_used, columns.bar),
        *_figures(engine.course, columns),
    )


def worst(notices: Sequence[Notice]) -> Level:
    """The gravest of them; a note where there are none."""
    return max((notice.level for notice in notices), key=list(MARKS).index, default=Level.NOTE)


def called(standing: Standing, engine: Judged | None) -> str:
    """The endpoint, and the number of the engine where several are behind it."""
    several = engine is not None and len(standing.engines) > 1
    return f"{standing.endpoint} #{engine.course.last.engine}" if several and engine else standing.endpoint


def spark(shares: Sequence[float | None]) -> str:
    """Shares over time, the oldest first; a gap where nothing is known."""
    top = len(SPARKS) - 1
    return "".join(" " if share is None else SPARKS[min(top, int(share * (top + 1)))] for share in shares)


def _mark(level: Level) -> Span:
    return Span(f"{MARKS[level]} ", Style.FITS if level is Level.NOTE else STYLES[level])


def _padded(text: str, width: int) -> str:
    short = shortened(text, width)
    return short + " " * (width - cells(short))


def _bar(used: float | None, width: int) -> tuple[Span, ...]:
    if used is None:
        return (Span("?".ljust(width + _PERCENT), Style.FAINT),)
    style = Style.OVERFLOWS if used >= _FULL else Style.UNSURE if used >= _FILLING else Style.FITS
    filled = min(width, -(-int(used * 1000 * width) // 1000))
    return (
        Span("█" * filled, style),
        Span("░" * (width - filled), Style.FAINT),
        Span(f"{int(used * 100):>{_PERCENT - 1}}%", Style.PLAIN if style is Style.FITS else style),
    )


def _figures(course: Course, columns: Columns) -> tuple[Span, ...]:
    last = course.last
    preempting = course.rate("preemptions")
    said = (
        (_count(last.running), Style.PLAIN),
        (_count(last.waiting), Style.UNSURE if last.waiting else Style.PLAIN),
        (_rate(preempting), Style.OVERFLOWS if preempting else Style.PLAIN),
        (_hits(course), Style.PLAIN),
        (_rate(course.rate("prompt_tokens")), Style.PLAIN),
        (_rate(course.rate("generation_tokens")), Style.PLAIN),
    )
    return tuple(Span(f"{text:>{width}}", style) for (text, style), width in zip(said, columns.figures, strict=True))


def _count(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def _rate(rate: float | None) -> str:
    if rate is None:
        return "–"
    return "0" if rate == 0 else f"{rate:.2f}" if rate < 10 else f"{rate:,.0f}"  # noqa: PLR2004 - two figures are enough


def _hits(course: Course) -> str:
    """Of the last minute; of all time where nobody asked in that minute."""
    queries, hits = course.gain("prefix_queries"), course.gain("prefix_hits")
    if not queries:
        queries, hits = course.last.prefix_queries, course.last.prefix_hits
    if queries and hits is not None:
        return f"{100 * hits // queries}%"
    rate = course.last.prefix_hit_rate
    return "–" if rate is None else f"{int(rate * 100)}%"
