"""The pool as planned: what one worker brings, its share, and the whole."""

from dataclasses import dataclass

from oomph.engines.vllm.pool.caches import StateCache
from oomph.engines.vllm.pool.group import Group, Layers
from oomph.units import Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """One rank: its layers in the order of the model, and what is left for its share of the pool."""

    layers: Layers
    available: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One worker's share of the pool."""

    groups: tuple[Group, ...]
    bytes_per_block: Bytes  # over all its layers
    tensors: tuple[Bytes, ...]  # each is one allocation
    need: Bytes  # of one request of the longest length, as the release counts it
    usable: Bytes  # what the need is held against

    @property
    def size(self) -> Bytes:
        """What it allocates."""
        return Bytes(sum(self.tensors))


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrowAway:
    """The pool in which one worker estimates its CUDA graphs, before any budget exists."""

    groups: tuple[Group, ...]
    blocks: int
    bytes_per_block: Bytes
    tensors: tuple[Bytes, ...]

    @property
    def size(self) -> Bytes:
        """What it allocates."""
        return Bytes(sum(self.tensors))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The blocks that all workers have, and what they hold."""

    blocks: int
    context_tokens: int  # the longest a request may become; shorter than asked for where that was left open
    tokens: int | None  # as the first worker prints it; None where nothing is kept
    concurrency: float | None
    shares: tuple[Share, ...]

    @property
    def groups(self) -> tuple[Group, ...]:
        """Those of the first worker."""
        return self.shares[0].groups

    @property
    def has_states(self) -> bool:
        """Some layer is recurrent, so that captured decode steps need a block per sequence."""
        return any(isinstance(cache, StateCache) for group in self.groups for cache in group.caches)

    @property
    def block_tokens(self) -> tuple[int, ...]:
        """Tokens of one block, group by group."""
        return tuple(group.block_tokens for group in self.groups)
