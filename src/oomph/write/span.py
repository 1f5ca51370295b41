"""Text with a style, and lines of it: what a terminal, or a pipe, is given.

Knows how many cells a text takes and how to break it. Does not know colours, nor where a line ends up. No span can hold
a sign that moves the cursor, changes a colour or turns the direction of reading: names come from strangers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from oomph.ledger.ledger import Account

# Signs for terminals that know only ASCII, one for one, so that nothing moves.
_ASCII: Final = str.maketrans("█▓▒▚▄▀░·╳╌│┆✓✗×…–→≥≤’▁▂▃▅▆▇", "#=+%:\"~.X-||vxx~->><'_.-=+*")


class Style(StrEnum):
    """What a text is, so that the edge can choose how it looks; a bar's style is its account."""

    PLAIN = "plain"
    STRONG = "strong"
    FAINT = "faint"
    FLAG = "flag"
    FITS = "fits"
    OVERFLOWS = "overflows"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Span:
    """A text in one style, of which every sign can be seen."""

    text: str
    style: Style | Account = Style.PLAIN

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", visible(self.text))


Line: TypeAlias = tuple[Span, ...]


def visible(text: str) -> str:
    r"""With every sign that cannot be seen written out: `\x1b` for an escape, `\u202e` for a turned direction."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def ascii_only(text: str) -> str:
    """The nearest that a terminal without Unicode can show, never longer."""
    return text if text.isascii() else text.translate(_ASCII).encode("ascii", "replace").decode()


def joined(line: Line) -> str:
    """The words alone."""
    return "".join(span.text for span in line).rstrip()


def cells(text: str) -> int:
    """Columns that a terminal gives to a text."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(sign: str) -> int:
    if sign < "\u0300":
        return 1
    from unicodedata import combining, east_asian_width  # noqa: PLC0415 - a table that plain names do not need

    return 0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1


def wrapped(text: str, width: float, measure: Callable[[str], float] = cells) -> list[str]:
    """Broken at spaces; a word that is wider than a line is cut. Widths add up, in cells or in whatever is measured."""
    lines = [""]
    for word in visible(text).split(" "):
        for piece in _cut(word, width, measure):
            if not lines[-1]:
                lines[-1] = piece
            elif measure(f"{lines[-1]} {piece}") <= width:
                lines[-1] += " " + piece
            else:
                lines.append(piece)
    return lines


def _cut(word: str, width: float, measure: Callable[[str], float]) -> Iterator[str]:
    begin, filled = 0, 0.0
    for at, sign in enumerate(word):
        wide = measure(sign)
        if filled + wide > width and at > begin:
            yield word[begin:at]
            begin, filled = at, 0.0
        filled += wide
    yield word[begin:]


def shortened(text: str, width: int) -> str:
    """Cut to the width, with a sign that it was."""
    text = visible(text)
    return text if cells(text) <= width else next(_cut(text, width - 1, cells)) + "…"
