"""How vLLM writes numbers in its log.

Knows the notations and what a printed number may have been. Does not know in which sentence it stands.
"""

import re
from fractions import Fraction
from functools import partial
from typing import Final

from oomph.engines.sentence import Notation
from oomph.units import GIB, MIB, Bounds, Bytes

_FIXED: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,6})?")


def fixed(text: str, *, unit: int = GIB) -> Bounds:
    """What `%.2f` (or any fixed number of decimals) may have been: half a step either side of what was printed."""
    decimals = len(text.partition(".")[2])
    return _around(text, half=Fraction(1, 2 * 10**decimals), unit=unit)


def rounded(text: str, *, unit: int = GIB) -> Bounds:
    """What `round(x, 2)` may have been: it drops trailing zeros, so `7.5` is as exact as `7.50`."""
    return _around(text, half=Fraction(1, 200), unit=unit)


def format_gib(size: int) -> str:
    """As vLLM prints sizes from 0.14.0 on (utils/mem_utils.py)."""
    return str(round(size / GIB, 2))


def _printed(decimals: int, *, unit: int) -> Notation:
    """A size printed by `%.2f` or the like."""
    return Notation(
        pattern=rf"-?[0-9]{{1,15}}\.[0-9]{{{decimals}}}",
        read=partial(fixed, unit=unit),
        write=lambda size: f"{size / unit:.{decimals}f}",
    )


def _number(decimals: int) -> Notation:
    """A number that is no size, printed with fixed decimals."""
    pattern = r"-?[0-9]{1,15}" + (rf"\.[0-9]{{{decimals}}}" if decimals else "")
    return Notation(pattern=pattern, read=float, write=lambda number: f"{number:.{decimals}f}")


def _seconds(decimals: int) -> Notation:
    """A time; however finely it was written, it must not keep the size beside it from being read."""
    return Notation(pattern=r"[0-9]{1,15}(?:\.[0-9]{1,20})?", read=float, write=lambda number: f"{number:.{decimals}f}")


# Named for what the source writes: gib2 is `%.2f` of GiB, gib is `format_gib`, raw_gib an unrounded quotient.
NOTATIONS: Final = {
    "gib": Notation(pattern=r"-?[0-9]{1,15}(?:\.[0-9]{1,2})?", read=rounded, write=format_gib),
    "gib2": _printed(2, unit=GIB),
    "gib4": _printed(4, unit=GIB),
    "mib2": _printed(2, unit=MIB),
    "raw_gib": Notation(
        pattern=r"-?[0-9]{1,15}\.[0-9]{1,20}(?:e-[0-9]{1,3})?",
        read=lambda text: Bounds(round(Fraction(text) * GIB)),
        write=lambda size: str(size / GIB),
    ),
    "bytes": Notation(pattern=r"-?[0-9]{1,18}", read=lambda text: Bounds(int(text)), write=lambda size: str(int(size))),
    "whole": Notation(pattern=r"-?[0-9]{1,18}", read=int, write=str),
    "count": Notation(
        pattern=r"[0-9]{1,3}(?:,[0-9]{3}){0,5}|[0-9]{1,18}",
        read=lambda text: int(text.replace(",", "")),
        write=lambda number: f"{number:,}",
    ),
    "share": Notation(pattern=r"[0-9](?:\.[0-9]{1,18})?(?:e-[0-9]{1,3})?", read=float, write=str),
    "f1": _number(1),
    "f2": _number(2),
    "f4": _number(4),
    "s0": _seconds(0),
    "s2": _seconds(2),
    "s6": _seconds(6),
    "word": Notation(pattern=r"\S{1,200}", read=str, write=str),
    "words": Notation(pattern=r".{1,400}?", read=str, write=str),
    "rest": Notation(pattern=r".{0,100000}", read=str, write=str),
}


def _around(text: str, *, half: Fraction, unit: int) -> Bounds:
    if not _FIXED.fullmatch(text):
        message = f"not a printed size: {text[:40]!r}"
        raise ValueError(message)
    middle = Fraction(text)
    low, high = (middle - half) * unit, (middle + half) * unit
    return Bounds(Bytes(low.__floor__()), Bytes(high.__ceil__()), Bytes(round(middle * unit)))
