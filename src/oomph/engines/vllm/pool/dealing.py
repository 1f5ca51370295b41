"""Kinds of layers cut into groups of equal size, so that every group fits the same slots.

Knows how large a group is and which layers it gets. Does not know how pages were made equal.
"""

from collections.abc import Sequence

from oomph.engines.vllm.pool.caches import Cache, Keeps, StateCache
from oomph.engines.vllm.pool.group import Group, Layers
from oomph.engines.vllm.pool.merging import Unlike, kind_by_page
from oomph.engines.vllm.pool.refusal import Unplannable
from oomph.engines.vllm.pool.rules import Rules


def dealt_groups(layers: Layers, rules: Rules) -> tuple[Group, ...]:
    """Each kind in as many groups as it needs at the common size."""
    kinds = rules.kinds(layers, rules)
    size = group_size([len(names) for names in kinds], padding=rules.group_padding)
    return tuple(
        Group(names=tuple(names), cache=rules.merged([layers[name] for name in names]))
        for kind in kinds
        for names in rules.dealt(kind, size)
    )


def group_size(counts: Sequence[int], *, padding: float) -> int:
    """Layers of the smallest kind, or of the largest where padding the others up to it wastes little."""
    return max(counts) if max(counts) < min(counts) * padding else min(counts)


def in_slices(names: Sequence[str], size: int) -> list[Sequence[str]]:
    """The first so many, the next so many, and so on."""
    return [names[start : start + size] for start in range(0, len(names), size)]


def round_robin(names: Sequence[str], size: int) -> list[Sequence[str]]:
    """One to each group in turn, so that every pipeline stage has layers of every group."""
    groups = -(-len(names) // size)
    return [names[index::groups] for index in range(groups)]


def by_kind_as_text(group: Group) -> tuple[str, ...]:
    """By the name of the kind and its figures, as text: a window of 1024 comes before one of 128."""
    cache = group.cache
    if isinstance(cache, StateCache):
        return ("mamba",)
    name = {Keeps.ALL: "full", Keeps.CHUNK: "local"}.get(cache.keeps, "sliding")
    local = "" if cache.keeps is Keeps.ALL else f"{cache.window or cache.chunk}_"
    return (name, f"{local}{cache.block_tokens}_{int(cache.page)}")


def by_kind_and_shape(group: Group) -> tuple[object, ...]:
    """By the name of the kind, then by its figures."""
    cache = group.cache
    if isinstance(cache, StateCache):
        return ("Mamba",)
    name = {Keeps.ALL: "Full", Keeps.CHUNK: "Chunked", Keeps.ENCODER: "Cross"}.get(cache.keeps, "Sliding")
    return (name, cache.block_tokens, cache.kv_heads, cache.head_dim, cache.window or cache.chunk or 0)


def kinds_by_page(layers: Layers, rules: Rules) -> list[list[str]]:
    """Kinds by the tokens they keep and the pages they come to."""
    del rules
    found: dict[tuple[object, ...], list[str]] = {}
    for name, cache in layers.items():
        found.setdefault(kind_by_page(cache), []).append(name)
    return list(found.values())


def kinds_by_cache(layers: Layers, rules: Rules) -> list[list[str]]:
    """Kinds by everything that is known of a layer."""
    del rules
    return list(_same(layers).values())


def kinds_by_merging(layers: Layers, rules: Rules) -> list[list[str]]:
    """Kinds as far as they can be merged, each with the first that it can be merged with."""
    kinds: list[tuple[list[Cache], list[str]]] = []
    for cache, names in _same(layers).items():
        for caches, found in kinds:
            if _mergeable([*caches, cache], rules):
                caches.append(cache)
                found.extend(names)
                break
        else:
            kinds.append(([cache], names))
    return [names for _, names in kinds]


def _mergeable(caches: Sequence[Cache], rules: Rules) -> bool:
    try:
        rules.merged(caches)
    except (Unlike, Unplannable):
        return False
    return True


def _same(layers: Layers) -> dict[Cache, list[str]]:
    found: dict[Cache, list[str]] = {}
    for name, cache in layers.items():
        found.setdefault(cache, []).append(name)
    return found
