"""Figures in words, alike in every notice."""

from oomph.units import Bytes


def percent(share: float) -> str:
    """`97 %`; never rounded up to all, nor down to none."""
    rounded = round(share * 100)
    if rounded == 100 and share < 1:  # noqa: PLR2004 - a hundred in a hundred
        return "99 %"
    return "under 1 %" if rounded == 0 and share > 0 else f"{rounded} %"


def seconds(span: float) -> str:
    """`45 s`, `3 min`, `2 h`."""
    if span < 120:  # noqa: PLR2004 - two minutes
        return f"{span:.0f} s"
    return f"{span / 60:.0f} min" if span < 7200 else f"{span / 3600:.0f} h"  # noqa: PLR2004 - two hours


def counted(count: int, thing: str) -> str:
    """`1 request`, `1,200 requests`."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def grown(before: int, after: int) -> str:
    """`9.37 GiB → 9.80 GiB`."""
    return f"{Bytes(before)} → {Bytes(after)}"
