"""All weights of one rank.

Knows which pieces a stage of the pipeline holds, and sums them, layer kinds first, so that a model of a hundred equal
layers costs as much as one of ten.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from oomph.engines.vllm.weights.plain import size
from oomph.engines.vllm.weights.ranks import Ranks, stages
from oomph.ledger.geometry import Geometry
from oomph.ledger.weights import Piece, Table
from oomph.units import Bytes


def total(geometry: Geometry, ranks: Ranks, *, towers: bool = True) -> Bytes:
    """What one rank allocates for the model, without drafts."""

    def weigh(piece: Piece) -> int:
        return size(piece, ranks, geometry.dtype)

    whole = sum(weigh(piece) for piece in _around(geometry, ranks, towers=towers))
    return Bytes(whole + _layers(geometry, ranks, weigh))


def _around(geometry: Geometry, ranks: Ranks, *, towers: bool) -> Iterator[Piece]:
    """What stands before and after the layers on this stage."""
    if ranks.first:
        yield from geometry.embedding
        yield from geometry.towers if towers else ()
    if ranks.last:
        yield from geometry.closing
        if geometry.tied and not ranks.first:
            yield from (piece for piece in geometry.embedding if isinstance(piece, Table))


def _layers(geometry: Geometry, ranks: Ranks, weigh: Callable[[Piece], int]) -> int:
    counts = stages(len(geometry.layers), ranks.pipeline)
    begin = sum(counts[: ranks.stage])
    mine = geometry.layers[begin : begin + counts[ranks.stage]]
    kinds = Counter(id(layer) for layer in mine)
    known = {id(layer): layer for layer in mine}
    return sum(times * sum(weigh(piece) for piece in known[kind].weights) for kind, times in kinds.items())
