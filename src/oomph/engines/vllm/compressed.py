"""What one layer of compressed attention keeps: DeepSeek V4, whose every layer has several caches.

Knows the window, the compressed vectors, the keys by which some layers pick them, and the tokens that wait to be
compressed, as `models/deepseek_v4` of vLLM 0.32.0 keeps them on Hopper. Earlier releases are taken to keep the same.
"""

from collections.abc import Iterator
from typing import Final

from oomph.engines.history import Release, Since
from oomph.engines.vllm.pool.caches import AttentionCache, Keeps
from oomph.engines.vllm.pool.formats import COMPRESSED_LATENT, KvFormat
from oomph.errors import UsageError
from oomph.ledger.geometry import Compressed

_BLOCK: Final = 256  # tokens, where the user does not say
_WINDOW_BLOCK: Final = 64
_PENDING_BLOCK: Final = {4: 4, 128: 8}  # tokens, by how many are made one
_ALIGNMENT: Final = 576  # bytes that a page is a multiple of

# Tokens of the kernel's own blocks, which a page must hold whole.
kernel_tokens: Final[Since[int | None]] = Since(
    {
        "0.20.0": None,  # v1/kv_cache_interface.py
        "0.32.0": 256,  # v1/kv_cache_interface.py
    }
)


def caches(
    layer: Compressed, name: str, release: Release, *, block_tokens: int | None
) -> Iterator[tuple[str, AttentionCache]]:
    """Every cache of this layer by name, in the order in which the engine finds them."""
    block, ratio = block_tokens or _BLOCK, layer.ratio
    kernel = kernel_tokens.at(release)
    if ratio is not None and block < ratio:
        message = f"--block-size {block}: holds not one vector that is made of {ratio} tokens (leave it at {_BLOCK})"
        raise UsageError(message)
    if ratio is not None and layer.indexer_dim is not None:
        width = layer.indexer_dim + layer.indexer_dim // 128 * 4  # a scale of four bytes for every 128
        yield f"{name}.indexer", _vectors(width, width, KvFormat.FP8, block=block, ratio=ratio, kernel=kernel)
        yield f"{name}.indexer.pending", _pending(layer, layer.indexer_dim, ratio)
    yield f"{name}.window", _window(layer)
    if ratio is not None:
        yield (
            name,
            _vectors(layer.head_dim, COMPRESSED_LATENT, KvFormat.FP8_DS_MLA, block=block, ratio=ratio, kernel=kernel),
        )
        yield f"{name}.pending", _pending(layer, layer.head_dim, ratio)


def _window(layer: Compressed) -> AttentionCache:
    return AttentionCache(
        block_tokens=_WINDOW_BLOCK,
        kv_heads=1,
        head_dim=layer.head_dim,
        value_dim=0,
        format=KvFormat.FP8_DS_MLA,
        state=COMPRESSED_LATENT,
        keeps=Keeps.WINDOW,
        latent=True,
        window=layer.window,
        cache_dtype=KvFormat.FP8_DS_MLA,
        alignment=_ALIGNMENT,
    )


def _vectors(width: int, state: int, kept: KvFormat, *, block: int, ratio: int, kernel: int | None) -> AttentionCache:
    """One vector for every so many tokens."""
    return AttentionCache(
        block_tokens=block,
        kv_heads=1,
        head_dim=width,
        value_dim=0,
        format=kept,
        state=state,
        latent=True,
        cache_dtype=kept if kept is KvFormat.FP8_DS_MLA else None,
        tokens_per_state=ratio,
        alignment=_ALIGNMENT,
        kernel_tokens=kernel,
    )


def _pending(layer: Compressed, width: int, ratio: int) -> AttentionCache:
    """The last tokens, uncompressed and in 32 bits, until their vector is made."""
    numbers = layer.pending(width)
    return AttentionCache(
        block_tokens=_PENDING_BLOCK.get(ratio, ratio),
        kv_heads=1,
        head_dim=numbers,
        value_dim=0,
        format=KvFormat.FLOAT32,
        state=numbers * KvFormat.FLOAT32.itemsize,
        keeps=Keeps.WINDOW,
        latent=True,
        window=layer.pending_tokens,
        alignment=_ALIGNMENT,
    )
