"""The numbers in which people set an engine: powers of two, and three quarters of them.

The same grid whatever the workload, so that a smaller one never has fewer numbers to choose from.
"""

from collections.abc import Iterator
from typing import Final

_LEAST: Final = 4  # of which three quarters are a whole number


def batch_for(users: int) -> int:
    """The least size of a batch that is enough: 1, 2, 3, 4, 6, 8, 12, 16, 24 and so on."""
    power = 1 << (users - 1).bit_length()
    quarters = power * 3 // 4
    return quarters if power >= _LEAST and users <= quarters else power


def batches(below: int) -> Iterator[int]:
    """Sizes of a batch, the largest first."""
    power = 1 << below.bit_length()
    while power:
        sizes = (power, power * 3 // 4) if power >= _LEAST else (power,)
        yield from (size for size in sizes if size < below)
        power //= 2


def halves(below: int, *, least: int) -> Iterator[int]:
    """Powers of two below, the largest first."""
    size = 1 << (below - 1).bit_length() - 1
    while size >= least:
        yield size
        size //= 2
