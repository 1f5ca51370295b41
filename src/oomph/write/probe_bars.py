"""A bar for each device: what is reserved, who holds how much, what is free, and what an engine cannot see.

Knows cells and signs; a letter begins each part, so that it can be read without any colour. The longest bar is the
largest card.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from oomph.diagnose.machine.holders import Kind, held_by
from oomph.diagnose.machine.judgement import Judged, Judgement
from oomph.ledger.ledger import Account
from oomph.ledger.probe import Host, Probe
from oomph.ledger.visible import Place
from oomph.units import Bytes
from oomph.write.bars import FILLS
from oomph.write.span import Line, Span, Style, cells, shortened

_LABEL: Final = 9  # cells of `cuda:15` and two more
_WORDS: Final = 17  # cells of `1023.99 GiB free`
_SMALL: Final = 400  # of so many parts of a bar, one is too little to be named
_ROOMY: Final = 60  # columns from which figures have a place beside the bar


class Part(StrEnum):
    """What a stretch of a bar is."""

    RESERVED = "reserved"
    ORPHANS = "orphans"
    HELD = "held"
    DISPLAY = "display"
    UNNAMED = "used by others"
    CACHE = "page cache"
    FREE = "free"
    INVISIBLE = "invisible"


_LOOKS: Final[dict[Part, tuple[str, str, Style | Account]]] = {
    Part.RESERVED: ("R", FILLS[Account.DRIVER], Account.DRIVER),
    Part.ORPHANS: ("O", "╳", Style.OVERFLOWS),
    Part.HELD: ("H", FILLS[Account.FOREIGN], Account.FOREIGN),
    Part.DISPLAY: ("D", FILLS[Account.WEIGHTS], Account.WEIGHTS),
    Part.UNNAMED: ("U", FILLS[Account.UNACCOUNTED], Account.UNACCOUNTED),
    Part.CACHE: ("C", FILLS[Account.KV_POOL], Account.KV_POOL),
    Part.FREE: ("·", "·", Style.FITS),
    Part.INVISIBLE: ("╌", "╌", Style.FAINT),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One device as stretches from its first byte to the last of its card."""

    label: str
    stretches: tuple[tuple[Part, Bytes], ...]

    @property
    def whole(self) -> int:
        """Bytes of all of it."""
        return sum(size for _, size in self.stretches)

    def of(self, part: Part) -> Bytes:
        """Bytes of one part."""
        return Bytes(sum(size for name, size in self.stretches if name is part))


def label_of(place: Place, found: Judgement) -> str:
    """As the engine will call it, where that is known, else by its place on the bus."""
    return f"cuda:{place.ordinal}" if found.visible.ordered else f"GPU {place.gpu.index}"


def bars_of(found: Judgement, probe: Probe) -> tuple[Bar, ...]:
    """Of every device whose memory is known."""
    made = (_bar(each, probe.host, label_of(each.place, found)) for each in found.devices)
    return tuple(bar for bar in made if bar is not None and bar.whole)


def _bar(found: Judged, host: Host, label: str) -> Bar | None:
    """Free is what can be had; what is left of the card beyond it is invisible to the engine."""
    known = found.believed
    if known is None:
        return None
    unified = found.place.gpu.unified
    card = (host.total if unified else found.place.gpu.total) or known.total
    cache = min(host.page_cache or 0, known.really) if unified else 0
    stretches = [*_used(found, host), (Part.CACHE, cache), (Part.FREE, known.really - cache)]
    told = sum(size for _, size in stretches)
    stretches.append((Part.INVISIBLE, max(card - told, 0)))
    kept = tuple((part, Bytes(size)) for part, size in stretches if size > 0)
    return Bar(label=label, stretches=kept)


def _used(found: Judged, host: Host) -> Iterator[tuple[Part, int]]:
    part = found.place.part
    parts = {
        Part.ORPHANS: _held(found, Kind.ORPHAN),
        Part.HELD: _held(found, Kind.ENGINE, Kind.TENANT, Kind.OUTSIDE, Kind.SERVER),
        Part.DISPLAY: _held(found, Kind.DISPLAY),
    }
    used = part.used
    if found.place.gpu.unified and host.total is not None and host.available is not None:
        used = Bytes(max(host.total - host.available, 0))
    yield Part.RESERVED, part.reserved or 0
    yield from parts.items()
    yield Part.UNNAMED, max((used or 0) - sum(parts.values()), 0)


def _held(found: Judged, *kinds: Kind) -> int:
    return sum(holder.process.holds or 0 for holder in held_by(found.holders, *kinds))


def bar_lines(bars: tuple[Bar, ...], width: int) -> Iterator[Line]:
    """One line per device, then what the signs mean."""
    longest = max((bar.whole for bar in bars), default=0)
    words = _WORDS + 2 if width >= _ROOMY else 0
    room = width - _LABEL - 1 - words
    for bar in bars:
        line = (Span(f"{bar.label:{_LABEL}}", Style.STRONG), *_painted(bar, longest, room), Span("│"))
        short = room - (2 * bar.whole * room + longest) // (2 * longest)
        free = Span(f"{' ' * short}  {bar.of(Part.FREE).down} free", Style.FAINT)
        yield (*line, free) if words else line
    if bars:
        yield from _legend(bars, width)


def _painted(bar: Bar, longest: int, room: int) -> Iterator[Span]:
    begun, at = 0, 0
    for part, size in bar.stretches:
        begun += size
        end = (2 * begun * room + longest) // (2 * longest)
        sign, fill, style = _LOOKS[part]
        if end > at:
            yield Span(sign + fill * (end - at - 1), style)
        at = end


def _legend(bars: tuple[Bar, ...], width: int) -> Iterator[Line]:
    """What each sign means, as many to a line as there is room for; of one device with its figures."""
    line: list[Span] = []
    for part, (sign, _, style) in _LOOKS.items():
        sizes = [bar.of(part) for bar in bars if bar.of(part) * _SMALL >= bar.whole]
        if not sizes:
            continue
        meaning = f" {part} {sizes[0].down}  " if len(bars) == 1 else f" {part}  "
        if line and sum(cells(span.text) for span in line) + 1 + cells(meaning) > width:
            yield tuple(line)
            line = []
        line += [Span(sign, style), Span(shortened(meaning, width - 2), Style.FAINT)]
    yield tuple(line)
