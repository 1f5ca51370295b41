"""Blocks of a model with recurrent layers: attention blocks so long that a page holds a whole state.

Knows how the block is found from two sizes and the kernels' alignment. Does not know which kernel runs.
"""

import math
from dataclasses import dataclass

from oomph.engines.vllm.pool.limits import StateMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """What the attention kernels ask of a block."""

    latent: bool = False
    cutlass_latent: bool = False  # the one latent kernel with blocks of 128
    wide_on_blackwell: bool = False  # heads of 256 on a data-centre Blackwell, with FlashInfer or no kernel named
    smallest_block: int = 16  # tokens, of the first attention layer's kernel
    every_smallest: tuple[int, ...] = ()  # tokens, of every other attention kernel


def sixteen(kernels: Kernels, block_tokens: int) -> int:
    """Blocks are a multiple of 16."""
    del kernels, block_tokens
    return 16


def by_kind_and_width(kernels: Kernels, block_tokens: int) -> int:
    """Of 64 or 128 for latent attention, of 32 for wide heads on Blackwell, else of 16."""
    if kernels.latent or not kernels.wide_on_blackwell:
        return by_kind(kernels, block_tokens)
    return 32


def by_kind(kernels: Kernels, block_tokens: int) -> int:
    """Of 64 or 128 for latent attention, else of 16."""
    del block_tokens
    if kernels.latent:
        return 128 if kernels.cutlass_latent else 64
    return 16


def by_kernel(kernels: Kernels, block_tokens: int) -> int:
    """Of the kernel's smallest block, or of the block asked for where that is larger."""
    return max(kernels.smallest_block, block_tokens)


def by_kernel_or_128(kernels: Kernels, block_tokens: int) -> int:
    """The same; of at least 128 for latent attention."""
    return max(by_kernel(kernels, block_tokens), 128 if kernels.latent else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Two sizes that a block must bring together, in bytes."""

    state: int  # all states of one sequence in one recurrent layer, with those of speculative tokens
    token: int  # one token in one attention layer


def covering(pages: Pages, alignment: int, mode: StateMode, chunk_tokens: int, kernels: Kernels) -> int:
    """The shortest aligned block whose page holds a state."""
    del mode, chunk_tokens, kernels
    return alignment * -(-pages.state // (alignment * pages.token))


def covering_chunks(pages: Pages, alignment: int, mode: StateMode, chunk_tokens: int, kernels: Kernels) -> int:
    """The same; where a state is kept per block, in whole chunks of the recurrent kernel."""
    if mode is not StateMode.ALL:
        return covering(pages, alignment, mode, chunk_tokens, kernels)
    return covering(pages, math.lcm(chunk_tokens, alignment), mode, chunk_tokens, kernels)


def covering_for_every_kernel(
    pages: Pages, alignment: int, mode: StateMode, chunk_tokens: int, kernels: Kernels
) -> int:
    """The same without chunks; a multiple of every kernel's smallest block."""
    every = math.lcm(kernels.smallest_block, *kernels.every_smallest)
    return every * -(-covering(pages, alignment, mode, chunk_tokens, kernels) // every)
