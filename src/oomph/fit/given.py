"""A pool whose size is said: as large as the workload needs it, rounded up, and no larger.

Knows what such a pool must hold: every user, one request of the longest length, and a block for each state that is
captured. Does not know whether there is room for it.
"""

from typing import Final

from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.prefixes import shares_beginnings
from oomph.fit.held import enough
from oomph.fit.workload import Workload
from oomph.ledger.kv import KvPool
from oomph.units import MIB

GIVEN: Final = "kv_cache_memory_bytes"
_ROUND: Final = 64 * MIB
_AMPLE: Final = 1 << 60  # bytes: a pool in which everything has room, so that every stage of a pipeline is planned


def with_pool(start: Startup, workload: Workload, *, users: int) -> Startup:
    """The same with a pool for so many users; nothing in it depends on the share."""
    kv = start.but({GIVEN: _AMPLE}).forecast().kv
    if kv is None or not kv.blocks:
        return start
    size = _needed(kv, workload, users, shares=caches_beginnings(start))
    given = start.but({GIVEN: _rounded(size)})
    if not any(group.most == 0 for group in kv.groups):
        return given
    found = given.forecast()
    asked = (int(gate.needs.high) for gate in found.gates if gate.has == found.pool)
    return given.but({GIVEN: _rounded(max(size, *asked))})


def _needed(kv: KvPool, workload: Workload, users: int, *, shares: bool) -> int:
    """Bytes on the stage whose blocks are the largest, with the block that is never handed out."""
    bytes_per_block = int(kv.bytes_per_block)
    largest = max(bytes_per_block, _AMPLE // (kv.blocks or 1))
    one = (kv.need or 0) + bytes_per_block
    return -(-max(enough(kv, workload, users, shares=shares), one) // bytes_per_block) * largest


def _rounded(size: int) -> int:
    return -(-size // _ROUND) * _ROUND


def caches_beginnings(start: Startup) -> bool:
    """Whether what requests begin with alike is kept once."""
    model = start.model
    return model is not None and shares_beginnings(model.geometry, start.flags, start.release)
