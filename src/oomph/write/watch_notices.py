"""What is wrong with what is watched, in lines: who, what, why, and what to do.

Knows that of many alike one may speak for all. Does not know how much room there is.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.serving.fleet import Fleet
from oomph.diagnose.serving.notice import Level, Notice
from oomph.write.span import Line, Span, Style, cells, shortened, wrapped
from oomph.write.watch_row import MARKS, STYLES, called

FEW: Final = 3  # engines or notices, up to which there is room for all that is known of each


def notice_lines(fleet: Fleet, width: int, *, all_of_it: bool) -> Iterator[Line]:
    """Every notice, the gravest first; where there are many, one of each kind speaks for all."""
    found = sorted(_found(fleet), key=lambda entry: -list(MARKS).index(entry[1].level))
    if all_of_it or len(found) <= FEW:
        for name, notice in found:
            yield from _notice([name], notice, width)
            yield from _reasons(notice, width)
        return
    kinds: dict[str, list[tuple[str, Notice]]] = {}
    for name, notice in found:
        kinds.setdefault(notice.name, []).append((name, notice))
    for alike in kinds.values():
        notice = alike[0][1]
        yield from _notice([name for name, _ in alike], notice, width)
        for text in notice.do[:1]:
            yield (Span("    do   ", Style.FAINT), Span(shortened(text, width - 9)))


def _found(fleet: Fleet) -> Iterator[tuple[str, Notice]]:
    """Who, and what; notes only where few engines are watched."""
    few = len(fleet.standings) <= FEW
    every = [("this machine", notice) for notice in fleet.notices]
    for standing in fleet.standings:
        every += [(standing.endpoint, notice) for notice in standing.notices]
        every += [(called(standing, engine), notice) for engine in standing.engines for notice in engine.notices]
    yield from (entry for entry in every if few or entry[1].wrong)


def _notice(names: list[str], notice: Notice, width: int) -> Iterator[Line]:
    whose = "endpoints" if notice.name.startswith("endpoint-") else "engines"
    who = names[0] if len(names) == 1 else f"{len(names)} {whose}: {', '.join(names)}"
    kind = f"{'·' if notice.level is Level.NOTE else MARKS[notice.level]} {notice.name}  "
    yield Span(kind, STYLES[notice.level]), Span(shortened(who, width - cells(kind)), Style.STRONG)
    for line in wrapped(notice.summary if len(names) == 1 else f"{names[0]}: {notice.summary}", width - 4):
        yield (Span(f"    {line}"),)


def _reasons(notice: Notice, width: int) -> Iterator[Line]:
    for word, style, texts in (("why", Style.FAINT, notice.evidence), ("do", Style.PLAIN, notice.do)):
        lines = [line for text in texts for line in wrapped(text, width - 9)]
        for number, line in enumerate(lines):
            yield Span(f"    {'' if number else word:<4} ", Style.FAINT), Span(line, style)
