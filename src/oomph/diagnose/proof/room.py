"""How many requests of one shape a pool holds at once: block arithmetic, nothing measured.

Knows that every layer of the pool takes the same blocks. A pool whose layers take different ones is told by its
tokens alone, which is less exact.
"""

from dataclasses import dataclass

from oomph.ledger.proof import Ask, Planned, Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A pool against one shape of request."""

    users: int  # held at once, by all engines
    because: str


def blocks_of(ask: Ask, block_tokens: int) -> int:
    """Blocks of one request at its end; the last token of an answer is never kept, for nothing is asked after it."""
    return -(-(ask.prompt + ask.answer - 1) // block_tokens)


def shared_blocks(ask: Ask, block_tokens: int) -> int:
    """Blocks that all requests have in common; one token of a prompt is always computed anew."""
    return min(ask.prefix, ask.prompt - 1) // block_tokens


def room(ask: Ask, promise: Promise) -> Room | None:
    """By what the server promises; None where it says nothing of its pool."""
    sharing = promise.prefix_caching is not False
    per_engine = _room(ask, promise.blocks, promise.block_tokens, promise.pool_tokens, sharing=sharing)
    if per_engine is None or promise.engines == 1:
        return per_engine
    users = per_engine.users * promise.engines
    return Room(users=users, because=f"{promise.engines} engines, each: {per_engine.because}")


def planned_room(ask: Ask, planned: Planned) -> Room | None:
    """By what the plan had said."""
    return _room(ask, planned.blocks, planned.block_tokens, planned.tokens, sharing=True)


def _room(ask: Ask, blocks: int | None, block_tokens: int | None, tokens: int | None, *, sharing: bool) -> Room | None:
    if blocks is None or block_tokens is None:
        return None
    if tokens is not None and abs(tokens - blocks * block_tokens) > block_tokens:
        words = f"{tokens:,} tokens // {ask.tokens:,} tokens a request, as its layers take different blocks"
        return Room(users=tokens // ask.tokens, because=words)
    given = blocks - 1  # one block is never given
    common = shared_blocks(ask, block_tokens) if sharing else 0
    own = blocks_of(ask, block_tokens) - common
    words = f"({given:,} blocks{f' - {common:,} shared' if common else ''}) // {own:,} a request"
    return Room(users=max(0, given - common) // own, because=f"{words}, of {block_tokens} tokens each")
