"""How many requests a pool holds at once.

Knows that the first block of a pool is never handed out. Does not know when requests come: `played` lets the scheduler
say that.
"""

from typing import Final

from oomph.fit.demand import demand
from oomph.fit.workload import Workload
from oomph.ledger.forecast import Forecast
from oomph.ledger.kv import KvPool
from oomph.ledger.rest import Rest
from oomph.units import Bytes

_NEVER_HANDED_OUT: Final = 1  # v1/core/block_pool.py


def held(forecast: Forecast, workload: Workload, *, shares: bool, risk: Rest) -> int:
    """Requests at once that have room to the end of their answers; `shares`: prefixes are cached."""
    kv = forecast.kv
    blocks = None if kv is None else kv.blocks if risk is Rest.LIKELY else kv.least
    if kv is None or blocks is None:
        return 0
    most = forecast.settings.whole("max_num_seqs")
    return demand(kv, workload, shares=shares).held(blocks - _NEVER_HANDED_OUT, most=most)


def enough(kv: KvPool, workload: Workload, requests: int, *, shares: bool) -> Bytes:
    """The bytes of a pool that holds so many of them."""
    blocks = _NEVER_HANDED_OUT + demand(kv, workload, shares=shares).of(requests)
    return Bytes(blocks * kv.bytes_per_block)
