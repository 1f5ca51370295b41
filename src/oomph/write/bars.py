"""The picture as lines of text: a letter begins each account's part, so that it can be read without any colour.

Knows cells and signs. Does not know bytes: where pieces begin and end is the picture's business.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from oomph.ledger.ledger import Account
from oomph.write.picture import ORDER, Fate, Part, Picture, Piece, Row, What
from oomph.write.sentences import margin
from oomph.write.span import Line, Span, Style, cells, shortened

FILLS: Final[dict[What, str]] = {
    Account.DRIVER: "▄",
    Account.FOREIGN: "▀",
    Account.WEIGHTS: "█",
    Account.ACTIVATIONS: "▓",
    Account.GRAPHS: "▚",
    Account.KV_POOL: "▒",
    Account.UNACCOUNTED: "?",
    Part.ASKED: "╌",
    Part.MISSING: "╳",
    Part.POSSIBLE: "·",
}
LIKELY: Final = "░"  # of any account, from the lowest end of the bar to the likely one
_STYLES: Final = {Part.ASKED: Style.FAINT, Part.MISSING: Style.OVERFLOWS, Part.POSSIBLE: Style.UNSURE}
MARKS: Final = {
    Fate.PASSES: Span("✓", Style.FITS),
    Fate.STOPS: Span("✗", Style.OVERFLOWS),
    Fate.UNSURE: Span("?", Style.UNSURE),
}
_BUDGET: Final = "┆"
_NO_MARK: Final = Span(" ")
_NAMES: Final = 13  # cells of the longest name, graph-profile
_WORDS: Final = 17  # cells of the longest margin, 1023.99 MiB spare
_ROOMY: Final = 60  # columns from which margins have a place


def letter(what: What) -> str:
    """What begins an account's part of a bar."""
    return what[0].upper() if isinstance(what, Account) else FILLS[what]


def bars(picture: Picture, width: int) -> Iterator[Line]:
    """One line per gate, then what the signs mean."""
    words = _WORDS + 2 if width >= _ROOMY else 0
    room = width - _NAMES - 4 - 1 - words
    drawn: set[Span] = set()
    for row in picture.rows:
        name = Span(f" {row.step:{_NAMES}}  ", Style.STRONG if row.fate in MARKS else Style.FAINT)
        painted = _painted(row, picture, room)
        drawn.update(painted)
        line = (MARKS.get(row.fate, _NO_MARK), name, *_bar(row, painted, _at(picture.device, picture, room)))
        yield (*line, Span(f"  {shortened(margin(row), _WORDS)}", _margin_style(row))) if words else line
    yield ()
    yield from _legend(_meanings(picture, drawn), width)


def _margin_style(row: Row) -> Style | Account:
    return MARKS[row.fate].style if row.fate in {Fate.STOPS, Fate.UNSURE} else Style.FAINT


def _bar(row: Row, painted: Sequence[Span], edge: int) -> Iterator[Span]:
    """Cells of one style together, with the end of the device between them."""
    yield from _spans(painted[:edge])
    yield Span("│", Style.OVERFLOWS if row.fate is Fate.STOPS else Style.PLAIN)
    yield from _spans(painted[edge:])


def _painted(row: Row, picture: Picture, room: int) -> list[Span]:
    blank = Span(" ")
    painted = [blank] * room
    if picture.budget is not None and row.pieces:
        painted[min(_at(picture.budget, picture, room), room - 1)] = Span(_BUDGET, Style.FAINT)
    for piece in row.pieces:
        begin, end = _at(piece.begin, picture, room), _at(piece.end, picture, room)
        if begin == end and piece.what is Part.MISSING:  # a crash by a little is a crash
            begin, end = (begin, end + 1) if end < room else (begin - 1, end)
        first = all(span.style != piece.what for span in painted)
        painted[begin:end] = [_cell(piece, begins=first and cell == begin) for cell in range(begin, end)]
    if row.torn:
        painted[-1] = Span("→", Style.OVERFLOWS)
    return painted


def _cell(piece: Piece, *, begins: bool) -> Span:
    what = piece.what
    if isinstance(what, Part):
        return Span(FILLS[what], _STYLES[what])
    return Span(letter(what) if begins else FILLS[what] if piece.sure else LIKELY, what)


def _at(size: int, picture: Picture, room: int) -> int:
    """The cell border nearest to a byte."""
    return (2 * size * room + picture.reach) // (2 * picture.reach)


def _spans(painted: Sequence[Span]) -> Iterator[Span]:
    for style, group in groupby(painted, key=lambda span: (span.style, span.text == LIKELY)):
        yield Span("".join(span.text for span in group), style[0])


def _legend(meanings: Iterable[tuple[Span, str]], width: int) -> Iterator[Line]:
    """What each sign means, as many to a line as there is room for."""
    line: list[Span] = []
    for sign, meaning in meanings:
        wide = sum(cells(span.text) for span in line)
        if line and wide + cells(sign.text) + 1 + cells(meaning) > width:
            yield tuple(line)
            line = []
        line += [sign, Span(f" {shortened(meaning, width - 4)}  ", Style.FAINT)]
    yield tuple(line)


def _meanings(picture: Picture, drawn: Collection[Span]) -> Iterator[tuple[Span, str]]:
    """Of the signs that are drawn; what is thinner than a cell is not."""
    styles = {span.style for span in drawn}
    yield from ((Span(letter(account), account), account) for account in ORDER if account in styles)
    if any(span.text == LIKELY for span in drawn):
        yield Span(LIKELY), "likely"
    for part in Part:
        if (sign := Span(FILLS[part], _STYLES[part])) in drawn:
            yield sign, part
    if (mark := Span(_BUDGET, Style.FAINT)) in drawn:
        yield mark, f"budget {picture.budget}"
    yield Span("│"), f"device {picture.device}"
