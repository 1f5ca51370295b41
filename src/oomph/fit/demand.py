"""How many blocks so many requests take at once, all at the end of their answers.

Where all lengths are the longest, that is the longest times their number. Where half of them are shorter, so many are
never all long at once: then it is what they exceed in one of a thousand such moments, by the mean and the spread of
their blocks. Whoever exceeds it anyway is preempted: slower, not gone.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt
from statistics import NormalDist
from typing import Final

from oomph.engines.vllm.pool.needs import longest
from oomph.fit.lengths_drawn import lengths_of
from oomph.fit.workload import Workload
from oomph.ledger.kv import KvGroup, KvPool
from oomph.ledger.same import Same

_SAMPLE: Final = 512  # requests by which mean and spread are known well enough
_OFTEN: Final = NormalDist().inv_cdf(0.999)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Blocks of single requests, and of many."""

    shared: int  # kept once for all
    longest: int  # of a long request, besides
    most: int  # of the longest that ever comes, besides
    mean: float
    spread: float

    def of(self, requests: int) -> int:
        """Blocks of so many at once; never fewer than one long request takes, nor more than all at their longest."""
        usual = ceil(requests * self.mean + _OFTEN * self.spread * sqrt(requests))
        return self.shared + min(requests * self.most, max(self.longest, usual))

    def held(self, blocks: int, *, most: int) -> int:
        """The most requests that these blocks are enough for."""
        return longest(lambda requests: self.of(requests) <= blocks, most)


def demand(kv: KvPool, workload: Workload, *, shares: bool) -> Demand:
    """Of this workload in such blocks; `shares`: prefixes are cached."""
    return _demand(kv.groups, Same(workload), shares)


@lru_cache(maxsize=256)
def _demand(groups: tuple[KvGroup, ...], same: Same[Workload], shares: bool) -> Demand:  # noqa: FBT001 - remembered by it
    workload = same.it
    alike = max(0, min(workload.prefix, workload.prompt.p99 - 1))  # the last token of a prompt is computed anew
    shared = sum(group.shared(alike) for group in groups) if shares else 0
    own = max(1, _taken(groups, workload.longest) - shared)
    if workload.usual == workload.longest:
        return Demand(shared=shared, longest=own, most=own, mean=own, spread=0.0)
    pairs = lengths_of(workload, _SAMPLE)
    blocks = [max(1, _taken(groups, prompt + answer) - shared) for prompt, answer in pairs]
    mean = sum(blocks) / len(blocks)
    variance = sum((each - mean) ** 2 for each in blocks) / len(blocks)
    return Demand(shared=shared, longest=own, most=max(own, *blocks), mean=mean, spread=sqrt(variance))


def _taken(groups: tuple[KvGroup, ...], tokens: int) -> int:
    return sum(group.taken(tokens) for group in groups)
