"""The KV pool as a forecast tells it: what a block is, and how many there are.

Knows figures. Does not know how an engine arrives at them.
"""

from dataclasses import dataclass

from oomph.units import Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class KvGroup:
    """Layers that take blocks together."""

    layers: int
    block_tokens: int
    page: Bytes  # of one layer
    spread: int = 1  # ranks over which the tokens of a request are dealt
    most: int | None = None  # tokens of a request for which blocks are taken; None: all
    besides: int = 0  # blocks that a request takes whatever its length

    def taken(self, tokens: int) -> int:
        """Blocks that a request of this length takes at most."""
        counted = -(-tokens // self.spread)
        counted = counted if self.most is None else min(counted, self.most)
        return -(-counted // self.block_tokens) + self.besides

    def shared(self, tokens: int) -> int:
        """Whole blocks of a beginning that requests share; none where only some tokens are kept."""
        return tokens // self.spread // self.block_tokens if self.most is None and not self.besides else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KvPool:
    """What keys, values and states are kept in; what depends on the pool's size is None where that is not known."""

    block_tokens: int  # of the group with the shortest blocks
    page: Bytes  # of one of its layers
    tensors: int  # allocations that the pool consists of
    bytes_per_block: Bytes  # over all tensors
    groups: tuple[KvGroup, ...]
    tensor: Bytes | None = None  # one allocation
    blocks: int | None = None
    least: int | None = None  # blocks that are left where everything else takes as much as it may
    tokens: int | None = None  # as the engine will print it
    concurrency: float | None = None  # likewise
    need: Bytes | None = None  # of one request of the longest length

    def taken(self, tokens: int) -> int:
        """Blocks that a request of this length takes at most, over all groups."""
        return sum(group.taken(tokens) for group in self.groups)

    def shared(self, tokens: int) -> int:
        """Blocks of a beginning of so many tokens, which requests share where prefixes are cached."""
        return sum(group.shared(tokens) for group in self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphProfile:
    """The throw-away pool in which the engine estimates its CUDA graphs, before any budget exists."""

    blocks: int
    tensors: int
    tensor: Bytes
    total: Bytes
    fails: tuple[int, int] | None = None  # which allocation is the first that fails, counted from 1: at best, at worst

    @property
    def words(self) -> str:
        """Of what it consists."""
        if self.tensors == 1:
            return f"{self.blocks} blocks in one allocation"
        return f"{self.blocks} blocks in {self.tensors} allocations of {self.tensor}"
