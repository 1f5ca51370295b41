"""What one layer keeps on one rank: of every token, of some, or a state of fixed size.

Knows pages. Does not know which layers share blocks, nor which release is asked: bytes of a state are put in by
`layers`, which asks the tables.
"""

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from oomph.engines.vllm.pool.formats import KvFormat
from oomph.engines.vllm.pool.refusal import Reason, Unplannable
from oomph.ledger.dtype import Dtype
from oomph.units import Bytes

if TYPE_CHECKING:
    from fractions import Fraction  # takes longer to import than all of planning


class Keeps(StrEnum):
    """Which tokens of a sequence an attention layer keeps."""

    ALL = "all"
    WINDOW = "window"  # the last so many
    CHUNK = "chunk"  # those of the current chunk
    ENCODER = "encoder"  # those that the encoder was fed
    RING = "ring"  # one block, written round and round


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionCache:
    """What one attention layer keeps on one rank, and in which blocks."""

    block_tokens: int
    kv_heads: int
    head_dim: int
    value_dim: int  # 0 where one vector serves for both
    format: KvFormat
    state: int  # bytes that one KV head keeps of one token, or of `tokens_per_state`
    keeps: Keeps = Keeps.ALL
    latent: bool = False
    window: int | None = None  # of a layer that keeps all: it attends to so many, but keeps the rest
    chunk: int | None = None
    retained: int = 0  # tokens kept below the window for drafts that look back
    tokens_per_state: "int | Fraction" = 1
    padded: int | None = None  # bytes a page is stretched to
    alignment: int | None = None  # bytes a page is rounded up to
    cache_dtype: str | None = None  # of a latent layer: the --kv-cache-dtype it was told; an indexer is told none
    strided: bool = False  # its kernel finds a block by the stride, so a page may be padded
    sharded: bool = True  # decode context parallelism splits its tokens over ranks
    stride: int | None = None  # bytes of which the distance between two blocks must be a multiple
    kernel_tokens: int | None = None  # or: whole kernel blocks of so many tokens
    sink: int | None = None
    reference_window: int | None = None
    hidden: bool = False  # keeps hidden states to be handed out, not keys and values

    def __post_init__(self) -> None:
        if self.alignment is not None:
            rounded = -(-self.unpadded // self.alignment) * self.alignment
            if rounded != self.unpadded:
                object.__setattr__(self, "padded", rounded)

    @property
    def unpadded(self) -> int:
        """One block as its states fill it."""
        return self.kv_heads * int(self.block_tokens // self.tokens_per_state) * self.state

    @property
    def page(self) -> Bytes:
        """One block of this layer."""
        return _page(self.unpadded, self.padded)

    @property
    def block_stride(self) -> int:
        """Bytes of which the distance between two blocks must be a multiple."""
        if self.kernel_tokens is None:
            return self.stride or 1
        kernel = math.gcd(self.kernel_tokens, self.block_tokens)
        return 1 if kernel == self.block_tokens else replace(self, block_tokens=kernel).page


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One tensor of a recurrent layer's memory of a sequence, on one rank."""

    shape: tuple[int, ...]
    dtype: Dtype

    @property
    def size(self) -> Bytes:
        """Its bytes."""
        return self.dtype.size(math.prod(self.shape))


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCache:
    """What one recurrent layer keeps on one rank: a page is all states of one sequence, however long it is."""

    block_tokens: int  # tokens after which a checkpoint is kept, where any is
    states: tuple[State, ...]
    padded: int | None = None
    speculative_blocks: int = 0
    checkpoint_blocks: int = 0
    replicated: bool = False  # every rank keeps the whole state
    unpadded: int = field(init=False, compare=False)  # all states of one sequence; asked for very often

    def __post_init__(self) -> None:
        object.__setattr__(self, "unpadded", sum(state.size for state in self.states))

    @property
    def page(self) -> Bytes:
        """One block of this layer."""
        return _page(self.unpadded, self.padded)

    @property
    def block_stride(self) -> int:
        """Blocks may lie anywhere."""
        return 1


Cache: TypeAlias = AttentionCache | StateCache


def _page(unpadded: int, padded: int | None) -> Bytes:
    """A page must hold its states; a release that asks for less stumbles over its own check."""
    if padded is not None and padded < unpadded:
        raise Unplannable(Reason.UNSUPPORTED)
    return Bytes(unpadded if padded is None else padded)


def with_block(cache: Cache, block_tokens: int) -> Cache:
    """The same layer in blocks of so many tokens."""
    return replace(cache, block_tokens=block_tokens)


def with_page(cache: Cache, page: int) -> Cache:
    """The same layer with its pages stretched to so many bytes."""
    return replace(cache, padded=page)


def keeps(cache: Cache, *what: Keeps) -> bool:
    """Whether an attention layer keeps one of these."""
    return isinstance(cache, AttentionCache) and cache.keeps in what


def is_latent(cache: Cache) -> bool:
    """Whether one vector serves for keys and values."""
    return isinstance(cache, AttentionCache) and cache.latent
