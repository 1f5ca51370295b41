"""The blocks of a pool: who holds them, in which order free ones are taken, and which can be found again.

Knows `v1/core/block_pool.py`. Does not know what a block is for. A free block keeps what it held until it is taken, so
that it can be found by its key; block 0 is the null block, which stands for a block that is not there.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import TypeAlias

Key: TypeAlias = tuple[int, int, int]  # group, owner of the tokens, tokens up to the end of the block
NULL = 0


class Stock:
    """All blocks, each held so many times."""

    __slots__ = ("count", "found", "free", "held", "keys")

    def __init__(self, count: int) -> None:
        self.count = count
        self.free: OrderedDict[int, None] = OrderedDict.fromkeys(range(1, count))  # the next to be taken first
        self.held = [0] * count
        self.keys: list[Key | None] = [None] * count
        self.found: dict[Key, dict[int, None]] = {}

    @property
    def used(self) -> int:
        """Blocks in use; the null block is in nobody's."""
        return self.count - 1 - len(self.free)

    def take(self, count: int) -> list[int]:
        """So many free blocks; what they held is forgotten."""
        free, held = self.free, self.held
        taken = [free.popitem(last=False)[0] for _ in range(count)]
        for block in taken:
            held[block] = 1
            if self.keys[block] is not None:
                self._forget(block)
        return taken

    def touch(self, blocks: Iterable[int]) -> None:
        """Hold blocks that were found."""
        for block in blocks:
            if block != NULL:
                if self.held[block] == 0:
                    del self.free[block]
                self.held[block] += 1

    def give_back(self, blocks: Iterable[int], *, sort: bool) -> None:
        """Let go of blocks; those that nobody else holds are free, in this order.

        They are taken last of all; with `sort`, those that cannot be found again are taken first of all.
        """
        first: list[int] = []
        last: list[int] = []
        for block in blocks:
            if block == NULL:
                continue
            self.held[block] -= 1
            if self.held[block] == 0:
                (first if sort and self.keys[block] is None else last).append(block)
        for block in last:
            self.free[block] = None
        for block in reversed(first):
            self.free[block] = None
            self.free.move_to_end(block, last=False)

    def remember(self, block: int, key: Key) -> None:
        """Let a block be found by what it holds."""
        self.keys[block] = key
        self.found.setdefault(key, {})[block] = None

    def find(self, key: Key) -> int | None:
        """A block that holds this, the oldest of several."""
        blocks = self.found.get(key)
        return next(iter(blocks)) if blocks else None

    def idle(self, blocks: Sequence[int]) -> int:
        """How many of these are free: holding them takes them from the others."""
        return sum(1 for block in blocks if block != NULL and self.held[block] == 0)

    def _forget(self, block: int) -> None:
        key = self.keys[block]
        self.keys[block] = None
        if key is not None:
            blocks = self.found[key]
            del blocks[block]
            if not blocks:
                del self.found[key]
