"""CUDA graphs of decode steps beside recurrent layers: a graph of so many sequences needs as many blocks.

Knows what a release does where there are fewer: it dies in the kernel, leaves out the larger graphs, or refuses to
start. All of it holds only where whole decode steps are captured.
"""

from collections.abc import Sequence


def as_they_are(sizes: Sequence[int], blocks: int) -> tuple[int, ...]:
    """Sizes to be captured, whatever the number of blocks."""
    del blocks
    return tuple(sizes)


def within_blocks(sizes: Sequence[int], blocks: int) -> tuple[int, ...]:
    """Sizes to be captured, but for those with more sequences than there are blocks."""
    return tuple(size for size in sizes if size <= blocks)


def never_refused(sequences: int, blocks: int) -> bool:
    """However few blocks there are."""
    del sequences, blocks
    return False


def refused_below_one_each(sequences: int, blocks: int) -> bool:
    """Where not every sequence of a step can have a block."""
    return sequences > blocks
