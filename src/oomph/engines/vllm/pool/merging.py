"""Which layers are one kind, and what stands for them.

Knows what each release compares. A kind is merged into one description; alike layers only take the same number of
blocks, and keep pages of their own.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeGuard

from oomph.engines.vllm.pool.caches import AttentionCache, Cache, Keeps, StateCache, is_latent, keeps
from oomph.engines.vllm.pool.refusal import Reason, Unplannable

Fields: TypeAlias = tuple[object, ...]


class Unlike(Exception):  # noqa: N818 - an answer, not a mistake
    """These layers are not one kind."""


def by_page(caches: Sequence[Cache]) -> Cache:
    """One kind is what keeps the same tokens in pages of the same size."""
    first = caches[0]
    if any(kind_by_page(cache) != kind_by_page(first) for cache in caches):
        raise Unlike
    return first


def by_page_then_equal(caches: Sequence[Cache]) -> Cache:
    """The same; such layers must then be equal in everything but a window that is not kept, or the release gives up."""
    first = by_page(caches)
    if len({_shape(cache) for cache in caches if isinstance(cache, AttentionCache)}) > 1:
        raise Unplannable(Reason.UNSUPPORTED)
    return first


def by_page_and_window(caches: Sequence[Cache]) -> Cache:
    """The same; among layers that keep all there may be one window."""
    first = by_page(caches)
    return _windowed(first, caches) if isinstance(first, AttentionCache) and first.keeps is Keeps.ALL else first


def kind_by_page(cache: Cache) -> Fields:
    """What is compared up to 0.10.0: not shapes, only the pages they come to."""
    if isinstance(cache, StateCache):
        return (cache.states,)
    local = cache.window if cache.keeps is Keeps.WINDOW else cache.chunk if cache.keeps is Keeps.CHUNK else None
    return (cache.keeps, local, cache.block_tokens, cache.page)


def by_fields(caches: Sequence[Cache]) -> Cache:
    """One kind has the same shape, but latent layers only need to be told the same format."""
    return _merged(caches, _shape, _told)


def latents_by_fields(caches: Sequence[Cache]) -> Cache:
    """One kind has the same shape, latent or not."""
    return _merged(caches, _shape, _told_and_shape)


def with_values(caches: Sequence[Cache]) -> Cache:
    """One kind has the same shape, values included."""
    return _merged(caches, _shape_and_values, _told_and_shape)


def _merged(
    caches: Sequence[Cache], shape: Callable[[AttentionCache], Fields], told: Callable[[AttentionCache], Fields]
) -> Cache:
    first = caches[0]
    if keeps(first, Keeps.WINDOW) and is_latent(first):
        return _same(caches, Keeps.WINDOW, lambda cache: (*_told(cache), cache.window, cache.retained))
    if keeps(first, Keeps.ALL):
        return _same(caches, Keeps.ALL, told) if is_latent(first) else _full(caches, shape)
    if any(cache != first for cache in caches):
        raise Unlike
    return first


def _same(caches: Sequence[Cache], kept: Keeps, fields: Callable[[AttentionCache], Fields]) -> Cache:
    """Latent layers as their first one, whose page is no longer rounded."""
    found = [cache for cache in caches if isinstance(cache, AttentionCache) and cache.latent and cache.keeps is kept]
    if len(found) != len(caches) or len({fields(cache) for cache in found}) > 1:
        raise Unlike
    return replace(found[0], alignment=None)


def _full(caches: Sequence[Cache], shape: Callable[[AttentionCache], Fields]) -> Cache:
    first = caches[0]
    if not _all_full(caches) or not isinstance(first, AttentionCache):
        raise Unlike
    if first.reference_window is not None and len({cache.reference_window for cache in caches}) > 1:
        raise Unlike
    merged = _windowed(first, caches)
    if len({shape(cache) for cache in caches}) > 1 or (merged.window is not None and merged.chunk is not None):
        raise Unlike
    return merged


def _all_full(caches: Sequence[Cache]) -> TypeGuard[Sequence[AttentionCache]]:
    return all(keeps(cache, Keeps.ALL) and not is_latent(cache) for cache in caches)


def _windowed(first: AttentionCache, caches: Sequence[Cache]) -> AttentionCache:
    """The first layer with the one window, or the one chunk, that any of them has."""
    full = [cache for cache in caches if isinstance(cache, AttentionCache)]
    return replace(first, window=_one({each.window for each in full}), chunk=_one({each.chunk for each in full}))


def _one(sizes: set[int | None]) -> int | None:
    given = [size for size in sizes if size is not None]
    if len(given) > 1:
        raise Unplannable(Reason.WINDOWS_DIFFER)
    return given[0] if given else None


def _shape(cache: AttentionCache) -> Fields:
    return (
        cache.block_tokens,
        cache.kv_heads,
        cache.head_dim,
        cache.format,
        cache.padded,
        cache.tokens_per_state,
        cache.strided,
        cache.sharded,
        cache.stride,
        cache.kernel_tokens,
    )


def _shape_and_values(cache: AttentionCache) -> Fields:
    return (*_shape(cache), cache.value_dim, cache.state)


def _told(cache: AttentionCache) -> Fields:
    return (cache.cache_dtype, cache.tokens_per_state, cache.strided, cache.sharded, cache.stride, cache.kernel_tokens)


def _told_and_shape(cache: AttentionCache) -> Fields:
    return (*_told(cache), *_shape(cache), cache.state)


def never_alike(caches: Collection[Cache]) -> bool:
    """Layers with different pages do not share a table of blocks."""
    del caches
    return False


def alike(caches: Collection[Cache]) -> bool:
    """All take the same number of blocks for a request, whatever their pages."""
    return _alike(caches, lambda one, other: one.speculative_blocks == other.speculative_blocks)


def alike_states_of_one_page(caches: Collection[Cache]) -> bool:
    """The same; recurrent layers must have equal pages besides."""
    return _alike(caches, lambda one, other: _recurrence(one) == _recurrence(other))


def _recurrence(cache: StateCache) -> Fields:
    return (cache.speculative_blocks, cache.checkpoint_blocks, cache.page, cache.replicated)


def _alike(caches: Collection[Cache], same: Callable[[StateCache, StateCache], bool]) -> bool:
    first = next(iter(caches))
    if len({cache.block_tokens for cache in caches}) > 1:
        return False
    if isinstance(first, StateCache):
        return all(isinstance(cache, StateCache) and same(first, cache) for cache in caches)
    return all(isinstance(cache, AttentionCache) and _takes_as(first, cache) for cache in caches)


def _takes_as(first: AttentionCache, cache: AttentionCache) -> bool:
    if (cache.keeps, cache.sharded) != (first.keeps, first.sharded):
        return False
    if first.keeps is Keeps.WINDOW:
        return cache.window == first.window and (cache.latent or not first.latent)
    return first.keeps is not Keeps.CHUNK or cache.chunk == first.chunk
