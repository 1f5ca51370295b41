"""The pool that all ranks of a start-up share, and where the user says how large it is.

Knows what is held against what in which release. Does not know the planning itself (`pool`), nor what leaves the room.
"""

from dataclasses import dataclass
from typing import Final

from oomph.engines.vllm import kv
from oomph.engines.vllm.asked import Asked
from oomph.engines.vllm.pool.facts import override_counts
from oomph.engines.vllm.pool.refusal import Reason, Refusal
from oomph.engines.vllm.rank import Given, Rank
from oomph.ledger.kv import KvPool
from oomph.units import Bytes

_TOO_LITTLE: Final = frozenset({Reason.NO_MEMORY, Reason.TOO_SMALL, Reason.NOTHING_FITS, Reason.NO_BLOCKS})


def given_pool(asked: Asked, kept: kv.Kept) -> Given | None:
    """The pool, where the user says how many bytes it has, or how many blocks; blocks decide where both are said."""
    size = asked.flags.positive("kv_cache_memory_bytes")
    blocks = asked.flags.positive("num_gpu_blocks_override")
    plain = kv.pool(kept, asked.release, available=None) if blocks is not None else None
    if blocks is None or not isinstance(plain, KvPool):
        return None if size is None else Given(size=Bytes(size), checked=Bytes(size))
    taken = Bytes(-(-blocks * plain.bytes_per_block // asked.flags.count("pipeline_parallel_size")))
    if override_counts.at(asked.release):
        return Given(size=taken, checked=taken)
    return Given(size=taken, checked=None if size is None else Bytes(size))


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The pool that all ranks share: as large as it is likely to be, and whatever its size."""

    sized: KvPool | None
    plain: KvPool | None
    fitting: int | None  # tokens of the longest request, where the asked-for does not fit
    words: str | None = None  # why there is none

    @classmethod
    def of(cls, kept: kv.Kept, ranks: tuple[Rank, ...], asked: Asked) -> "Planned":
        """As the release plans it."""
        stages = asked.flags.count("pipeline_parallel_size")
        tensor = asked.flags.count("tensor_parallel_size")
        staged = [[each for each in ranks if each.place // tensor % stages == stage] for stage in range(stages)]
        room = tuple(min(each.checked.likely for each in of_stage) for of_stage in staged)
        doubts = tuple(max(each.pool.likely - each.pool.low for each in of_stage) for of_stage in staged)
        sized = kv.pool(kept, asked.release, available=room, doubts=doubts)
        if isinstance(sized, KvPool):
            return cls(sized=sized, plain=sized, fitting=None, words=_never(sized))
        plain = kv.pool(kept, asked.release, available=None)
        refused = plain if isinstance(plain, Refusal) else sized
        if isinstance(plain, Refusal) or sized.reason not in _TOO_LITTLE:
            return cls(sized=None, plain=None, fitting=None, words=f"the pool cannot be planned: {refused.reason}")
        return cls(sized=None, plain=plain, fitting=sized.fitting_tokens)


def _never(pool: KvPool) -> str | None:
    """What to say of a pool that passes the check and yet holds no request of full length."""
    if pool.concurrency is None or pool.concurrency >= 1:
        return None
    return (
        f"the pool holds {pool.concurrency:.2f} requests of full length: this release starts with it, "
        "and such a request waits for ever"
    )
