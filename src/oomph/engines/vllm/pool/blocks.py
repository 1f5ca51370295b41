"""Bytes of one block in all layers, and the tensors that hold so many blocks.

Knows how groups share memory: layer by layer in slots, or side by side in one buffer. Does not know how many blocks
there are.
"""

import math
from collections import Counter
from collections.abc import Callable

from oomph.engines.vllm.pool.caches import AttentionCache, Cache
from oomph.engines.vllm.pool.group import Group, Groups
from oomph.engines.vllm.pool.limits import Layout, Limits
from oomph.engines.vllm.pool.refusal import Reason, Unplannable


def in_slots(groups: Groups, layout: Layout) -> int:
    """As many slots as the largest group has layers, each as large as the common page."""
    del layout
    if len(groups) == 1 and groups[0].mixed:
        return groups[0].page
    slots, page = _slots(groups)
    return slots * page


def in_slots_or_tuples(groups: Groups, layout: Layout) -> int:
    """The same; packed groups take one slot of every size per layer of the most frequent size."""
    return _tuples(groups) * sum(tuple_pages(groups)) if is_packed(groups) else in_slots(groups, layout)


def in_slots_or_sizes(groups: Groups, layout: Layout) -> int:
    """The same; packed groups take as many slots of each size as the group that has most of them."""
    if not is_packed(groups):
        return in_slots(groups, layout)
    return sum(page * slots for page, slots in _slots_by_size(groups).items())


def in_slots_or_side_by_side(groups: Groups, layout: Layout) -> int:
    """The same; packed groups take what the widest of them takes."""
    return side_by_side(groups, layout) if is_packed(groups) else in_slots(groups, layout)


def side_by_side(groups: Groups, layout: Layout) -> int:
    """What the widest group takes in one block."""
    del layout
    return _widest(groups, lambda cache: cache.page)


def side_by_side_in_step(groups: Groups, layout: Layout) -> int:
    """The same, rounded up so that every layer's blocks lie at the distance it asks for."""
    return _up(side_by_side(groups, layout), math.lcm(*_strides(groups)))


def by_layout(groups: Groups, layout: Layout) -> int:
    """The same where blocks are outermost; elsewhere each page is rounded by itself."""
    if layout.block_outermost:
        return side_by_side_in_step(groups, layout)
    return _widest(groups, lambda cache: _up(cache.page, cache.block_stride))


def per_slot(groups: Groups, blocks: int, bytes_per_block: int, layout: Layout) -> tuple[int, ...]:
    """One tensor per slot; groups share it layer by layer."""
    del bytes_per_block, layout
    if len(groups) == 1 and groups[0].mixed:
        return tuple(page * blocks for page in groups[0].pages)
    slots, page = _slots(groups)
    return (page * blocks,) * slots


def per_slot_or_tuple(groups: Groups, blocks: int, bytes_per_block: int, layout: Layout) -> tuple[int, ...]:
    """The same; packed groups have one of every size per tuple."""
    if not is_packed(groups):
        return per_slot(groups, blocks, bytes_per_block, layout)
    return tuple(page * blocks for page in tuple_pages(groups)) * _tuples(groups)


def per_slot_or_size(groups: Groups, blocks: int, bytes_per_block: int, layout: Layout) -> tuple[int, ...]:
    """The same; packed groups have as many of each size as they need."""
    if not is_packed(groups):
        return per_slot(groups, blocks, bytes_per_block, layout)
    return tuple(page * blocks for page, slots in _slots_by_size(groups).items() for _ in range(slots))


def per_slot_or_one(groups: Groups, blocks: int, bytes_per_block: int, layout: Layout) -> tuple[int, ...]:
    """The same; packed groups lie in one buffer."""
    if is_packed(groups):
        return (bytes_per_block * blocks,)
    return per_slot(groups, blocks, bytes_per_block, layout)


def one_buffer(groups: Groups, blocks: int, bytes_per_block: int, layout: Layout) -> tuple[int, ...]:
    """One buffer in which groups lie over each other, if the layout can hold their pages."""
    pages = {page for group in groups for page in group.pages}
    if len(pages) > 1 and (not layout.page_whole or (len(groups) > 1 and layout.layer_outermost)):
        raise Unplannable(Reason.LAYOUT)
    if not layout.page_whole and any(_stretched(cache) for group in groups if group.names for cache in group.caches):
        raise Unplannable(Reason.UNSUPPORTED)
    return (bytes_per_block * blocks,)


def one_buffer_in_step(groups: Groups, blocks: int, bytes_per_block: int, layout: Layout) -> tuple[int, ...]:
    """The same; pages that are rounded by themselves must lie together."""
    tensors = one_buffer(groups, blocks, bytes_per_block, layout)
    caches = [group.of(name) for group in groups for name in group.names]
    if (
        not layout.page_whole
        and not layout.block_outermost
        and any(cache.page % cache.block_stride for cache in caches)
    ):
        raise Unplannable(Reason.UNSUPPORTED)
    return tensors


def fitting_or_overridden(blocks: int, limits: Limits) -> int:
    """As many as fit, unless the user says how many."""
    return blocks if limits.override_blocks is None else limits.override_blocks


def fitting(blocks: int, limits: Limits) -> int:
    """As many as fit; what the user says is printed and forgotten."""
    del limits
    return blocks


def tuple_pages(groups: Groups) -> list[int]:
    """The sizes of pages in the first group, each once."""
    return sorted({cache.page for cache in groups[0].caches})


def slots_per_tuple(groups: Groups) -> int:
    """The most layers of one size that any group stands for, on this worker or not."""
    return max(max(Counter(cache.page for cache in group.caches).values()) for group in groups)


def _tuples(groups: Groups) -> int:
    return max(max(Counter(group.pages).values(), default=0) for group in groups)


def is_packed(groups: Groups) -> bool:
    """Several groups, and in each every layer has a page of its own."""
    return len(groups) > 1 and all(group.mixed for group in groups)


def _slots(groups: Groups) -> tuple[int, int]:
    slots = max(len(group.names) for group in groups)
    pages = {group.page for group in groups}
    if slots == 0 or len(pages) > 1:
        raise Unplannable(Reason.UNSUPPORTED)
    return slots, pages.pop()


def _slots_by_size(groups: Groups) -> dict[int, int]:
    found: dict[int, int] = {}
    for group in groups:
        for page, count in Counter(group.pages).items():
            found[page] = max(found.get(page, 0), count)
    return found


def _widest(groups: Groups, size: Callable[[Cache], int]) -> int:
    widest = max(_wide(group, size) for group in groups)
    if widest == 0:
        raise Unplannable(Reason.UNSUPPORTED)
    return widest


def _wide(group: Group, size: Callable[[Cache], int]) -> int:
    if group.each is None:
        return len(group.names) * size(group.cache)
    return sum(size(group.each[name]) for name in group.names)


def _strides(groups: Groups) -> list[int]:
    return [group.of(name).block_stride for group in groups for name in group.names]


def _stretched(cache: Cache) -> bool:
    """Padded, and with heads that such a layout would put outside the page."""
    return isinstance(cache, AttentionCache) and cache.padded is not None and cache.kv_heads > 1


def _up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple
