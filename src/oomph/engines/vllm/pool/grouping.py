"""Which layers share a table of blocks: the decision of `v1/core/kv_cache_utils.py: get_kv_cache_groups`.

Knows the order in which a release tries: one kind, alike, packed, equal pages, everything whole.
"""

from collections.abc import Mapping

from oomph.engines.vllm.pool.caches import AttentionCache, Cache, Keeps, keeps
from oomph.engines.vllm.pool.dealing import dealt_groups
from oomph.engines.vllm.pool.group import Group, Groups, Layers, mixed
from oomph.engines.vllm.pool.limits import Limits
from oomph.engines.vllm.pool.merging import Unlike
from oomph.engines.vllm.pool.refusal import Reason, Unplannable
from oomph.engines.vllm.pool.rules import Rules


def groups(layers: Layers, limits: Limits, rules: Rules) -> tuple[Group, ...]:
    """The groups of a model, or of one worker where a release groups each worker's layers."""
    layers = layers if limits.hybrid else rules.promoted(layers, rules)
    if not layers:
        return ()
    if one := _one_group(layers, rules):
        return (one,)
    hidden = {name: cache for name, cache in layers.items() if isinstance(cache, AttentionCache) and cache.hidden}
    rest = {name: cache for name, cache in layers.items() if name not in hidden}
    if packed := rules.packed(rest, limits, rules):
        return packed + tuple(Group(names=(name,), cache=cache) for name, cache in hidden.items())
    try:
        fitted = rules.fitted(rest)
    except Unplannable as refused:
        if refused.refusal.reason is not Reason.PAGES_DIFFER or not rules.fitted_or_whole:
            raise
        return _whole(layers, rules, refused)
    found = dealt_groups(fitted, rules)
    return rules.hidden(found, hidden) if hidden else found


def _one_group(layers: Layers, rules: Rules) -> Group | None:
    try:
        return Group(names=tuple(layers), cache=rules.merged(list(layers.values())))
    except Unlike:
        return mixed(layers) if rules.alike(layers.values()) else None


def _whole(layers: Layers, rules: Rules, refused: Unplannable) -> tuple[Group, ...]:
    """Latent layers beside windows, all kept whole; any other mix stays refused."""
    caches = layers.values()
    latent = any(keeps(cache, Keeps.ALL) and _is_latent(cache) for cache in caches)
    window = any(keeps(cache, Keeps.WINDOW) for cache in caches)
    other = any(_is_latent(cache) and keeps(cache, Keeps.WINDOW) for cache in caches)
    chunk = any(keeps(cache, Keeps.CHUNK) for cache in caches)
    if not (latent and window) or other or chunk or any(_is_hidden(cache) for cache in caches):
        raise refused
    try:
        promoted = rules.promoted(layers, rules)
    except Unplannable:
        raise refused from None
    if not rules.alike(promoted.values()):
        raise refused
    return (mixed(promoted),)


def _is_latent(cache: Cache) -> bool:
    return isinstance(cache, AttentionCache) and cache.latent


def _is_hidden(cache: Cache) -> bool:
    return isinstance(cache, AttentionCache) and cache.hidden


def projected_whole(found: Groups, layers: Layers) -> tuple[Group, ...]:
    """The groups of the model with the names that one worker has; mixed groups still weigh all layers."""
    return tuple(Group(names=_on(group, layers), cache=group.cache, each=group.each) for group in found)


def projected(found: Groups, layers: Layers) -> tuple[Group, ...]:
    """The groups of the model with the layers that one worker has; one without any keeps what it stood for."""
    return tuple(_projected(group, _on(group, layers)) for group in found)


def _projected(group: Group, names: tuple[str, ...]) -> Group:
    if group.each is None or not names:
        return Group(names=names, cache=group.cache, each=group.each)
    own = {name: group.each[name] for name in names}
    return Group(names=names, cache=own[names[0]], each=own)


def _on(group: Group, layers: Mapping[str, Cache]) -> tuple[str, ...]:
    return tuple(name for name in group.names if name in layers)
