"""A layer of the model as a release keeps it on one rank.

Knows which table sizes a state, and which tokens a release can be told to keep. Does not know how a config names a
layer.
"""

from dataclasses import replace

from oomph.engines.history import Release
from oomph.engines.vllm.pool import facts, formats
from oomph.engines.vllm.pool.caches import AttentionCache, Keeps, State, StateCache
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.engines.vllm.pool.hybrid import Kernels, Pages
from oomph.engines.vllm.pool.limits import StateMode
from oomph.ledger.geometry import Attention, Latent


def heads_on_rank(kv_heads: int, *, ranks: int) -> int:
    """KV heads that one of several tensor-parallel ranks keeps; with more ranks than heads each keeps one."""
    return max(1, kv_heads // ranks)


def state_size(kept: KvFormat, release: Release, *, key_dim: int, value_dim: int, keeps: Keeps) -> int:
    """Bytes that one KV head keeps of one token."""
    table = {Keeps.ALL: facts.full_state, Keeps.WINDOW: facts.window_state}.get(keeps, facts.other_state)
    return table.at(release)(kept, key_dim=key_dim, value_dim=value_dim)


def attention(
    layer: Attention, release: Release, *, block_tokens: int, kept: KvFormat, ranks: int = 1, encoder: bool = False
) -> AttentionCache:
    """A layer that keeps keys and values; `encoder`: those of what the encoder was fed."""
    local = Keeps.CHUNK if layer.chunk else Keeps.WINDOW if layer.window else Keeps.ALL
    keeps = Keeps.ENCODER if encoder else local
    keeps = keeps if keeps in facts.told_apart.at(release) else Keeps.ALL
    value_dim = layer.value_dim or layer.head_dim
    return AttentionCache(
        block_tokens=block_tokens,
        kv_heads=heads_on_rank(layer.kv_heads, ranks=ranks),
        head_dim=layer.head_dim,
        value_dim=value_dim,
        format=kept,
        state=state_size(kept, release, key_dim=layer.head_dim, value_dim=value_dim, keeps=keeps),
        keeps=keeps,
        window=layer.window,
        chunk=layer.chunk,
    )


def latent(
    layer: Latent, release: Release, *, block_tokens: int, kept: KvFormat, cache_dtype: str = "auto"
) -> AttentionCache:
    """A layer that keeps one vector for keys and values; every rank keeps it whole."""
    state = facts.latent_state.at(release)(kept, key_dim=layer.elements, value_dim=0)
    return _latent(layer.elements, state, block_tokens=block_tokens, kept=kept, cache_dtype=cache_dtype)


def indexer(layer: Latent, *, block_tokens: int) -> AttentionCache:
    """The keys by which sparse attention picks tokens: one byte each, and four for the scale of every 128."""
    dim = layer.indexer_dim or 0
    width = dim + dim // 128 * 4
    return _latent(width, width, block_tokens=block_tokens, kept=KvFormat.FP8, cache_dtype=None)


def compressed_latent(
    dim: int, *, block_tokens: int, kept: KvFormat, tokens_per_state: int, alignment: int
) -> AttentionCache:
    """A layer of DeepSeek V4: one vector for several tokens, in pages of whole so many bytes."""
    state = formats.COMPRESSED_LATENT if kept is KvFormat.FP8_DS_MLA else dim * kept.itemsize
    return AttentionCache(
        block_tokens=block_tokens,
        kv_heads=1,
        head_dim=dim,
        value_dim=0,
        format=kept,
        state=state,
        latent=True,
        cache_dtype=kept,
        tokens_per_state=tokens_per_state,
        alignment=alignment,
    )


def recurrent(
    states: tuple[State, ...],
    *,
    block_tokens: int,
    page: int | None = None,
    speculative_blocks: int = 0,
    checkpoint_blocks: int = 0,
) -> StateCache:
    """A layer that keeps states; `page` is that of the attention layers beside it."""
    plain = StateCache(
        block_tokens=block_tokens,
        states=states,
        speculative_blocks=speculative_blocks,
        checkpoint_blocks=checkpoint_blocks,
    )
    return plain if page is None or page == plain.page else replace(plain, padded=page)


def hybrid_block(
    pages: Pages,
    release: Release,
    *,
    block_tokens: int = 16,
    mode: StateMode = StateMode.NONE,
    chunk_tokens: int = 1,
    kernels: Kernels | None = None,
) -> int:
    """Tokens of a block whose attention page holds a whole state."""
    kernels = kernels or Kernels()
    alignment = facts.hybrid_alignment.at(release)(kernels, block_tokens)
    return max(block_tokens, facts.hybrid_block.at(release)(pages, alignment, mode, chunk_tokens, kernels))


def _latent(width: int, state: int, *, block_tokens: int, kept: KvFormat, cache_dtype: str | None) -> AttentionCache:
    return AttentionCache(
        block_tokens=block_tokens,
        kv_heads=1,
        head_dim=width,
        value_dim=0,
        format=kept,
        state=state,
        latent=True,
        cache_dtype=cache_dtype,
    )
