"""Where a chunk of a prompt ends when recurrent layers keep their states at the ends of blocks.

Knows `_mamba_block_aligned_split` of `v1/core/sched/scheduler.py`. A state is only kept where a chunk ends, so chunks
are cut to end where a later request could go on from. Does not know drafts, nor states kept inside a chunk.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Tokens of one request that would be computed in this step, and what is known of the request."""

    start: int
    tokens: int  # as many as the step has room for
    prompt: int
    known: int  # prompt, and answer so far
    fork: int  # where its prompt leaves those that others sent; 0: not known
    found: int | None  # tokens that were found in the cache, while it is being admitted
    most: int  # tokens of a chunk at most

    @property
    def end(self) -> int:
        """Where it ends if it is not cut."""
        return self.start + self.tokens

    @property
    def until(self) -> int:
        """Where computing what is known ends: an answer that was lost is computed like a prompt."""
        return max(self.prompt, self.known - 1)


class Split(Protocol):
    """How many tokens of a chunk are computed, in blocks of so many."""

    def __call__(self, chunk: Chunk, block: int) -> int:
        """As many as the chunk has, or fewer; 0 where a cut would leave none."""


def whole(chunk: Chunk, block: int) -> int:
    """No state is kept within a prompt."""
    del block
    return chunk.tokens


def unanswered(chunk: Chunk, block: int) -> int:
    """Whole blocks of a prompt up to the last one, then the rest; an answer that was lost is not cut."""
    return chunk.tokens if chunk.known > chunk.prompt else _blocks(chunk, block)


def by_last_block(chunk: Chunk, block: int) -> int:
    """The same; an answer that was lost is cut like a prompt."""
    return chunk.tokens if chunk.start >= chunk.until else _blocks(chunk, block)


def uncached_first(chunk: Chunk, block: int) -> int:
    """The same; first only what others sent too, if its state was not kept."""
    tokens = by_last_block(chunk, block)
    shared = chunk.fork - chunk.found if chunk.found is not None and chunk.fork else 0
    if chunk.start < chunk.until and block <= shared < tokens:
        return shared // block * block
    return tokens


def by_boundary(chunk: Chunk, block: int) -> int:
    """Up to the next place at which a state is kept: the end of a block begun, the last block, a fork."""
    if chunk.start >= chunk.until:
        return chunk.tokens
    last = chunk.known - chunk.known % block
    end = chunk.end // block * block if chunk.end < last else chunk.end
    following = _following(chunk, block)
    return _until(chunk, end, (following if following <= last else 0, last, _fork(chunk, end, block)))


def by_prompt_end(chunk: Chunk, block: int) -> int:
    """The same; blocks longer than a step are computed in parts."""
    return _parts(chunk, block, chunk.known - chunk.known % block)


def by_replay(chunk: Chunk, block: int) -> int:
    """The same; the last block is the last from which the same prompt could go on if it were sent again."""
    return _parts(chunk, block, (chunk.known - 1) // block * block)


def _blocks(chunk: Chunk, block: int) -> int:
    last = chunk.known - chunk.known % block
    if chunk.end < last:
        return chunk.tokens // block * block
    return last - chunk.start if chunk.start < last < chunk.end else chunk.tokens


def _parts(chunk: Chunk, block: int, last: int) -> int:
    if chunk.start >= chunk.until:
        return chunk.tokens
    end = chunk.end
    if end < chunk.until:
        aligned = end // block * block
        end = aligned if aligned > chunk.start or block <= chunk.most else end
    return _until(chunk, end, (_following(chunk, block), last, _fork(chunk, end, block)))


def _following(chunk: Chunk, block: int) -> int:
    return (chunk.start // block + 1) * block if chunk.start % block else 0


def _fork(chunk: Chunk, end: int, block: int) -> int:
    return chunk.start + (chunk.fork - chunk.start) // block * block if chunk.start < chunk.fork < end else 0


def _until(chunk: Chunk, end: int, stops: Iterable[int]) -> int:
    return max(min((stop for stop in stops if chunk.start < stop < end), default=end) - chunk.start, 0)
