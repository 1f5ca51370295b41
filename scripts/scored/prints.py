"""Printed figures as what they may have been before they were rounded.

Knows how many digits vLLM prints. Does not know what a figure is about.
"""

import re
from typing import Final

from oomph.units import GIB, MIB, Bounds

_FROM_MIB: Final = 5  # a figure in GiB with so many decimals was printed in MiB


def gib(figure: float | None) -> Bounds | None:
    """A size in GiB: rounded to two decimals, to four where it has more, or to a whole MiB where it has still more."""
    if figure is None:
        return None
    decimals = len(repr(figure).partition(".")[2])
    if decimals >= _FROM_MIB:
        return around(round(figure * GIB), MIB // 2)
    return around(round(figure * GIB), round((0.005 if decimals <= 2 else 0.00005) * GIB))  # noqa: PLR2004 - decimals


def around(size: int, doubt: int) -> Bounds:
    """So much, give or take."""
    return Bounds(size - doubt, size + doubt, size)


def noted(notes: str, pattern: str) -> float | None:
    """The figure that a remark holds, by the words before it."""
    found = re.search(pattern + r"\s*(-?[0-9.]+)", notes)
    return None if found is None else float(found[1].rstrip("."))
