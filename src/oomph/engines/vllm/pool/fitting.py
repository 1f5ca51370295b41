"""Pages of different size made equal, so that layers of different kinds can lie in the same slots.

Knows what each release may do: nothing, longer blocks, or padding.
"""

from collections.abc import Callable

from oomph.engines.vllm.pool.caches import (
    AttentionCache,
    Cache,
    Keeps,
    StateCache,
    is_latent,
    keeps,
    with_block,
    with_page,
)
from oomph.engines.vllm.pool.group import Layers
from oomph.engines.vllm.pool.refusal import Reason, Unplannable


def one_kind_only(layers: Layers) -> Layers:
    """Layers of more than one kind are refused."""
    del layers
    raise Unplannable(Reason.PAGES_DIFFER)


def equal_already(layers: Layers) -> Layers:
    """Pages must be equal as they are."""
    if len({cache.page for cache in layers.values()}) > 1:
        raise Unplannable(Reason.PAGES_DIFFER)
    return layers


def longer_blocks(layers: Layers) -> Layers:
    """Smaller pages get longer blocks, where the largest page is a multiple of them."""
    return _fitted(layers, lambda _: False)


def padded_if_strided(layers: Layers) -> Layers:
    """Where it is no multiple, pages that their kernel finds by the stride are padded."""
    return _fitted(layers, lambda cache: isinstance(cache, AttentionCache) and cache.strided)


def states_padded(layers: Layers) -> Layers:
    """States are padded as well; their pages do not grow with their blocks."""
    return _fitted(layers, lambda cache: isinstance(cache, StateCache) or cache.strided)


def all_but_latents_padded(layers: Layers) -> Layers:
    """Every page is padded but those of latent attention."""
    return _fitted(layers, lambda cache: not (is_latent(cache) and keeps(cache, Keeps.ALL)))


def _fitted(layers: Layers, padded: Callable[[Cache], bool]) -> Layers:
    largest = max(cache.page for cache in layers.values())
    return {name: _fit(cache, largest, padded) for name, cache in layers.items()}


def _fit(cache: Cache, largest: int, padded: Callable[[Cache], bool]) -> Cache:
    page = cache.page
    if page == largest:
        return cache
    if isinstance(cache, StateCache) and padded(cache):
        fit = with_page(cache, largest)
    elif largest % page == 0:  # of no use to a state, whose page does not grow with its block
        fit = with_block(cache, cache.block_tokens * (largest // page))
    elif padded(cache):
        fit = with_page(cache, largest)
    else:
        raise Unplannable(Reason.PAGES_DIFFER)
    if fit.page != largest:  # it was padded before, is rounded, or is a state
        raise Unplannable(Reason.UNSUPPORTED)
    return fit
