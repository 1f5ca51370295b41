"""Layers that keep hidden states to be handed out: each a group of its own, in pages of the common size.

Knows how long their blocks are made. Does not know who asks for hidden states.
"""

import math
from dataclasses import replace

from oomph.engines.vllm.pool.caches import AttentionCache
from oomph.engines.vllm.pool.group import Group, Groups
from oomph.engines.vllm.pool.refusal import Reason, Unplannable


def not_known(groups: Groups, hidden: dict[str, AttentionCache]) -> tuple[Group, ...]:
    """The release has no such layers."""
    del groups, hidden
    raise Unplannable(Reason.UNSUPPORTED)


def as_many_as_fit(groups: Groups, hidden: dict[str, AttentionCache]) -> tuple[Group, ...]:
    """Blocks of as many tokens as a page holds."""
    page = groups[0].page
    return (*groups, *(_added(name, cache, page, max(page // _token(cache), 1)) for name, cache in hidden.items()))


def dividing(groups: Groups, hidden: dict[str, AttentionCache]) -> tuple[Group, ...]:
    """Blocks of as many tokens as a page holds and every other block is a multiple of."""
    page = groups[0].page
    common = math.gcd(*(group.block_tokens for group in groups))
    return (
        *groups,
        *(
            _added(name, cache, page, _largest_divisor(common, max(page // _token(cache), 1)))
            for name, cache in hidden.items()
        ),
    )


def dividing_after_growth(groups: Groups, hidden: dict[str, AttentionCache]) -> tuple[Group, ...]:
    """The same, after pages have grown to hold at least one token."""
    page = groups[0].page
    scale = -(-max(_token(cache) for cache in hidden.values()) // page)
    return dividing([_grown(group, scale) for group in groups] if scale > 1 else groups, hidden)


def _token(cache: AttentionCache) -> int:
    return cache.kv_heads * cache.head_dim * cache.format.itemsize


def _added(name: str, cache: AttentionCache, page: int, block_tokens: int) -> Group:
    return Group(names=(name,), cache=replace(cache, block_tokens=block_tokens, padded=page))


def _grown(group: Group, scale: int) -> Group:
    cache = group.cache
    padded = cache.padded and cache.padded * scale
    return replace(group, cache=replace(cache, block_tokens=cache.block_tokens * scale, padded=padded))


def _largest_divisor(value: int, limit: int) -> int:
    return next(divisor for divisor in range(min(value, limit), 0, -1) if value % divisor == 0)
