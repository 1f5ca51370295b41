"""The picture of a start-up, in bytes: one row per gate from top to bottom, and what fills the device at that moment.

Knows where every piece begins and ends. Does not know cells, pixels or colours: the terminal, the SVG and the page all
draw from here, so that they cannot disagree.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Final, TypeAlias

from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.ledger.ledger import Account
from oomph.units import Bounds, Bytes

# From the left: what is there before the engine, then in the order in which the engine takes it.
ORDER: Final = (
    Account.DRIVER,
    Account.FOREIGN,
    Account.WEIGHTS,
    Account.UNACCOUNTED,
    Account.ACTIVATIONS,
    Account.GRAPHS,
    Account.KV_POOL,
)
_FARTHEST: Final = 1.5  # devices; what reaches farther is torn off, so that the device stays readable

# Gates that look at the budget or into the pool: their two sides say nothing of where the bar ends.
BY_SHARE: Final = frozenset({Step.POOL_SIZE, Step.ONE_REQUEST})


class Part(StrEnum):
    """A piece of a bar that is no account."""

    ASKED = "asked for"  # the start check wants this much to be free
    MISSING = "does not fit"
    POSSIBLE = "possible"  # from the likely end of the bar to its highest


class Fate(StrEnum):
    """What becomes of the engine at a gate."""

    PASSES = "passes"
    STOPS = "stops"
    UNSURE = "unsure"
    NOT_REACHED = "not reached"
    SKIPPED = "skipped"  # this release, or this set-up, does not ask
    NOT_FORECAST = "not forecast"


What: TypeAlias = Account | Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """From byte to byte of the device; beyond its end where it does not fit."""

    what: What
    begin: int
    end: int
    sure: bool = True  # False from the lowest to the likely end of the bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One gate: what fills the device, and what becomes of the engine."""

    step: Step
    fate: Fate
    gate: Gate | None = None
    pieces: tuple[Piece, ...] = ()
    torn: bool = False  # it reaches farther than the picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """All rows against one device."""

    rows: tuple[Row, ...]
    device: Bytes
    reach: int  # bytes from the left to the right of the picture
    budget: Bytes | None = None

    @property
    def shown(self) -> tuple[What, ...]:
        """What is drawn somewhere, for the legend."""
        drawn = {piece.what for row in self.rows for piece in row.pieces}
        return tuple(what for what in (*ORDER, *Part) if what in drawn)

    @property
    def doubtful(self) -> tuple[Account, ...]:
        """What is somewhere drawn as only likely."""
        drawn = {piece.what for row in self.rows for piece in row.pieces if not piece.sure}
        return tuple(account for account in ORDER if account in drawn)


def picture(forecast: Forecast) -> Picture:
    """Every gate in its order, met or not."""
    device = forecast.device.total
    rows = tuple(_rows(forecast))
    farthest = max((piece.end for row in rows for piece in row.pieces), default=0)
    reach = max(device, min(farthest, int(device * _FARTHEST)))
    return Picture(
        rows=tuple(_clipped(row, reach) for row in rows),
        device=device,
        reach=reach,
        budget=_budget(forecast),
    )


def snapshot(gate: Gate, device: Bytes) -> Picture:
    """One moment of one device: a gate that stopped the engine."""
    row = Row(step=gate.step, fate=Fate.STOPS, gate=gate, pieces=tuple(_pieces(gate, device)))
    farthest = max((piece.end for piece in row.pieces), default=0)
    reach = max(device, min(farthest, int(device * _FARTHEST)))
    return Picture(rows=(_clipped(row, reach),), device=device, reach=reach)


def _budget(forecast: Forecast) -> Bytes | None:
    """What the start check asks for is the engine's share; a pool of a given size does not look at it."""
    given = forecast.settings.get("kv_cache_memory_bytes")
    if given is not None and given.value is not None:
        return None
    wanted = [gate.needs.likely for gate in forecast.gates if gate.step is Step.START_CHECK]
    return wanted[0] if wanted and wanted[0] < forecast.device.total else None


def _rows(forecast: Forecast) -> Iterator[Row]:
    gates = {gate.step: gate for gate in forecast.gates}
    stopped = False
    for step in Step:
        gate = gates.get(step)
        if gate is None:
            yield Row(step=step, fate=Fate.SKIPPED if step in forecast.skipped else Fate.NOT_FORECAST)
        elif stopped:
            yield Row(step=step, fate=Fate.NOT_REACHED, gate=gate)
        else:
            pieces = tuple(_pieces(gate, forecast.device.total))
            yield Row(step=step, fate=_FATES[gate.verdict], gate=gate, pieces=pieces)
            stopped = gate.verdict is Verdict.OVERFLOWS


_FATES: Final = {Verdict.FITS: Fate.PASSES, Verdict.OVERFLOWS: Fate.STOPS, Verdict.UNSURE: Fate.UNSURE}


def _pieces(gate: Gate, device: Bytes) -> Iterator[Piece]:
    """What is there, as it is likely; then what may be there beyond. Missing is drawn exactly where a side is short."""
    short = max(0, gate.needs.likely - gate.has.likely)
    stack = list(_stack(gate, device, short))
    likely = max((piece.end for piece in stack), default=0)
    low, high = _ends(gate, device, likely)
    for piece in stack:
        yield from _split(piece, low=low, device=device, short=bool(short))
    if high > likely:
        yield Piece(what=Part.POSSIBLE, begin=likely, end=high, sure=False)


def _stack(gate: Gate, device: Bytes, short: int) -> Iterator[Piece]:
    """One upon the other, each at its likely size."""
    end = 0
    for account in ORDER:
        size = gate.ledger.of(account)
        if size is not None and size.likely > 0:
            yield Piece(what=account, begin=end, end=end + size.likely)
            end += size.likely
    if gate.step is Step.START_CHECK:
        end = max(end, device - gate.has.likely)
        yield Piece(what=Part.ASKED, begin=end, end=end + gate.needs.likely)
    elif short and end <= device:
        yield Piece(what=Part.MISSING, begin=end, end=end + short)


def _ends(gate: Gate, device: Bytes, likely: int) -> tuple[int, int]:
    """Between which the bar ends: as far from the device's end as the gate's sides are apart, if they speak of it.

    Else as far apart as the pool's bounds: what other accounts take more, the pool gets less.
    """
    sides = Bounds(device) - gate.spare
    if gate.step in BY_SHARE or likely not in sides:
        pool = gate.ledger.of(Account.KV_POOL) or Bounds(0)
        return likely - pool.likely + pool.low, max(likely, min(likely - pool.likely + pool.high, device))
    return min(sides.low, likely), max(sides.high, likely)


def _split(piece: Piece, *, low: int, device: int, short: bool) -> Iterator[Piece]:
    """At the lowest end of the bar, where doubt begins, and at the end of the device, where nothing more fits."""
    cuts = sorted({piece.begin, piece.end, *(cut for cut in (low, device) if piece.begin < cut < piece.end)})
    for begin, end in pairwise(cuts):
        beyond = begin >= device
        if short or not beyond:
            what = Part.MISSING if beyond else piece.what
            yield Piece(what=what, begin=begin, end=end, sure=end <= low)


def _clipped(row: Row, reach: int) -> Row:
    """Without what lies beyond the picture."""
    if all(piece.end <= reach for piece in row.pieces):
        return row
    pieces = (replace(piece, end=min(piece.end, reach)) for piece in row.pieces if piece.begin < reach)
    return replace(row, pieces=tuple(pieces), torn=True)
