"""Pages that one request of a given length takes of a layer, or of a group of layers.

Knows the arithmetic of `v1/kv_cache_interface.py`. Does not know what a page weighs.
"""

from oomph.engines.vllm.pool.caches import AttentionCache, Cache, Keeps, StateCache
from oomph.engines.vllm.pool.group import Group
from oomph.engines.vllm.pool.limits import Limits, StateMode
from oomph.engines.vllm.pool.refusal import Reason, Unplannable
from oomph.engines.vllm.pool.rules import Rules


def pages(cache: Cache, limits: Limits, length: int, rules: Rules) -> int:
    """Pages of one layer that a request of this length takes at most."""
    if isinstance(cache, StateCache):
        return rules.state_pages(cache, limits, length)
    if cache.keeps is Keeps.ALL:
        return _up(_up(length, rules.ranks(limits) if cache.sharded else 1), cache.block_tokens)
    if cache.keeps is Keeps.WINDOW:
        return _window(cache, limits, length, rules)
    if cache.keeps is Keeps.CHUNK:
        return _up(min((cache.chunk or 0) + rules.in_flight(limits), length), cache.block_tokens)
    if cache.keeps is Keeps.ENCODER:
        fed = limits.step_tokens if limits.encoder_tokens is None else limits.encoder_tokens
        return _up(fed, cache.block_tokens)
    return 1


def group_pages(group: Group, limits: Limits, length: int, rules: Rules) -> int:
    """Blocks that a request takes for a group: those of its layer that takes most."""
    if group.each is None:
        return pages(group.cache, limits, length, rules)
    return max(pages(cache, limits, length, rules) for cache in group.caches)


def _window(cache: AttentionCache, limits: Limits, length: int, rules: Rules) -> int:
    """Those of the window and of the steps under way, and one more: a window may begin anywhere in a block."""
    if cache.sharded and limits.decode_ranks > 1:
        raise Unplannable(Reason.SPLIT_WINDOW)
    kept = (cache.window or 0) - 1 + cache.retained + rules.in_flight(limits)
    return _up(min(kept, length), cache.block_tokens) + 1


def one_state(cache: StateCache, limits: Limits, length: int) -> int:
    """The last state."""
    del cache, limits, length
    return 1


def state_per_block(cache: StateCache, limits: Limits, length: int) -> int:
    """One state per block; without prefix caching a block is as long as a request may become."""
    del limits
    return _up(length, cache.block_tokens)


def states_by_mode(cache: StateCache, limits: Limits, length: int) -> int:
    """The last state and one per speculative token, or two, or one per block."""
    if limits.state_mode is StateMode.ALL:
        return _up(length, cache.block_tokens)
    return (2 if limits.state_mode is StateMode.ALIGN else 1) + cache.speculative_blocks


def states_and_drafts(cache: StateCache, limits: Limits, length: int) -> int:
    """The same, with those of speculative tokens in every mode."""
    if limits.state_mode is StateMode.ALL:
        return _up(length, cache.block_tokens) + cache.speculative_blocks
    return states_by_mode(cache, limits, length)


def states_and_checkpoints(cache: StateCache, limits: Limits, length: int) -> int:
    """The same, with those kept at checkpoints of a prompt."""
    checkpoints = cache.checkpoint_blocks if limits.state_mode is StateMode.ALIGN else 0
    return states_and_drafts(cache, limits, length) + checkpoints


def last_states_and_checkpoints(cache: StateCache, limits: Limits, length: int) -> int:
    """The same; a state per block is no longer kept."""
    del length
    if limits.state_mode is StateMode.ALIGN:
        return 2 + cache.speculative_blocks + cache.checkpoint_blocks
    return 1 + cache.speculative_blocks


def one_rank(limits: Limits) -> int:
    """Every rank keeps all tokens."""
    del limits
    return 1


def decode_ranks(limits: Limits) -> int:
    """Ranks over which decode context parallelism splits the tokens."""
    return limits.decode_ranks


def all_context_ranks(limits: Limits) -> int:
    """Ranks over which context parallelism of either kind splits the tokens."""
    return limits.decode_ranks * limits.prefill_ranks


def one_step(limits: Limits) -> int:
    """Tokens computed at once."""
    return limits.step_tokens


def steps_in_flight(limits: Limits) -> int:
    """Tokens of all steps under way, whose blocks are not yet freed."""
    return limits.batches_in_flight * limits.step_tokens


def none_retained(limits: Limits) -> int:
    """Nothing is kept below a window."""
    del limits
    return 0


def lookahead_retained(limits: Limits) -> int:
    """Tokens below a window that a draft of several modules reads again."""
    return max(0, limits.lookahead_tokens - 1)


def _up(count: int, size: int) -> int:
    return -(-count // size)
