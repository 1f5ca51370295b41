"""What of a prompt is already in the cache, and what of it is worth finding again.

Knows `find_longest_cache_hit` and `reachable_block_mask` of `v1/core/single_type_kv_cache_manager.py`, and how groups
agree on one length in `v1/core/kv_cache_coordinator.py`. Prefixes are matched in whole blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

from oomph.engines.vllm.admission.keepers import Keeper, Kind
from oomph.engines.vllm.admission.run import Run
from oomph.engines.vllm.admission.stock import NULL, Key, Stock


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The tokens that need not be computed, and their blocks by group."""

    tokens: int
    blocks: list[list[int]]
    fork: int  # where the prompt leaves those that others sent, if no state was kept there; else 0


class Memory:
    """Which blocks can be found again."""

    __slots__ = ("alignment", "fresh", "keepers", "kinds", "stock", "together")

    def __init__(self, keepers: Sequence[Keeper], stock: Stock) -> None:
        self.keepers = [keeper for keeper in keepers if keeper.kind is not Kind.RING]
        self.stock = stock
        self.kinds = _kinds(self.keepers)
        several = len(keepers) > 1
        self.alignment = lcm(*(keeper.block for keeper in keepers))
        self.together = several and any(keeper.habits.remembered_together for keeper in keepers)
        self.fresh: set[Key] = set()  # of states that are computed in this step

    def find(self, run: Run) -> Found:
        """The longest prefix that every group has; the last token is always computed."""
        length, longest = run.tokens - 1, 0
        blocks: dict[int, list[int]] = {}
        while True:
            before = length
            for kind in self.kinds:
                if kind[0].kind is Kind.ALL and kind[0].index in blocks:
                    length = min(length, len(blocks[kind[0].index]) * kind[0].block)
                    continue
                hits = self._hits(kind, run, length)
                length = len(hits[0]) * kind[0].block
                longest = max(longest, length)
                blocks |= {keeper.index: own for keeper, own in zip(kind, hits, strict=True)}
            if length >= before or len(self.kinds) == 1:
                break
        return self._agreed(blocks, length, longest)

    def _agreed(self, blocks: dict[int, list[int]], length: int, longest: int) -> Found:
        count = max(keeper.index for keeper in self.keepers) + 1
        held: list[list[int]] = [[] for _ in range(count)]
        for keeper in self.keepers:
            held[keeper.index] = blocks[keeper.index][: length // keeper.block]
        forked = longest > length and self.keepers[0].habits.forks
        return Found(tokens=length, blocks=held, fork=longest if forked else 0)

    def _hits(self, kind: list[Keeper], run: Run, length: int) -> list[list[int]]:
        """The blocks of each of these groups that hold up to so many tokens, as they are all kept alike."""
        first = kind[0]
        match first.kind:
            case Kind.WINDOW:
                return self._window(kind, run, length // first.block)
            case Kind.CHUNK:
                start = length // first.reach * first.reach // first.block
                return self._unbroken(kind, run, start, length // first.block)
            case Kind.STATE | Kind.ALIGNED:
                return self._state(kind, run, length // first.block)
            case _:
                return self._unbroken(kind, run, 0, length // first.block)

    def _block(self, kind: list[Keeper], run: Run, place: int) -> list[int] | None:
        """The block at this place in each of these groups, or None where one of them lacks it."""
        found = []
        for keeper in kind:
            block = self.stock.find(keeper.key(run, place))
            if block is None:
                return None
            found.append(block)
        return found

    def _unbroken(self, kind: list[Keeper], run: Run, start: int, end: int) -> list[list[int]]:
        hits: list[list[int]] = [[NULL] * start for _ in kind]
        for place in range(start, end):
            found = self._block(kind, run, place)
            if found is None:
                break
            for own, block in zip(hits, found, strict=True):
                own.append(block)
        return self._cut(hits, kind[0].block)

    def _window(self, kind: list[Keeper], run: Run, end: int) -> list[list[int]]:
        """The last blocks in a row that fill a window, or the first ones if there are only those."""
        block, wanted = kind[0].block, -(-(kind[0].reach - 1) // kind[0].block)
        hits: list[list[int]] = [[NULL] * end for _ in kind]
        row = 0
        for place in range(end - 1, -1, -1):
            found = self._block(kind, run, place)
            if found is None:
                row = 0
                continue
            if row == 0 and (place + 1) * block % self.alignment:
                continue
            for own, each in zip(hits, found, strict=True):
                own[place] = each
            row += 1
            if row >= wanted:
                return [own[: place + row] for own in hits]
        return self._cut([own[:row] for own in hits], block)

    def _state(self, kind: list[Keeper], run: Run, end: int) -> list[list[int]]:
        """The last state that was kept."""
        for place in range(end - 1, -1, -1):
            found = self._block(kind, run, place)
            if found is not None and (place + 1) * kind[0].block % self.alignment == 0:
                return [[NULL] * place + [block] for block in found]
        return [[] for _ in kind]

    def _cut(self, hits: list[list[int]], block: int) -> list[list[int]]:
        """Down to a length that is a whole number of blocks in every group."""
        length = len(hits[0]) * block // self.alignment * self.alignment
        return [own[: length // block] for own in hits]

    def keep(self, run: Run, tokens: int) -> None:
        """Remember the full blocks among so many tokens."""
        if self.together:
            tokens = tokens // self.alignment * self.alignment
        for keeper in self.keepers:
            table = run.tables[keeper.index]
            first, end = max(table.marked, 0), tokens // keeper.block
            if keeper.kind is Kind.ALIGNED and keeper.habits.renews:
                self._renew(keeper, run, tokens)
            if first >= end:
                continue
            for place in self._worth(keeper, run, first, end):
                block = table.blocks[place]
                if block != NULL:
                    self.stock.remember(block, keeper.key(run, place))
                    if keeper.recurrent and keeper.habits.states_settle:
                        self.fresh.add(keeper.key(run, place))
            table.marked = end

    def _renew(self, keeper: Keeper, run: Run, tokens: int) -> None:
        """The state at the end of the prompt, for as long as it is there."""
        place, blocks = tokens // keeper.block - 1, run.tables[keeper.index].blocks
        if (
            0 < tokens == (run.prompt - 1) // keeper.block * keeper.block
            and place < len(blocks)
            and blocks[place] != NULL
        ):
            self.fresh.add(keeper.key(run, place))

    def _worth(self, keeper: Keeper, run: Run, first: int, end: int) -> Sequence[int]:
        """Places of blocks from which somebody could go on."""
        places = range(first, end)
        if keeper.kind in {Kind.ALL, Kind.CHUNK} or not keeper.habits.remembered_together:
            return places
        wanted = 1 if keeper.recurrent else -(-(keeper.reach - 1) // keeper.block)
        if not keeper.habits.sparse:
            segment = self.alignment // keeper.block
            if keeper.recurrent or wanted >= segment:
                return places
            return [place for place in places if place % segment >= segment - wanted]
        ends = {boundary // self.alignment * self.alignment // keeper.block for boundary in (run.prompt - 1, run.fork)}
        return [place for place in places if any(last - wanted <= place < last for last in ends)]

    def start(self) -> None:
        """A step begins: what was computed before it can be read."""
        self.fresh.clear()


def _kinds(keepers: Sequence[Keeper]) -> list[list[Keeper]]:
    """Groups that keep the same are looked up together; those that keep everything first."""
    found: list[list[Keeper]] = []
    for keeper in keepers:
        alike = next((kind for kind in found if kind[0].cache == keeper.cache), None)
        if alike is None:
            found.append([keeper])
        else:
            alike.append(keeper)
    return sorted(found, key=lambda kind: kind[0].kind is not Kind.ALL)
