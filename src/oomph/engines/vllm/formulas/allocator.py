"""What PyTorch's caching allocator counts as allocated for one tensor.

Knows the rounding of `c10/cuda/CUDACachingAllocator.cpp` for a request that finds no free block: weights are loaded
into an empty device. Does not know fragmentation.
"""

from typing import Final

from oomph.units import MIB, Bytes

_GRAIN: Final = 512  # every size is a multiple of it
_SMALL: Final = MIB  # what remains of a large block is not cut off unless it is larger
_LARGE: Final = 10 * MIB  # from here on a tensor has a segment of its own
_SEGMENT: Final = 2 * MIB  # such a segment is a multiple of it


def held(size: int) -> Bytes:
    """The block that a tensor of this size holds."""
    rounded = _up(size, _GRAIN)
    if rounded < _LARGE:
        return Bytes(rounded)
    segment = _up(rounded, _SEGMENT)
    return Bytes(segment if segment - rounded <= _SMALL else rounded)


def _up(size: int, step: int) -> int:
    return -(-size // step) * step
