"""Local layers treated as if they kept every token, so that all layers share one table of blocks.

Knows when a release does so: always, when `--disable-hybrid-kv-cache-manager` asks for it, or when pages of different
size cannot be made equal. The kernels still attend to the window only.
"""

from collections.abc import Callable
from dataclasses import replace

from oomph.engines.vllm.pool.caches import AttentionCache, Cache, Keeps, is_latent, keeps
from oomph.engines.vllm.pool.group import Layers
from oomph.engines.vllm.pool.merging import Unlike
from oomph.engines.vllm.pool.refusal import Reason, Unplannable
from oomph.engines.vllm.pool.rules import Rules


def windows_forgotten(layers: Layers, rules: Rules) -> Layers:
    """Windows become full attention wherever there is any, and no one remembers them."""
    del rules
    return _promoted(layers, lambda cache: replace(_at_own_block(cache), window=None)) if _is_hybrid(layers) else layers


def windows_beside_full(layers: Layers, rules: Rules) -> Layers:
    """Windows become full attention wherever there is any; what is left is judged later."""
    del rules
    return _promoted(layers, _at_own_block) if _is_hybrid(layers) else layers


def or_refused(layers: Layers, rules: Rules) -> Layers:
    """Local layers become full attention unless all layers are one already; then they must be."""
    return _unified(layers, rules, _at_own_block)


def latents_at_full_block(layers: Layers, rules: Rules) -> Layers:
    """The same; windows of latent attention take the blocks of the first layer that keeps all."""
    full = next((cache.block_tokens for cache in layers.values() if keeps(cache, Keeps.ALL)), None)

    def whole(cache: AttentionCache) -> AttentionCache:
        promoted = _at_own_block(cache)
        return replace(promoted, block_tokens=full) if cache.latent and full else promoted

    return _unified(layers, rules, whole)


def at_full_block(layers: Layers, rules: Rules) -> Layers:
    """The same, in the blocks of full attention where those are all of one length."""
    return _unified(layers, rules, _at_block(layers, strided=False))


def at_full_block_as_they_are(layers: Layers, rules: Rules) -> Layers:
    """The same, and a layer stays padded if its kernel allows it."""
    return _unified(layers, rules, _at_block(layers, strided=True))


def apart_if_replicated(layers: Layers, rules: Rules) -> Layers:
    """The same, separately for layers that decode context parallelism does not split; latent windows are refused."""
    whole = {name: cache for name, cache in layers.items() if _replicated(cache)}
    split = {name: cache for name, cache in layers.items() if name not in whole}
    done: dict[str, Cache] = {}
    for part in (whole, split):
        if part and not is_one(part, rules) and _is_hybrid(part) and any(map(_is_latent_window, part.values())):
            raise Unplannable(Reason.UNSUPPORTED)
        done |= at_full_block_as_they_are(part, rules)
    return {name: done[name] for name in layers}


def is_one(layers: Layers, rules: Rules) -> bool:
    """All layers are one kind, or at least alike."""
    try:
        rules.merged(list(layers.values()))
    except Unlike:
        return rules.alike(layers.values())
    return True


def _unified(layers: Layers, rules: Rules, whole: Callable[[AttentionCache], AttentionCache]) -> Layers:
    if not layers or is_one(layers, rules):
        return layers
    promoted = _promoted(layers, whole) if _is_hybrid(layers) else layers
    if not is_one(promoted, rules):
        raise Unplannable(Reason.KINDS_DIFFER)
    return promoted


def _is_hybrid(layers: Layers) -> bool:
    some = layers.values()
    return any(keeps(cache, Keeps.ALL) for cache in some) and any(_is_local(cache) for cache in some)


def _is_local(cache: Cache) -> bool:
    return keeps(cache, Keeps.WINDOW, Keeps.CHUNK)


def _is_latent_window(cache: Cache) -> bool:
    return keeps(cache, Keeps.WINDOW) and is_latent(cache)


def _replicated(cache: Cache) -> bool:
    return isinstance(cache, AttentionCache) and not cache.sharded


def _promoted(layers: Layers, whole: Callable[[AttentionCache], AttentionCache]) -> Layers:
    return {
        name: whole(cache) if isinstance(cache, AttentionCache) and _is_local(cache) else cache
        for name, cache in layers.items()
    }


def _at_own_block(cache: AttentionCache) -> AttentionCache:
    return replace(cache, keeps=Keeps.ALL, retained=0, strided=False)


def _at_block(layers: Layers, *, strided: bool) -> Callable[[AttentionCache], AttentionCache]:
    blocks = {cache.block_tokens for cache in layers.values() if keeps(cache, Keeps.ALL)}
    common = blocks.pop() if len(blocks) == 1 else None

    def whole(cache: AttentionCache) -> AttentionCache:
        block = common or cache.block_tokens
        padded = cache.padded and max(cache.padded, cache.unpadded * block // cache.block_tokens)
        return replace(
            cache,
            keeps=Keeps.ALL,
            retained=0,
            strided=cache.strided and strided,
            block_tokens=block,
            padded=padded,
        )

    return whole
