"""What a plan had said, held against what the running server says and did.

Knows which figures of a plan a server shows. Does not know how a plan is made.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from oomph.diagnose.proof.room import planned_room
from oomph.ledger.proof import Ask, Planned, Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One figure, twice."""

    what: str
    planned: str
    seen: str
    agrees: bool | None  # None: the two cannot be compared


def against_plan(
    planned: Planned, promise: Promise, ask: Ask, *, held: int | None, broke: int | None
) -> tuple[Compared, ...]:
    """Every figure that the plan has."""
    return (*_promised(planned, promise), *_users(planned, ask, held, broke))


def _promised(planned: Planned, promise: Promise) -> Iterator[Compared]:
    pairs = (
        ("longest request", planned.length, promise.length, " tokens"),
        ("block", planned.block_tokens, promise.block_tokens, " tokens"),
        ("KV pool", planned.blocks, promise.blocks, " blocks"),
        ("KV pool", planned.tokens, promise.pool_tokens, " tokens"),
    )
    for what, ours, theirs, unit in pairs:
        if ours is not None and theirs is not None:
            yield Compared(
                what=what,
                planned=f"{ours:,}{unit}",
                seen=f"{theirs:,}{unit}{_off(ours, theirs)}",
                agrees=ours == theirs,
            )
    if planned.release is not None and promise.release is not None:
        same = planned.release == promise.release
        yield Compared(what="release", planned=planned.release, seen=promise.release, agrees=same)


def _off(ours: int, theirs: int) -> str:
    return "" if ours == theirs or not ours else f" ({(theirs - ours) / ours:+.1%})"


def _users(planned: Planned, ask: Ask, held: int | None, broke: int | None) -> Iterator[Compared]:
    expected = planned_room(ask, planned)
    if expected is None or (held is None and broke is None):
        return
    least, most = held or 0, None if broke is None else broke - 1
    seen = f"{least} held" + ("" if broke is None else f", {broke} broke")
    agrees = least <= expected.users and (most is None or expected.users <= most)
    yield Compared(
        what="users of this load",
        planned=f"{expected.users} at once: {expected.because}",
        seen=seen,
        agrees=agrees if broke is not None or expected.users < least else None if expected.users > least else True,
    )
