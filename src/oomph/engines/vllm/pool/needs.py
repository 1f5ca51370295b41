"""What one request takes of the pool, and the longest that fits.

Knows what each release adds up: layers, the first group, or all groups. Does not know how much memory there is.
"""

from collections.abc import Callable
from functools import lru_cache

from oomph.engines.vllm.pool.blocks import is_packed, slots_per_tuple, tuple_pages
from oomph.engines.vllm.pool.group import Groups, Layers
from oomph.engines.vllm.pool.limits import Layout, Limits
from oomph.engines.vllm.pool.requests import group_pages, pages
from oomph.engines.vllm.pool.rules import Rules
from oomph.ledger.same import Same


def of_layers(layers: Layers, limits: Limits, length: int, rules: Rules) -> int:
    """Every layer by itself: no slot is shared, none is padded."""
    return sum(pages(cache, limits, length, rules) * cache.page for cache in layers.values())


def of_first_group(groups: Groups, limits: Limits, length: int, rules: Rules) -> int:
    """The blocks of the first group only, as if the others took none."""
    if len(groups) == 1 and groups[0].each is not None:
        return of_layers(groups[0].each, limits, length, rules)
    return _bytes_per_block(Same(groups), limits.layout, Same(rules)) * group_pages(groups[0], limits, length, rules)


def of_every_group(groups: Groups, limits: Limits, length: int, rules: Rules) -> int:
    """The blocks of all groups, each as large as all slots."""
    if len(groups) == 1 and groups[0].each is not None:
        return of_layers(groups[0].each, limits, length, rules)
    return per_block(groups, limits, rules) * blocks(groups, limits, length, rules)


def of_every_group_or_tuple(groups: Groups, limits: Limits, length: int, rules: Rules) -> int:
    """The same; packed groups are counted in tuples, whatever their block comes to."""
    if not is_packed(groups):
        return of_every_group(groups, limits, length, rules)
    return slots_per_tuple(groups) * sum(tuple_pages(groups)) * blocks(groups, limits, length, rules)


def of_blocks(groups: Groups, limits: Limits, length: int, rules: Rules) -> int:
    """The blocks of all groups, each as large as a block of the pool."""
    return per_block(groups, limits, rules) * blocks(groups, limits, length, rules)


def per_block(groups: Groups, limits: Limits, rules: Rules) -> int:
    """Bytes of one block over all layers of a worker."""
    return _bytes_per_block(Same(groups), limits.layout, Same(rules))


@lru_cache(maxsize=256)
def _bytes_per_block(groups: Same[Groups], layout: Layout, rules: Same[Rules]) -> int:
    """Remembered, because the longest request that fits is found by asking for many lengths."""
    return rules.it.bytes_per_block(groups.it, layout)


def blocks(groups: Groups, limits: Limits, length: int, rules: Rules) -> int:
    """Blocks that one request takes, over all groups."""
    return sum(group_pages(group, limits, length, rules) for group in groups)


def longest(fits: Callable[[int], bool], upto: int) -> int:
    """The longest request that fits, up to this length; 0 where not even one token does."""
    low, high = 0, upto
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
