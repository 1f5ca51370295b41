"""What is watched, as lines of a screen: the whole in one line, a row for each engine, and what is wrong and why.

Knows what matters most when there is too little room: who is in trouble comes first, and what is left out is said.
Does not know colours, nor how a screen is drawn again.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.serving.fleet import Fleet
from oomph.diagnose.serving.judge import Judged, Standing
from oomph.diagnose.serving.notice import Level
from oomph.write.span import Line, Span, Style, cells, shortened
from oomph.write.watch_notices import FEW, notice_lines
from oomph.write.watch_row import MARKS, STYLES, Columns, called, head, row, spark, worst

Shown = tuple[Standing, Judged | None]


def watch_lines(fleet: Fleet, *, width: int, height: int | None = None, clock: str = "") -> Iterator[Line]:
    """The screen; without a height, all of it. No line is wider than the screen."""
    for line in _screen(fleet, width, height, clock):
        yield line if sum(cells(span.text) for span in line) <= width else tuple(_cut(line, width))


def _screen(fleet: Fleet, width: int, height: int | None, clock: str) -> Iterator[Line]:
    shown = sorted(_engines(fleet), key=_most_urgent)
    told = list(notice_lines(fleet, width, all_of_it=height is None))
    beside = [*_asked(fleet), *_memory(fleet)]
    rows, words = _rooms(len(shown), len(told) + 1 if told else 0, None if height is None else height - 3 - len(beside))
    yield _summary(fleet, clock, width)
    yield ()
    columns = Columns.within(
        width,
        [called(*each) for each in shown],
        [engine.course.last.model for _, engine in shown if engine is not None],
    )
    yield head(columns)
    yield from _rows(shown, columns, rows, history=height is None or 3 + 2 * len(shown) + len(beside) + words <= height)
    yield from beside
    if words > 1:
        yield ()
        yield from _fitting(told, words - 1)


def _rooms(rows: int, words: int, room: int | None) -> tuple[int, int]:
    """Lines for the rows and for what is told: all, or half for each, and what one does not need is the other's."""
    if room is None or rows + words <= room:
        return rows, words
    room = max(room, 2)
    rows = min(rows, max(room - words, room // 2))
    return rows, room - rows


def _rows(shown: list[Shown], columns: Columns, room: int, *, history: bool) -> Iterator[Line]:
    cut = len(shown) if len(shown) <= room else max(0, room - 1)
    for standing, engine in shown[:cut]:
        yield row(columns, standing, engine)
        if history and engine is not None and len(shown) <= FEW and len(engine.course.scrapes) > 1:
            yield _went(engine, columns)
    if cut < len(shown):
        yield (Span(f"  … and {_left_out(shown[cut:])}", Style.FAINT),)


def _cut(line: Line, width: int) -> Iterator[Span]:
    """As much as fits, and a sign that there was more."""
    left = width
    for span in line:
        if cells(span.text) >= left:
            yield Span(shortened(span.text + " …", left), span.style)
            return
        left -= cells(span.text)
        yield span


def _asked(fleet: Fleet) -> Iterator[Line]:
    if fleet.asked:
        yield (Span(f"  {len(fleet.asked)} asked, no answer yet: {', '.join(fleet.asked[:9])}", Style.FAINT),)


def _engines(fleet: Fleet) -> Iterator[Shown]:
    for standing in fleet.standings:
        if standing.answer.trouble is None:
            for engine in standing.engines:
                yield standing, engine
        else:
            yield standing, None


def _most_urgent(shown: Shown) -> tuple[int, float, str]:
    standing, engine = shown
    used = 0.0 if engine is None else engine.course.last.kv_used or 0.0
    return -list(MARKS).index(_level(shown)), -used, standing.endpoint


def _level(shown: Shown) -> Level:
    standing, engine = shown
    return worst((*standing.notices, *(() if engine is None else engine.notices)))


def _summary(fleet: Fleet, clock: str, width: int) -> Line:
    engines = fleet.engines
    silent = sum(standing.answer.trouble is not None for standing in fleet.standings)
    levels = [_level(each) for each in _engines(fleet)]
    running = sum(engine.course.last.running or 0 for engine in engines)
    waiting = sum(engine.course.last.waiting or 0 for engine in engines)
    answered = sum(engine.course.rate("generation_tokens") or 0.0 for engine in engines)
    parts = (
        ("oomph watch  ", Style.STRONG),
        (f"{len(engines)} {'engine' if len(engines) == 1 else 'engines'}", Style.PLAIN),
        (f", {silent} without an answer" if silent else "", Style.PLAIN),
        *((f"  {MARKS[level]} {levels.count(level)}", _SUMMED[level]) for level in MARKS if level in levels),
        (f"   running {running:,}  waiting {waiting:,}  {answered:,.0f} tokens/s", Style.PLAIN),
    )
    spans = tuple(Span(text, style) for text, style in parts)
    used = sum(len(span.text) for span in spans)
    return (*spans, Span(f"{clock:>{width - used}}", Style.FAINT)) if len(clock) + 2 <= width - used else spans


_SUMMED: Final = {**STYLES, Level.NOTE: Style.FITS}


def _went(engine: Judged, columns: Columns) -> Line:
    """How full the pool was, look by look, and what the pool is."""
    last = engine.course.last
    pool = "" if last.tokens is None else f"pool of {last.tokens:,} tokens"
    known = last.blocks is not None and last.block_tokens is not None
    blocks = f", {last.blocks:,} blocks of {last.block_tokens}" if known else ""
    begin = 4 + columns.name + (columns.model + 2 if columns.model else 0)
    went = spark([look.kv_used for look in engine.course.scrapes[-columns.bar :]])
    return Span(f"{'':<{begin}}{went:<{columns.bar}}", Style.FAINT), Span(f"   {pool}{blocks}", Style.FAINT)


def _left_out(shown: list[Shown]) -> str:
    used = [engine.course.last.kv_used or 0.0 for _, engine in shown if engine is not None]
    troubled = sum(_level(each) is not Level.NOTE for each in shown)
    fullest = f", pool {int(100 * max(used))}% at the most" if used else ""
    return f"{len(shown)} more, {f'{troubled} of them in trouble' if troubled else 'all well'}{fullest}"


def _memory(fleet: Fleet) -> Iterator[Line]:
    """A line for each device; of many, one for all."""
    devices = fleet.memory
    if len(devices) > FEW:
        used = sorted(device.used for device in devices)
        words = f"{used[0]} to {used[-1]} used, of {max(device.total for device in devices)}"
        yield Span(f"  {len(devices)} GPUs  ", Style.FAINT), Span(words)
        return
    for device in devices:
        yield (
            Span(f"  GPU {device.index} {device.name or ''}  ", Style.FAINT),
            Span(f"{device.used} used of {device.total}"),
        )


def _fitting(lines: list[Line], room: int) -> Iterator[Line]:
    if len(lines) <= room:
        yield from lines
        return
    yield from lines[: max(0, room - 1)]
    yield (Span("  … more than this screen holds: --once tells all", Style.FAINT),)
