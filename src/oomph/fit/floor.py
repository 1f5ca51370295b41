"""The least time that a step can take: everything that it must read, at the full speed of the memory.

Knows weights, keys and values, and bandwidth. What a step computes, sends and launches comes on top, so that no engine
is faster and none is as fast; a wish that lies below the floor is refused, one above is not promised.
"""

from functools import lru_cache

from oomph.fit.workload import Workload
from oomph.ledger.forecast import Forecast
from oomph.ledger.geometry import Geometry
from oomph.ledger.ledger import Account
from oomph.ledger.same import Same
from oomph.ledger.weights import Experts


def floor(forecast: Forecast, workload: Workload, *, users: int) -> float | None:
    """Seconds of a step that gives so many users a token; None where nobody says how fast the memory is."""
    weights, kv, speed = forecast.ledger.of(Account.WEIGHTS), forecast.kv, forecast.device.bandwidth
    if weights is None or kv is None or speed is None:
        return None
    stages = _stages(forecast)
    parts = 1 if kv.blocks is None else stages  # a pool that is planned is that of one stage
    shared = kv.shared(workload.prefix)  # a kernel may read what all begin with once for all
    blocks = shared + users * max(0, kv.taken(workload.usual) - shared)
    keys = parts * blocks * kv.bytes_per_block
    return (stages * _read(forecast, int(weights.low)) + keys) / speed


def _stages(forecast: Forecast) -> int:
    given = forecast.settings.get("pipeline_parallel_size")
    return given.value if given is not None and isinstance(given.value, int) else 1


def _read(forecast: Forecast, weights: int) -> int:
    """All but routed experts: how many of those a step needs, nobody knows before."""
    geometry, whole = forecast.geometry, forecast.parameters
    if geometry is None or not whole:
        return weights
    return weights * (whole - _routed(Same(geometry))) // whole


@lru_cache(maxsize=64)
def _routed(geometry: Same[Geometry]) -> int:
    """Parameters of routed experts."""
    pieces = (piece for layer in geometry.it.layers for piece in layer.weights)
    return sum(_size(piece) for piece in pieces if isinstance(piece, Experts))


def _size(experts: Experts) -> int:
    return experts.count * experts.hidden * experts.inner * (3 if experts.gated else 2)
