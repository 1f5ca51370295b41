"""Blocks for one request, over all groups: whether they are there, and who gets them.

Knows `allocate_slots` of `v1/core/kv_cache_manager.py`. Does not know whose turn it is.
"""

from oomph.engines.history import Release
from oomph.engines.vllm.admission.facts import habits as habits_of
from oomph.engines.vllm.admission.keepers import Kind, keepers
from oomph.engines.vllm.admission.prefixes import Found, Memory
from oomph.engines.vllm.admission.run import Run, Table
from oomph.engines.vllm.admission.scheduling import Blocks, Scheduling
from oomph.engines.vllm.admission.stock import Stock
from oomph.engines.vllm.pool import facts as pool_facts
from oomph.engines.vllm.pool.limits import Limits


class Allocation:
    """The pool while it is in use."""

    __slots__ = ("caching", "context", "forgetful", "habits", "keepers", "memory", "spare", "stock", "whole_prompt")

    def __init__(self, pool: Blocks, limits: Limits, scheduling: Scheduling, release: Release) -> None:
        self.habits = habits_of(release)
        self.stock = Stock(pool.blocks)
        self.keepers = keepers(pool.groups, limits, self.habits, pool_facts.rules(release))
        self.forgetful = [keeper for keeper in self.keepers if keeper.kind not in {Kind.ALL, Kind.RING}]
        self.memory = Memory(self.keepers, self.stock)
        self.caching = scheduling.prefix_caching
        self.context = limits.context_tokens
        self.spare = int(scheduling.watermark * pool.blocks)
        asked = scheduling.whole_prompt
        self.whole_prompt = self.habits.whole_prompt if asked is None else asked

    @property
    def free(self) -> int:
        """Blocks that could be taken now."""
        return len(self.stock.free)

    def tables(self) -> list[Table]:
        """Those of a request that holds nothing."""
        return [Table() for _ in self.keepers]

    @property
    def fickle(self) -> bool:
        """Whether a request that does not fit may fit later though no block was given back.

        It may if just the first chunk must fit: when what was found in the cache is lost, that chunk ends earlier.
        """
        return self.caching and not self.whole_prompt

    def find(self, run: Run) -> Found | None:
        """What of it is in the cache; None: nothing."""
        if not self.caching:
            return None
        found = self.memory.find(run)
        run.fork = found.fork
        return found if found.tokens else None

    def grow(self, run: Run, tokens: int) -> bool:
        """Make room for so many more tokens of a running request; False: there is none."""
        settled = max(0, run.computed - run.flying) if self.habits.after_flight else run.computed
        for keeper in self.forgetful:
            keeper.give_back(run.tables[keeper.index], settled, self.stock)
        upto = min(run.computed + tokens, self.context)
        short = sum(keeper.lacks(table, upto) for keeper, table in zip(self.keepers, run.tables, strict=True))
        if short > len(self.stock.free):
            return False
        if short:
            self._extend(run, upto)
        if self.caching:
            self.memory.keep(run, min(run.computed + tokens, run.tokens))
        return True

    def admits(self, run: Run, tokens: int, found: Found | None, *, alone: bool) -> bool:
        """Whether the first chunk of a waiting request fits, and all of it where the release asks for that."""
        spare = 0 if alone else self.spare
        computed = found.tokens if found else 0
        if found and self._unsettled(found):
            return False
        room = len(self.stock.free) - spare
        if self.whole_prompt:
            upto = min(run.tokens, self.context)
            if self._wanted(upto, found, capped=self.habits.capped) > room:
                return False
        return self._wanted(min(computed + tokens, self.context), found, capped=False) <= room

    def admit(self, run: Run, tokens: int, found: Found | None) -> None:
        """Give a waiting request what `admits` found room for."""
        computed = 0
        if found:
            computed = found.tokens
            for keeper, table in zip(self.keepers, run.tables, strict=True):
                keeper.adopt(table, _own(found, keeper.index), self.stock)
        self._extend(run, min(computed + tokens, self.context))
        if self.caching:
            self.memory.keep(run, min(computed + tokens, run.tokens))

    def release(self, run: Run) -> None:
        """Take back everything it holds; the last blocks are reused first."""
        for keeper, table in zip(self.keepers, run.tables, strict=True):
            self.stock.give_back(reversed(table.blocks), sort=keeper.sorts)
        run.tables = self.tables()

    def _wanted(self, upto: int, found: Found | None, *, capped: bool) -> int:
        return sum(keeper.needs(upto, _own(found, keeper.index), self.stock, capped=capped) for keeper in self.keepers)

    def _extend(self, run: Run, upto: int) -> None:
        for keeper, table in zip(self.keepers, run.tables, strict=True):
            keeper.extend(table, upto, self.stock)

    def _unsettled(self, found: Found) -> bool:
        """Whether a state would be read that is computed in this very step."""
        states = (_own(found, keeper.index) for keeper in self.keepers if keeper.recurrent)
        return any(blocks and self.stock.keys[blocks[-1]] in self.memory.fresh for blocks in states)


def _own(found: Found | None, index: int) -> list[int]:
    return found.blocks[index] if found is not None and index < len(found.blocks) else []
