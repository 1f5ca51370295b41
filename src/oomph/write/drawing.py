"""The picture in pixels: bars, the ends of device and budget, a scale and a legend, for the SVG and for the page.

Knows where things stand on a wide sheet, names beside the bars, and on a narrow one, names above them. Does not know
bytes (`picture`), nor colours (`palette`): every shape has a class, and `style` says how classes look.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oomph.ledger.ledger import Account
from oomph.units import Bounds, Bytes
from oomph.write.markup import Markup, tag, together
from oomph.write.picture import Fate, Part, Picture, Piece, Row, What
from oomph.write.sentences import HAPPENS, margin
from oomph.write.span import cells

WIDE: Final = 880
NARROW: Final = 340
# How wide a sign is, as a share of the font's size, in the widest of the fonts that systems have.
_BROAD: Final = dict.fromkeys("mwMW%@×–…", 0.98) | dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ", 0.74)
_SLIM: Final = dict.fromkeys("fijlrtI .,:;'|!-()[]{}", 0.42)
_SIGNS: Final = _BROAD | _SLIM
_TOP: Final = 22  # where the first row begins
_TICKS: Final = 6  # at most, and perhaps one more


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Where things stand, in pixels."""

    width: int
    left: int  # where bars begin
    bars: int  # how long the whole reach is
    pitch: int  # from row to row
    bar: int  # how high a bar is
    above: int  # from the top of a row to its bar
    text: int  # the size of its letters


_BESIDE: Final = Sheet(width=WIDE, left=236, bars=488, pitch=40, bar=24, above=8, text=14)
_ABOVE: Final = Sheet(width=NARROW, left=0, bars=NARROW - 1, pitch=52, bar=20, above=26, text=13)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Shapes, and how much room they take."""

    shapes: Markup
    width: int
    height: int


def drawing(picture: Picture, *, narrow: bool = False) -> Drawing:
    """From the top: the device's size, a row per gate, the scale, the legend."""
    sheet = _ABOVE if narrow else _BESIDE
    room = 62 if picture.budget is not None else 46
    legend, end = _legend(picture, sheet, _bottom(picture, sheet) + room)
    shapes = together(
        _patterns(sheet),
        *_scale(picture, sheet),
        *_tracks(picture, sheet),
        *_budget(picture, sheet),
        *(shape for number, row in enumerate(picture.rows) for shape in _row(row, picture, sheet, number)),
        *_device(picture, sheet),
        *legend,
    )
    return Drawing(shapes=shapes, width=sheet.width, height=end)


def wide(text: str, size: float) -> float:
    """How wide a text is, rather too much than too little; bold ones are a tenth wider."""
    return size * sum(_SIGNS.get(sign, 0.64 * cells(sign)) for sign in text)


def _patterns(sheet: Sheet) -> Markup:
    """Stripes for what does not fit."""
    stripes = tag("path", d="M-2 8L8 -2M4 12L12 4M0 4L4 0", class_="o-stripe")
    ground = tag("rect", width=8, height=8, class_="o-missing-ground")
    name = f"o-missing-{sheet.width}"
    return tag("defs", tag("pattern", ground, stripes, id=name, width=8, height=8, patternUnits="userSpaceOnUse"))


def _x(size: int, picture: Picture, sheet: Sheet) -> float:
    return sheet.left + size * sheet.bars / picture.reach


