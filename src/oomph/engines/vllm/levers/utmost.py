"""Every lever as far as it goes, all at once: what does not start with that is started by no flag.

Knows which levers exclude each other, and so in how many ways they can be moved together. Does not know whether that
helps.
"""

from collections.abc import Iterator
from typing import Final

from oomph.engines.vllm.levers.names import SHARE
from oomph.engines.vllm.levers.startup import RELEASE, Change, Startup
from oomph.engines.vllm.levers.table import HOST, LEVERS, MORE_GPUS
from oomph.ledger.forecast import Forecast
from oomph.ledger.settings import Value

_POOL: Final = "kv_cache_memory_bytes"
_WEIGHTS: Final = "quantization"  # needs the weights as they are stored first, and so excludes the host's help
_SHARES: Final = (0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)


def utmost(startup: Startup, now: Forecast) -> Iterator[Change]:
    """All but the share: weights as stored, or rounded, or with the host; the pool left to the engine, or given."""
    far = dict(_far(startup, now))
    apart = {flag: far.pop(flag) for flag in (_WEIGHTS, HOST, _POOL) if flag in far}
    left: Change = {} if startup.flags.get(_POOL) is None else {_POOL: None}
    pools = (left, {_POOL: apart[_POOL]} if _POOL in apart else left)
    for weights in ({}, *({flag: apart[flag]} for flag in (_WEIGHTS, HOST) if flag in apart)):
        yield from ({**far, **pool, **weights} for pool in pools)


def shares(now: Forecast) -> Iterator[Change]:
    """As it is, and then others, the largest first."""
    yield {}
    present = now.settings.number(SHARE)
    yield from ({SHARE: share} for share in _SHARES if share != present)


def _far(startup: Startup, now: Forecast) -> Iterator[tuple[str, Value]]:
    """Of levers that take a flag both ways, the one that makes less of it."""
    moved = {SHARE, RELEASE, MORE_GPUS}
    for lever in LEVERS:
        values = lever.values(startup, now) if lever.flag not in moved and lever.acts.at(startup.release) else ()
        if values:
            moved.add(lever.flag)
            yield lever.flag, values[-1]
