"""Sizes, and how sure we are of them. The only module that knows what a GiB is.

Knows: whole bytes, bounds of three points, and our own notation (`9.37 GiB`, `24GiB`). Does not know how any engine
prints a number: an engine's notation is read by that engine's module.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

KIB: Final = 1 << 10
MIB: Final = 1 << 20
GIB: Final = 1 << 30
TIB: Final = 1 << 40

_LADDER: Final = ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"))
_FACTOR: Final = {name: factor for factor, name in _LADDER} | {"B": 1, None: 1}
_WRITTEN: Final = re.compile(r"(?P<whole>[0-9]+)(?:\.(?P<part>[0-9]+))?\s*(?P<unit>[KMGT]iB|B)?")
_LONGEST: Final = 40  # characters; what is longer is no size, and big integers are slow to read


class Bytes(int):
    """A whole number of bytes; prints as `9.37 GiB`.

    Arithmetic gives a plain `int`: inside a formula a size is a number, and it becomes `Bytes` again at the door.
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read our own notation: `24GiB`, `512MiB`, `18.47GiB`, `1048576`. Refuse `24GB`, which means two sizes."""
        written = _WRITTEN.fullmatch(text.strip()) if len(text) <= _LONGEST else None
        if written is None or (written["part"] and written["unit"] in {"B", None}):
            message = f"not a size: {text[:_LONGEST]!r} (write 24GiB, 512MiB or 1048576)"
            raise ValueError(message)
        part = written["part"] or ""
        return cls(_nearest(int(written["whole"] + part) * _FACTOR[written["unit"]], 10 ** len(part)))

    @property
    def up(self) -> str:
        """Printed rounded up: for what is needed, so that a promise is kept."""
        return _printed(self, _above)

    @property
    def down(self) -> str:
        """Printed rounded down: for what is there, so that a promise is kept."""
        return _printed(self, _below)

    def __str__(self) -> str:
        return _printed(self, _nearest)

    def __format__(self, spec: str) -> str:
        return format(int(self) if spec.endswith("d") else str(self), spec)

    def __repr__(self) -> str:
        return f"Bytes({int(self)})"


def _below(size: int, step: int) -> int:
    return size // step


def _above(size: int, step: int) -> int:
    return -(-size // step)


def _nearest(size: int, step: int) -> int:
    """Halves go up, in whole numbers: fractions cost more to import than all of this module."""
    return (2 * size + step) // (2 * step)


def _printed(size: int, rounding: Callable[[int, int], int]) -> str:
    """The largest unit in which the size is at least one, with two decimals, exactly rounded."""
    for factor, name in _LADDER:
        if abs(size) >= factor:
            hundredths = rounding(size * 100, factor)
            whole, part = divmod(abs(hundredths), 100)
            return f"{'-' if hundredths < 0 else ''}{whole}.{part:02} {name}"
    return f"{int(size)} B"


@dataclass(frozen=True, slots=True)
class Bounds:
    """A size that is not below `low`, not above `high`, and most likely near `likely`."""

    low: Bytes
    high: Bytes
    likely: Bytes

    def __init__(self, low: int, high: int | None = None, likely: int | None = None) -> None:
        """`Bounds(n)` is exact; without `likely`, the middle is as good as any."""
        high = low if high is None else high
        likely = (low + high) // 2 if likely is None else likely
        if not low <= likely <= high:
            message = f"bounds out of order: low {low}, likely {likely}, high {high}"
            raise ValueError(message)
        put = object.__setattr__  # three times, not in a loop: this is the busiest line of a forecast
        put(self, "low", low if type(low) is Bytes else Bytes(low))
        put(self, "high", high if type(high) is Bytes else Bytes(high))
        put(self, "likely", likely if type(likely) is Bytes else Bytes(likely))

    @property
    def exact(self) -> bool:
        """Nothing is open."""
        return self.low == self.high

    @property
    def doubt(self) -> Bytes:
        """How far apart the ends are."""
        return Bytes(self.high - self.low)

    def __contains__(self, size: object) -> bool:
        return isinstance(size, int) and self.low <= size <= self.high

    def __add__(self, other: "Bounds | int") -> "Bounds":
        other = other if isinstance(other, Bounds) else Bounds(other)
        return Bounds(self.low + other.low, self.high + other.high, self.likely + other.likely)

    __radd__ = __add__  # so that sum() works

    def __sub__(self, other: "Bounds | int") -> "Bounds":
        other = other if isinstance(other, Bounds) else Bounds(other)
        return Bounds(self.low - other.high, self.high - other.low, self.likely - other.likely)

    def __mul__(self, count: int) -> "Bounds":
        ends = sorted((self.low * count, self.high * count))
        return Bounds(ends[0], ends[1], self.likely * count)

    __rmul__ = __mul__

    def __str__(self) -> str:
        return str(self.likely) if self.exact else f"{self.likely} ({self.low} to {self.high})"


def largest(*sizes: Bounds) -> Bounds:
    """The peak of things that are never there at once."""
    return Bounds(
        max(size.low for size in sizes),
        max(size.high for size in sizes),
        max(size.likely for size in sizes),
    )


def together(*sizes: Bounds) -> Bounds:
    """The sum of sizes that have nothing to do with each other.

    All of them at their worst at once is far rarer than any of them at its worst, so that doubts add up as sides of a
    right-angled triangle do, not end to end.
    """
    likely = sum(size.likely for size in sizes)
    below = math.isqrt(sum((size.likely - size.low) ** 2 for size in sizes))
    above = math.isqrt(sum((size.high - size.likely) ** 2 for size in sizes))
    return Bounds(likely - below, likely + above, likely)