def _scale(picture: Picture, sheet: Sheet) -> Iterator[Markup]:
    """Faint lines at whole sizes, each a power of two apart."""
    step = 1 << max(1, picture.reach // _TICKS).bit_length()
    bottom = _bottom(picture, sheet)
    for size in range(0, picture.reach + 1, step):
        x = _x(size, picture, sheet)
        yield _upright(x, picture, sheet, "o-grid")
        words = str(Bytes(size)).replace(".00", "") if size else "0"
        half = wide(words, 11) / 2
        anchor = "start" if x < half else "end" if x > sheet.width - half else "middle"
        yield tag("text", words, x=x, y=bottom + 18, font_size=11, text_anchor=anchor, class_="o-faint")


def _bottom(picture: Picture, sheet: Sheet) -> int:
    return _TOP + sheet.pitch * len(picture.rows)


def _upright(x: float, picture: Picture, sheet: Sheet, look: str) -> Markup:
    """A line through all rows; where names stand above the bars, only through the bars."""
    if sheet.left:
        return tag("line", x1=x, x2=x, y1=_TOP - 4, y2=_bottom(picture, sheet) + 4, class_=look)
    begins = (_TOP + number * sheet.pitch + sheet.above - 2 for number in range(len(picture.rows)))
    return tag("path", d="".join(f"M{x:.1f} {y}v{sheet.bar + 4}" for y in begins), class_=look)


def _tracks(picture: Picture, sheet: Sheet) -> Iterator[Markup]:
    """The device, empty, behind every row."""
    end = _x(picture.device, picture, sheet) - sheet.left
    for number in range(len(picture.rows)):
        y = _TOP + number * sheet.pitch + sheet.above
        yield tag("rect", x=sheet.left, y=y, width=end, height=sheet.bar, class_="o-track")


def _device(picture: Picture, sheet: Sheet) -> Iterator[Markup]:
    """Where it ends, upon the bars, said above them."""
    x = _x(picture.device, picture, sheet)
    yield _upright(x, picture, sheet, "o-device")
    yield _beside(f"device {picture.device}", x, _TOP - 9, sheet, "o-ink")


def _budget(picture: Picture, sheet: Sheet) -> Iterator[Markup]:
    """Where it ends, behind the bars, said below them."""
    if picture.budget is not None:
        x = _x(picture.budget, picture, sheet)
        yield _upright(x, picture, sheet, "o-budget")
        yield _beside(f"budget {picture.budget}", x, _bottom(picture, sheet) + 35, sheet, "o-faint")


def _beside(words: str, x: float, y: float, sheet: Sheet, look: str) -> Markup:
    """In the middle of a line's end where there is room, else to its left."""
    half = wide(words, 12) / 2
    fits = half <= x <= sheet.width - half
    return tag("text", words, x=x, y=y, font_size=12, text_anchor="middle" if fits else "end", class_=look)


def _row(row: Row, picture: Picture, sheet: Sheet, number: int) -> Iterator[Markup]:
    y = _TOP + number * sheet.pitch
    yield from _names(row, sheet, y)
    bar = y + sheet.above
    seen = {piece.what for before in picture.rows[:number] for piece in before.pieces}
    for piece in row.pieces:
        yield _piece(piece, picture, sheet, bar)
        if piece.what not in seen or row.fate is Fate.STOPS or number == len(picture.rows) - 1:
            yield from _label(piece, row, picture, sheet, bar)
            seen.add(piece.what)
    if row.torn:
        x = sheet.left + sheet.bars
        yield tag("path", d=f"M{x + 3} {bar + 4}l6 {sheet.bar / 2 - 4:.0f}l-6 {sheet.bar / 2 - 4:.0f}", class_="o-torn")


def _names(row: Row, sheet: Sheet, y: int) -> Iterator[Markup]:
    """The gate and its margin, beside the bar or above it."""
    met = row.fate in {Fate.PASSES, Fate.STOPS, Fate.UNSURE}
    look, beside = "o-name" if met else "o-name o-faint", sheet.left > 0
    line = y + (18 if beside else 19)
    yield _mark(row.fate, line)
    yield tag("text", row.step, x=20, y=line, font_size=sheet.text, class_=look)
    if beside:
        yield tag("text", HAPPENS[row.step], x=20, y=line + 15, font_size=11, class_="o-faint")
        yield tag("text", margin(row), x=sheet.width, y=line + 7, font_size=13, text_anchor="end", class_=_tone(row))
    else:
        yield tag("text", margin(row), x=sheet.width, y=line, font_size=12, text_anchor="end", class_=_tone(row))


def _tone(row: Row) -> str:
    return {Fate.STOPS: "o-overflows", Fate.UNSURE: "o-unsure", Fate.PASSES: "o-ink"}.get(row.fate, "o-faint")


def _mark(fate: Fate, y: int) -> Markup:
    if fate is Fate.PASSES:
        return tag("path", d=f"M1 {y - 5}l4 4l7 -9", class_="o-mark o-stroke-fits")
    if fate is Fate.STOPS:
        return tag("path", d=f"M2 {y - 10}l9 9m0 -9l-9 9", class_="o-mark o-stroke-overflows")
    sign = "?" if fate is Fate.UNSURE else "–"
    return tag("text", sign, x=2, y=y, font_size=14, class_="o-name o-unsure" if sign == "?" else "o-faint")


def _piece(piece: Piece, picture: Picture, sheet: Sheet, y: int) -> Markup:
    x, end = (_x(at, picture, sheet) for at in (piece.begin, piece.end))
    look, paint = look_of(piece.what), None
    if piece.what is Part.MISSING:
        paint = f"fill:url(#o-missing-{sheet.width})"
    elif not piece.sure and isinstance(piece.what, Account):
        look += " o-likely"
    gap = min(1, (end - x) / 4)  # so that neighbours can be told apart without any colour
    return tag("rect", x=x, y=y, width=max(end - x - gap, 0.5), height=sheet.bar, class_=look, style=paint)


def _label(piece: Piece, row: Row, picture: Picture, sheet: Sheet, y: int) -> Iterator[Markup]:
    """The account and its whole size, or the account alone, where there is room for it."""
    size = _size(piece.what, row)
    room = (piece.end - piece.begin) * sheet.bars / picture.reach - 12
    for words in () if size is None else (f"{piece.what} {size.likely}", str(piece.what)):
        if wide(words, 11) <= room:
            x, middle = _x(piece.begin, picture, sheet) + 6, y + sheet.bar / 2 + 4
            yield tag("text", words, x=x, y=middle, font_size=11, class_=f"{look_of(piece.what)}-ink")
            return


def _size(what: What, row: Row) -> Bounds | None:
    if row.gate is None:
        return None
    if isinstance(what, Account):
        return row.gate.ledger.of(what)
    return row.gate.needs if what is Part.ASKED else None


def look_of(what: What) -> str:
    """The class of a piece."""
    return f"o-{what.split(' ', maxsplit=1)[0]}" if isinstance(what, Account) else f"o-{what.name.lower()}"


def _legend(picture: Picture, sheet: Sheet, y: int) -> tuple[list[Markup], int]:
    """What colours mean, as many to a line as there is room for; and where it ends."""
    shapes: list[Markup] = []
    x: float = 0
    for look, words in meanings(picture):
        room = 18 + wide(words, 12) + 16
        if x and x + room > sheet.width:
            x, y = 0, y + 22
        paint = f"fill:url(#o-missing-{sheet.width})" if words == Part.MISSING else None
        shapes.append(tag("rect", x=x + 0.5, y=y - 10, width=12, height=12, class_=look, style=paint))
        shapes.append(tag("text", words, x=x + 18, y=y, font_size=12, class_="o-ink"))
        x += room
    return shapes, y + 8


def meanings(picture: Picture) -> Iterator[tuple[str, str]]:
    """The look of every kind of piece that is drawn, and what it is."""
    shown = picture.shown
    yield from ((look_of(what), what) for what in shown if isinstance(what, Account))
    yield from ((f"{look_of(account)} o-likely", "likely") for account in picture.doubtful[:1])
    yield from ((look_of(what), what) for what in shown if isinstance(what, Part))
