"""Which batch sizes CUDA graphs are captured for.

Knows the grids of `config/vllm.py`. Does not know what a graph costs.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from oomph.ledger.device import Capability


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the grid depends on."""

    sequences: int
    tokens: int  # of one step
    speculative_tokens: int = 0
    capability: Capability | None = None
    largest: int | None = None  # --max-cudagraph-capture-size
    sizes: tuple[int, ...] | None = None  # --cudagraph-capture-sizes

    @property
    def query_tokens(self) -> int:
        """Tokens that one sequence brings to a decode step."""
        return 1 + self.speculative_tokens


Sizes = tuple[int, ...]

_DATA_CENTRE_BLACKWELL = 10  # the major number of its compute capability


def ceiling_by_generation(wish: Wish) -> int:
    """The largest graph by default: 1,024 tokens on the data-centre Blackwells, 512 elsewhere."""
    return 1024 if wish.capability is not None and wish.capability.major == _DATA_CENTRE_BLACKWELL else 512


def every_eighth_to_cover(wish: Wish) -> Sizes:
    """The V0 engine: 1, 2, 4 and every eighth up to the first that covers all sequences."""
    possible = (1, 2, 4, *range(8, 8193, 8))
    covering = next((size for size in possible if size >= wish.sequences), possible[-1])
    return tuple(size for size in possible if size <= covering)


def every_eighth_to_512(wish: Wish) -> Sizes:
    """1, 2, 4 and every eighth up to 512, however few sequences there are."""
    return _within((1, 2, 4, *range(8, 513, 8)), wish.tokens)


def every_eighth(wish: Wish) -> Sizes:
    """1, 2, 4 and every eighth up to twice the sequences, but not above 512."""
    if wish.sizes is not None and len(wish.sizes) > 1:
        return _within(sorted(wish.sizes), wish.tokens)
    largest = wish.sizes[0] if wish.sizes else min(2 * wish.sequences, 512)
    return _within((1, 2, 4, *range(8, largest + 1, 8)), wish.tokens)


def coarser_above_256(wish: Wish) -> Sizes:
    """1, 2, 4, every eighth below 256 and every sixteenth from there, up to twice the sequences."""
    return _given(wish) or tuple(_grid(_largest(wish, query_tokens=1, ceiling=512)))


def with_speculation(wish: Wish) -> Sizes:
    """The same grid, up to twice the tokens that all sequences bring to a decode step."""
    return _given(wish) or tuple(_grid(_largest(wish, query_tokens=wish.query_tokens, ceiling=512)))


def with_full_step(wish: Wish) -> Sizes:
    """With a graph for the fullest step, where that is small enough."""
    return _given(wish) or _full_step(wish, _largest(wish, query_tokens=wish.query_tokens, ceiling=512))


def by_generation(wish: Wish) -> Sizes:
    """With a higher ceiling on the data-centre Blackwells."""
    return _given(wish) or _full_step(
        wish, _largest(wish, query_tokens=wish.query_tokens, ceiling=ceiling_by_generation(wish))
    )


def with_decode_steps(wish: Wish) -> Sizes:
    """With a graph for every decode step of a usual number of speculating sequences."""
    if given := _given(wish):
        return given
    return _merged(by_generation(wish), _decode_steps(wish) if wish.query_tokens > 1 else (), wish)


def with_all_sequences(wish: Wish) -> Sizes:
    """With a graph for the decode step of all sequences, speculating or not."""
    if given := _given(wish):
        return given
    steps = _decode_steps(wish) if wish.query_tokens > 1 else (wish.sequences,)
    return _merged(by_generation(wish), steps, wish)


def _given(wish: Wish) -> Sizes:
    return () if wish.sizes is None else _within(sorted(set(wish.sizes)), wish.tokens)


def _largest(wish: Wish, *, query_tokens: int, ceiling: int) -> int:
    largest = min(2 * wish.sequences * query_tokens, ceiling) if wish.largest is None else wish.largest
    return min(largest, wish.tokens)


def _grid(largest: int) -> Iterable[int]:
    yield from (size for size in (1, 2, 4) if size <= largest)
    yield from range(8, min(largest + 1, 256), 8)
    yield from range(256, largest + 1, 16)


def _full_step(wish: Wish, largest: int) -> Sizes:
    return tuple(sorted({*_grid(largest), *((wish.tokens,) if wish.tokens <= largest else ())}))


def _decode_steps(wish: Wish) -> Sizes:
    most = min(wish.sequences, ceiling_by_generation(wish))
    return tuple(count * wish.query_tokens for count in sorted({*_grid(most), most}))


def _merged(grid: Sizes, steps: Sizes, wish: Wish) -> Sizes:
    """A step that no default graph may be as large as is left out; so is one that no step is as large as."""
    if wish.largest is not None:
        return grid
    default = min(2 * wish.sequences * wish.query_tokens, ceiling_by_generation(wish))
    return tuple(sorted({*grid, *(size for size in steps if size <= min(default, wish.tokens))}))


def _within(sizes: Iterable[int], tokens: int) -> Sizes:
    return tuple(size for size in sizes if size <= tokens)
