"""How one group of layers takes blocks for a request and gives them back.

Knows `v1/core/single_type_kv_cache_manager.py`. Does not know the other groups, nor when a request is scheduled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from oomph.engines.vllm.admission.facts import Habits, Reused
from oomph.engines.vllm.admission.run import Run, Table
from oomph.engines.vllm.admission.stock import NULL, Key, Stock
from oomph.engines.vllm.pool.caches import AttentionCache, Cache, Keeps, StateCache
from oomph.engines.vllm.pool.group import Group
from oomph.engines.vllm.pool.limits import Limits, StateMode
from oomph.engines.vllm.pool.requests import pages
from oomph.engines.vllm.pool.rules import Rules


class Kind(StrEnum):
    """What a group keeps of a request."""

    ALL = "all"
    WINDOW = "window"
    CHUNK = "chunk"
    RING = "ring"
    STATE = "state"  # one per block; without prefix caching a block is as long as a request may become
    ALIGNED = "aligned"  # the last one, and the one that it was computed from


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """One group of layers."""

    index: int
    kind: Kind
    cache: Cache
    block: int  # tokens
    reach: int  # tokens of the window or of the chunk
    most: int | None  # blocks that a window ever holds of one request; None: as many as it has tokens for
    habits: Habits

    @property
    def recurrent(self) -> bool:
        """Keeps states, not tokens."""
        return self.kind in {Kind.STATE, Kind.ALIGNED}

    @property
    def sorts(self) -> bool:
        """What an ended request holds here and cannot be found again is reused first."""
        reused = self.habits.first_reused
        return reused is Reused.ALL or (reused is Reused.PASSED and self.kind is Kind.WINDOW)

    def gone(self, computed: int) -> int:
        """Blocks that are read no more once so many tokens are computed."""
        match self.kind:
            case Kind.WINDOW:
                return max(0, computed - self.reach + 1) // self.block
            case Kind.CHUNK:
                return computed // self.reach * self.reach // self.block
            case Kind.STATE | Kind.ALIGNED if self.habits.states_freed:
                return max(0, computed - 1) // self.block
            case _:
                return 0

    def key(self, run: Run, place: int) -> Key:
        """By which a block of this request can be found."""
        end = (place + 1) * self.block
        return self.index, run.owner(end), end

    def lacks(self, table: Table, upto: int) -> int:
        """Blocks that a running request is short of for so many tokens."""
        if self.kind is Kind.RING:
            return 0 if table.blocks else 1
        short = -(-upto // self.block) - len(table.blocks)
        return min(short, 1) if self.kind is Kind.ALIGNED else max(short, 0)

    def needs(self, upto: int, found: list[int], stock: Stock, *, capped: bool) -> int:
        """Free blocks that a waiting request takes for so many tokens, those that were found in the cache included."""
        if self.kind is Kind.RING:
            return 1
        required = -(-upto // self.block)
        if self.kind is Kind.ALIGNED:
            return min(required - len(found), 1) + stock.idle(found)
        if capped and self.most is not None:
            required = min(required, self.most)
        return max(required - len(found), 0) + stock.idle(found)

    def adopt(self, table: Table, found: list[int], stock: Stock) -> None:
        """Hold what was found in the cache; of a window that is no more than it reads."""
        if self.kind is not Kind.RING:
            stock.touch(found)
            table.blocks = list(found)
            table.marked = len(found)

    def extend(self, table: Table, upto: int, stock: Stock) -> None:
        """Take blocks for so many tokens."""
        blocks = table.blocks
        required = 1 if self.kind is Kind.RING else -(-upto // self.block)
        if required <= len(blocks):
            return
        if self.kind is Kind.ALIGNED:
            if blocks:
                table.state = len(blocks) - 1
            blocks.extend([NULL] * (required - 1 - len(blocks)))
        blocks.extend(stock.take(required - len(blocks)))

    def give_back(self, table: Table, computed: int, stock: Stock) -> None:
        """Let go of what is read no more."""
        last = min(self.gone(computed), len(table.blocks))
        if self.kind is Kind.ALIGNED and self.habits.gaps_freed:
            self._free(table, range(last - 1, table.retired - 1, -1), stock, to_gap=False)
            table.retired = max(last, table.retired)
        elif last > 0:
            self._free(table, range(last - 1, -1, -1), stock, to_gap=True)
        if self.kind is Kind.ALIGNED and table.state is not None and table.state < -(-computed // self.block) - 1:
            self._free(table, range(table.state, table.state - 1, -1), stock, to_gap=True)

    def _free(self, table: Table, places: range, stock: Stock, *, to_gap: bool) -> None:
        freed = []
        for place in places:
            block = table.blocks[place]
            if block == NULL:
                if to_gap:
                    break
                continue
            freed.append(block)
            table.blocks[place] = NULL
        if freed:
            stock.give_back(freed, sort=self.habits.first_reused is not Reused.NONE)


def keepers(groups: Sequence[Group], limits: Limits, habits: Habits, rules: Rules) -> tuple[Keeper, ...]:
    """One per group, in their order."""
    return tuple(_keeper(index, group, limits, habits, rules) for index, group in enumerate(groups))


def _keeper(index: int, group: Group, limits: Limits, habits: Habits, rules: Rules) -> Keeper:
    cache = group.cache
    kind = _kind(cache, limits)
    bounded = kind in {Kind.WINDOW, Kind.CHUNK}
    return Keeper(
        index=index,
        kind=kind,
        cache=cache,
        block=cache.block_tokens * (limits.decode_ranks if isinstance(cache, AttentionCache) and cache.sharded else 1),
        reach=_reach(cache),
        most=pages(cache, limits, limits.context_tokens, rules) if bounded else None,
        habits=habits,
    )


def _kind(cache: Cache, limits: Limits) -> Kind:
    if isinstance(cache, StateCache):
        return Kind.ALIGNED if limits.state_mode is StateMode.ALIGN else Kind.STATE
    return {Keeps.WINDOW: Kind.WINDOW, Keeps.CHUNK: Kind.CHUNK, Keeps.RING: Kind.RING}.get(cache.keeps, Kind.ALL)


def _reach(cache: Cache) -> int:
    if isinstance(cache, StateCache):
        return 0
    if cache.keeps is Keeps.CHUNK:
        return cache.chunk or 0
    return (cache.window or 0) + cache.retained
