"""Groups of layers with pages of different size that lie side by side in one block.

Knows the two ways: that of DeepSeek V4 up to 0.28, and the general one from 0.29 on, which applies where the layout
puts blocks outermost.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from oomph.engines.vllm.pool.caches import AttentionCache, Cache, Keeps, StateCache, is_latent, keeps
from oomph.engines.vllm.pool.group import Group, Layers, mixed
from oomph.engines.vllm.pool.limits import Limits
from oomph.engines.vllm.pool.refusal import Reason, Unplannable
from oomph.engines.vllm.pool.rules import Rules


def never(layers: Layers, limits: Limits, rules: Rules) -> tuple[Group, ...] | None:
    """Pages of different size never lie side by side in more than one group."""
    del layers, limits, rules
    return None


def tuples_padded(layers: Layers, limits: Limits, rules: Rules) -> tuple[Group, ...] | None:
    """Latent layers in one group, their windows in groups of as many; pages of windows padded to those of the rest."""
    del limits
    return _tuples(layers, rules, _padded_to) if _has_latent_windows(layers) else None


def tuples_padded_if_pages_differ(layers: Layers, limits: Limits, rules: Rules) -> tuple[Group, ...] | None:
    """The same where there is more than one size of page."""
    return tuples_padded(layers, limits, rules) if _pages_differ(layers) else None


def tuples(layers: Layers, limits: Limits, rules: Rules) -> tuple[Group, ...] | None:
    """The same without padding."""
    del limits
    return _tuples(layers, rules, lambda own, _: own) if _has_latent_windows(layers) and _pages_differ(layers) else None


def _has_latent_windows(layers: Layers) -> bool:
    return any(is_latent(cache) and keeps(cache, Keeps.WINDOW) for cache in layers.values())


def _pages_differ(layers: Layers) -> bool:
    return len({cache.page for cache in layers.values()}) > 1


def _tuples(layers: Layers, rules: Rules, fitted: Callable[[Layers, Layers], Layers]) -> tuple[Group, ...]:
    full = {name: cache for name, cache in layers.items() if is_latent(cache) and keeps(cache, Keeps.ALL)}
    windows: dict[tuple[int, int | None], dict[str, Cache]] = {}
    for name, cache in layers.items():
        if isinstance(cache, AttentionCache) and cache.latent and cache.keeps is Keeps.WINDOW:
            windows.setdefault((cache.block_tokens, cache.window), {})[name] = cache
    if not full or not rules.alike(full.values()) or len(layers) > len(full) + sum(map(len, windows.values())):
        raise Unplannable(Reason.UNSUPPORTED)
    counts = [_most_of_one_page(bucket) for bucket in (full, *windows.values())]
    repeats = least_padding(counts, at_least=counts[0])
    found = [mixed(full)]
    for bucket in windows.values():
        fit = fitted(bucket, full)
        by_page = _by_page(fit)
        if len({len(names) for names in by_page.values()}) > 1:
            raise Unplannable(Reason.UNSUPPORTED)
        found += _dealt(fit, by_page, -(-len(next(iter(by_page.values()))) // repeats))
    return tuple(found)


def _padded_to(own: Layers, full: Layers) -> Layers:
    """Each page stretched to the next larger one that the latent layers have."""
    pages = sorted({cache.page for cache in full.values()})
    if max(cache.page for cache in own.values()) > pages[-1]:
        raise Unplannable(Reason.UNSUPPORTED)
    return {name: _stretched(cache, pages) for name, cache in own.items()}


def _stretched(cache: Cache, pages: Sequence[int]) -> Cache:
    page = next(page for page in pages if page >= cache.page)
    return replace(cache, padded=page, alignment=None) if isinstance(cache, AttentionCache) else cache


def least_padding(counts: Sequence[int], *, at_least: int) -> int:
    """The size whose multiples the counts are rounded up to with least waste; of several, the largest."""
    sizes = range(max(1, at_least), max(counts) + 1)
    return max(sizes, key=lambda size: (-sum(-count % size for count in counts), size), default=max(1, at_least))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bucket:
    """Layers that are alike, and the same by the size of their pages."""

    layers: Layers
    by_page: Mapping[int, Sequence[str]]

    @property
    def first(self) -> Cache:
        return next(iter(self.layers.values()))

    @property
    def balanced(self) -> bool:
        """As many layers of every size: a pattern that repeats."""
        return len({len(names) for names in self.by_page.values()}) == 1

    @property
    def repeats(self) -> int:
        return max(len(names) for names in self.by_page.values())

    def widest(self, groups: int) -> int:
        """Bytes of one block in the largest of so many groups."""
        return sum(-(-len(names) // groups) * page for page, names in self.by_page.items())


def by_layout(layers: Layers, limits: Limits, rules: Rules) -> tuple[Group, ...] | None:
    """Alike layers in groups that repeat a pattern of pages; states are cut to fit the block of the others."""
    return _by_layout(layers, limits, rules, lambda cache, _: isinstance(cache, StateCache))


def by_layout_windows_as_states(layers: Layers, limits: Limits, rules: Rules) -> tuple[Group, ...] | None:
    """The same; rings, and windows where nothing repeats, are cut as states are."""
    return _by_layout(layers, limits, rules, _is_state)


def but_for_pooled_keys(layers: Layers, limits: Limits, rules: Rules) -> tuple[Group, ...] | None:
    """The same; states beside latents of several tokens are laid out in a way of their own (GLM-5-Next), not ours."""
    caches = layers.values()
    states = [cache for cache in caches if isinstance(cache, StateCache)]
    latents = [cache for cache in caches if isinstance(cache, AttentionCache) and cache.latent]
    pooled = any(cache.tokens_per_state != 1 for cache in latents)
    if states and pooled and len(states) + len(latents) == len(layers):
        raise Unplannable(Reason.NOT_MODELLED)
    return by_layout_windows_as_states(layers, limits, rules)


def _is_state(cache: Cache, repeats: int | None) -> bool:
    return isinstance(cache, StateCache) or keeps(cache, Keeps.RING, *(() if repeats else (Keeps.WINDOW,)))


def _by_layout(
    layers: Layers, limits: Limits, rules: Rules, is_state: Callable[[Cache, int | None], bool]
) -> tuple[Group, ...] | None:
    if not limits.layout.block_outermost or not _pages_differ(layers):
        return None
    buckets = _buckets(layers, rules)
    patterns = [bucket.repeats for bucket in buckets if bucket.balanced and len(bucket.by_page) > 1]
    repeats = (
        least_padding([bucket.repeats for bucket in buckets if bucket.balanced], at_least=max(patterns))
        if patterns
        else None
    )

    def wanted(bucket: _Bucket) -> int:
        return -(-bucket.repeats // repeats) if bucket.balanced and repeats else 1

    anchor = max(
        bucket.widest(len(bucket.layers) if is_state(bucket.first, repeats) else wanted(bucket)) for bucket in buckets
    )
    found: list[Group] = []
    for bucket in buckets:
        count = wanted(bucket)
        if is_state(bucket.first, repeats):
            count = max(count, -(-len(bucket.layers) // max(anchor // bucket.first.page, 1)))
        found += [mixed(bucket.layers)] if count == 1 else _dealt(bucket.layers, bucket.by_page, count)
    return tuple(found)


def _buckets(layers: Layers, rules: Rules) -> list[_Bucket]:
    found: list[dict[str, Cache]] = []
    for name, cache in layers.items():
        for bucket in found:
            if rules.alike([*bucket.values(), cache]):
                bucket[name] = cache
                break
        else:
            found.append({name: cache})
    return [_Bucket(layers=bucket, by_page=_by_page(bucket)) for bucket in found]


def _by_page(layers: Layers) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name, cache in layers.items():
        found.setdefault(cache.page, []).append(name)
    return found


def _most_of_one_page(layers: Layers) -> int:
    return max(Counter(cache.page for cache in layers.values()).values())


def _dealt(layers: Layers, by_page: Mapping[int, Sequence[str]], count: int) -> list[Group]:
    """Repeats of the pattern, one to each group in turn."""
    pattern = list(zip(*by_page.values(), strict=False))  # an uneven bucket is cut to its shortest, as the engine does
    dealt = [[name for repeat in pattern[index::count] for name in repeat] for index in range(count)]
    if not all(dealt):
        raise Unplannable(Reason.UNSUPPORTED)
    return [mixed({name: layers[name] for name in names}) for names in dealt]
