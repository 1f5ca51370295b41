"""How a request takes blocks of a group, as three numbers that hold for every length.

Knows the same arithmetic as `requests`, of which it is the summary: a test holds one against the other. Does not know
any one length.
"""

from dataclasses import dataclass

from oomph.engines.vllm.pool.caches import Cache, Keeps, StateCache
from oomph.engines.vllm.pool.group import Group
from oomph.engines.vllm.pool.limits import Limits
from oomph.engines.vllm.pool.requests import pages
from oomph.engines.vllm.pool.rules import Rules

_FAR = 1000  # blocks: a length at which a window is long full


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """Blocks for so many tokens at most, dealt over ranks, and some besides."""

    spread: int  # ranks over which the tokens of a request are dealt
    most: int | None  # tokens for which blocks are taken; None: for all
    besides: int  # blocks that are taken whatever the length


def taking(group: Group, limits: Limits, rules: Rules) -> Taking:
    """Of the layer that takes most."""
    found = [_of(cache, limits, rules) for cache in group.caches]
    ends = [each.most for each in found]
    return Taking(
        spread=min(each.spread for each in found),
        most=None if None in ends else max(end for end in ends if end is not None),
        besides=max(each.besides for each in found),
    )


def _of(cache: Cache, limits: Limits, rules: Rules) -> Taking:
    if isinstance(cache, StateCache):
        near, far = (pages(cache, limits, count * cache.block_tokens, rules) for count in (1, _FAR))
        return _fixed(near) if near == far else Taking(spread=1, most=None, besides=near - 1)
    if cache.keeps is Keeps.ALL:
        return Taking(spread=rules.ranks(limits) if cache.sharded else 1, most=None, besides=0)
    if cache.keeps is Keeps.WINDOW:
        return Taking(spread=1, most=(cache.window or 0) - 1 + cache.retained + rules.in_flight(limits), besides=1)
    if cache.keeps is Keeps.CHUNK:
        return Taking(spread=1, most=(cache.chunk or 0) + rules.in_flight(limits), besides=0)
    return _fixed(pages(cache, limits, cache.block_tokens, rules))


def _fixed(blocks: int) -> Taking:
    return Taking(spread=1, most=0, besides=blocks)
