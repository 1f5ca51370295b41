"""The behaviour of one release, looked up once: every entry of the tables of `facts` at that release.

Knows which decisions there are and what each takes and gives. Does not know any release.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from oomph.engines.vllm.pool.caches import AttentionCache, Cache, StateCache
from oomph.engines.vllm.pool.group import Group, Groups, Layers
from oomph.engines.vllm.pool.limits import Layout, Limits

if TYPE_CHECKING:
    from oomph.engines.vllm.pool.pool import Pool, Worker


class StatePages(Protocol):
    """Pages that one request takes of a recurrent layer."""

    def __call__(self, cache: StateCache, limits: Limits, length: int) -> int:
        """How many."""


class Need(Protocol):
    """Bytes that one request of this length takes of the pool."""

    def __call__(self, groups: Groups, limits: Limits, length: int, rules: "Rules") -> int:
        """In bytes."""


class Capacity(Protocol):
    """How many tokens a pool holds, and how many of the longest requests."""

    def __call__(self, groups: Groups, blocks: int, limits: Limits, rules: "Rules") -> tuple[int, float]:
        """Tokens and requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What one release does; each field is explained where its table stands."""

    ranks: Callable[[Limits], int]
    in_flight: Callable[[Limits], int]
    retained: Callable[[Limits], int]
    state_pages: StatePages
    merged: Callable[[Sequence[Cache]], Cache]
    alike: Callable[[Collection[Cache]], bool]
    kinds: Callable[[Layers, "Rules"], list[list[str]]]
    fitted: Callable[[Layers], Layers]
    fitted_or_whole: bool
    group_padding: float
    dealt: Callable[[Sequence[str], int], list[Sequence[str]]]
    ordered: Callable[[Group], tuple[object, ...]]
    promoted: Callable[[Layers, "Rules"], Layers]
    packed: Callable[[Layers, Limits, "Rules"], tuple[Group, ...] | None]
    hidden: Callable[[Groups, dict[str, AttentionCache]], tuple[Group, ...]]
    projected: Callable[[Groups, Layers], tuple[Group, ...]]
    bytes_per_block: Callable[[Groups, Layout], int]
    tensors: Callable[[Groups, int, int, Layout], tuple[int, ...]]
    reserved_blocks: int
    override: Callable[[int, Limits], int]
    override_counts: bool
    need: Need
    capacity: Capacity
    longest: "Callable[[Sequence[Worker], Limits, Rules], int]"
    planned: "Callable[[Sequence[Worker], Limits, Rules], Pool]"
