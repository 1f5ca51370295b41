"""Pages: the bytes of one block in one layer.

Knows the layouts of `v1/kv_cache_interface.py`. Does not know how many blocks there are, nor how layers share them.
"""

import math

from oomph.ledger.geometry import Attention, Latent
from oomph.units import Bytes


def heads_on_rank(kv_heads: int, *, ranks: int) -> int:
    """KV heads that one of several tensor-parallel ranks keeps; with more ranks than heads each keeps one."""
    return max(1, kv_heads // ranks)


def attention(layer: Attention, *, block_tokens: int, itemsize: int, ranks: int = 1) -> Bytes:
    """One block of one layer: the keys and values of every token in it."""
    return Bytes(
        block_tokens
        * heads_on_rank(layer.kv_heads, ranks=ranks)
        * (layer.head_dim + (layer.value_dim or layer.head_dim))
        * itemsize
    )


def latent(layer: Latent, *, block_tokens: int, itemsize: int) -> Bytes:
    """One block of one layer: one vector per token, kept whole on every rank."""
    return Bytes(block_tokens * layer.elements * itemsize)


def sparse_latent(*, block_tokens: int) -> Bytes:
    """One block of one sparse layer in the 8-bit layout of DeepSeek: values, their scales and the rope part."""
    return Bytes(
        block_tokens
        * (
            512  # compressed keys and values, one byte each
            + 4 * 4  # four scales of four bytes
            + 64 * 2  # rope part, two bytes each
        )
    )


def indexer(*, block_tokens: int, dim: int) -> Bytes:
    """One block of one indexer: one byte per element and a four-byte scale for every 128 of them."""
    return Bytes(block_tokens * (dim + math.ceil(dim / 128) * 4))
