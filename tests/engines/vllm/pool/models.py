"""Models by hand, for worked numbers: the layers of the seed crashes and of the public cases beside them."""

from collections.abc import Sequence

from oomph.engines.history import Release
from oomph.engines.vllm.pool import layers
from oomph.engines.vllm.pool.caches import Cache, State
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.engines.vllm.pool.group import Layers
from oomph.engines.vllm.pool.hybrid import Pages
from oomph.engines.vllm.pool.limits import Limits
from oomph.engines.vllm.pool.pool import Worker
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention


def named(*kinds: tuple[Cache, int]) -> Layers:
    caches = [cache for cache, count in kinds for _ in range(count)]
    return {f"layers.{index}": cache for index, cache in enumerate(caches)}


def one(found: Layers, available: int) -> Sequence[Worker]:
    return [Worker(layers=found, available=available)]


def limits(context_tokens: int, step_tokens: int = 2048) -> Limits:
    return Limits(context_tokens=context_tokens, step_tokens=step_tokens, batches_in_flight=2)


def delta_states(*, value_heads: int, speculative_tokens: int) -> tuple[State, ...]:
    """Qwen3.5 and 3.6: 16 key heads of 128, so many value heads of 128, a convolution over four tokens."""
    channels = 2 * 16 * 128 + value_heads * 128
    return (
        State(shape=(3 + speculative_tokens, channels), dtype=Dtype.BF16),
        State(shape=(value_heads, 128, 128), dtype=Dtype.F32),
    )


def qwen(
    release: Release,
    *,
    full: int,
    states: int,
    heads: int,
    value_heads: int,
    kept: KvFormat,
    speculative_tokens: int = 0,
) -> Layers:
    """Attention beside gated delta nets; a draft brings one more layer of attention."""
    shape = Attention(heads=24, kv_heads=heads, head_dim=256)
    token = layers.attention(shape, release, block_tokens=1, kept=kept)
    memory = delta_states(value_heads=value_heads, speculative_tokens=speculative_tokens)
    page = Pages(state=sum(state.size for state in memory), token=token.page)
    block = layers.hybrid_block(page, release)
    attention = layers.attention(shape, release, block_tokens=block, kept=kept)
    recurrent = layers.recurrent(memory, block_tokens=65536, page=attention.page, speculative_blocks=speculative_tokens)
    return named((attention, full + (1 if speculative_tokens else 0)), (recurrent, states))
