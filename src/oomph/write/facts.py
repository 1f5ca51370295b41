"""Labels with words beside them, and headings above them: what every answer in a terminal is made of.

Knows how words are broken beside a label. Does not know what they say.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from oomph.write.span import Line, Span, Style, cells, shortened, wrapped

LABEL: Final = 9  # cells of the longest label, and two more
_LEAST: Final = 8  # cells beside a label, however narrow the screen is


def labelled(
    label: str,
    words: str,
    width: int,
    *,
    style: Style = Style.PLAIN,
    indent: int = 2,
    wide: int = LABEL,
    most: int | None = None,
) -> Iterator[Line]:
    """A word, and beside it text that is broken to fit; cut off after as many lines as there may be."""
    begin = shortened(label, wide - 1) if label else ""
    room = max(width - indent - wide, _LEAST)
    lines = wrapped(words, room)
    if most is not None and len(lines) > most:
        lines = [*lines[: most - 1], shortened(f"{lines[most - 1]}…", room)]
    for line in lines:
        yield Span(" " * indent + begin + " " * (wide - cells(begin)), Style.FAINT), Span(line, style)
        begin = ""


def heading(title: str, width: int, more: str = "") -> Iterator[Line]:
    """A title below an empty line, with words beside it where there is room."""
    yield ()
    room = width - cells(title) - 2
    beside = (Span(f"  {shortened(more, room)}", Style.FAINT),) if more and room > LABEL else ()
    yield (Span(shortened(title, width), Style.STRONG), *beside)


def section(
    title: str, facts: Iterable[tuple[str, str]], width: int, *, label: int = LABEL, once: bool = False
) -> Iterator[Line]:
    """A heading and its facts, nothing at all where there are none; `once`: a label is not repeated below itself."""
    above = None
    for name, words in facts:
        if above is None:
            yield from heading(title, width)
        yield from labelled("" if once and name == above else name, words, width, wide=label)
        above = name
