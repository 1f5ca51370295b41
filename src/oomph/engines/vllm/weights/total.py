"""All weights of one rank.

Knows which pieces a stage of the pipeline holds, and sums them, layer kinds first, so that a model of a hundred equal
layers costs as much as one of ten.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Protocol

from oomph.engines.vllm.heads import refuse_uneven
from oomph.engines.vllm.weights.kit import Kit
from oomph.engines.vllm.weights.plain import elements, size
from oomph.engines.vllm.weights.ranks import Ranks, stages
from oomph.engines.vllm.weights.served import served
from oomph.errors import UsageError
from oomph.ledger.geometry import Geometry, Layer
from oomph.ledger.quantization import Quantization
from oomph.ledger.weights import Piece, Table
from oomph.units import Bytes


class Weighs(Protocol):
    """What the formats are asked."""

    def piece(self, piece: Piece, layer: str = ...) -> int:
        """Bytes of a piece, below this layer."""

    def scales(self, layer: Layer) -> int:
        """Bytes of the scales of what a layer keeps."""


def total(
    geometry: Geometry,
    ranks: Ranks,
    *,
    quantization: Quantization | None = None,
    kit: Kit | None = None,
    towers: bool = True,
) -> Bytes:
    """What one rank allocates for the model, without drafts; `kit` matters for formats that kernels pad."""
    refuse_uneven(geometry, ranks.tensor)
    dtype = served(geometry)
    if quantization is not None:
        # Imported when it is needed: the formats take longer to import than a plain model takes to weigh.
        quantized = import_module("oomph.engines.vllm.weights.quantized")
        weigher = quantized.Weigher(geometry, ranks, quantization, dtype=dtype, kit=kit or Kit())
        return Bytes(_quantized(geometry, ranks, weigher, towers=towers))

    def weigh(piece: Piece) -> int:
        return size(piece, ranks, dtype)

    whole = sum(weigh(piece) for piece in around(geometry, ranks, towers=towers))
    return Bytes(whole + _layers(geometry, ranks, weigh))


def draft(geometry: Geometry, ranks: Ranks) -> Bytes:
    """What layers that guess ahead add, once words and head are shared; in the model's own format."""
    dtype = served(geometry)
    pieces = [piece for layer in geometry.draft for piece in layer.weights]
    return Bytes(sum(size(piece, ranks, dtype) for piece in (*pieces, *geometry.draft_extra)))


def parameters(geometry: Geometry) -> int:
    """How many numbers the whole model has, its towers included."""
    alone = Ranks()
    beside = sum(elements(piece, alone) for piece in around(geometry, alone, towers=True))
    return beside + _layers(geometry, alone, lambda piece: elements(piece, alone))


def around(geometry: Geometry, ranks: Ranks, *, towers: bool) -> Iterator[Piece]:
    """What stands before and after the layers on this stage."""
    yield from geometry.everywhere
    yield from geometry.towers if towers else ()
    if ranks.first or geometry.uncut:
        yield from geometry.embedding
    if ranks.last or geometry.uncut:
        yield from geometry.closing
        if geometry.tied and not ranks.first and not geometry.uncut:
            yield from (piece for piece in geometry.embedding if isinstance(piece, Table))


def _quantized(geometry: Geometry, ranks: Ranks, weigher: Weighs, *, towers: bool) -> int:
    """Layer by layer, because a config may treat equal layers differently."""
    begin, own = mine(geometry, ranks)
    beside = sum(weigher.piece(piece) for piece in around(geometry, ranks, towers=towers))
    return beside + sum(
        weigher.scales(layer) + sum(weigher.piece(piece, f"{geometry.prefix}.{index}") for piece in layer.weights)
        for index, layer in enumerate(own, begin)
    )


def mine(geometry: Geometry, ranks: Ranks) -> tuple[int, tuple[Layer, ...]]:
    """The first layer of this stage, and all of its layers."""
    counts = stages(len(geometry.layers), ranks.pipeline)
    begin = sum(counts[: ranks.stage])
    own = geometry.layers[begin : begin + counts[ranks.stage]]
    if begin and any(layer.shares is not None and layer.shares < begin for layer in own):
        message = f"layers share a cache with layers of another stage of {ranks.pipeline}: vLLM refuses to start"
        raise UsageError(message)
    return begin, own


def _layers(geometry: Geometry, ranks: Ranks, weigh: Callable[[Piece], int]) -> int:
    _, own = mine(geometry, ranks)
    kinds = Counter(id(layer) for layer in own)
    known = {id(layer): layer for layer in own}
    return sum(times * sum(weigh(piece) for piece in known[kind].weights) for kind, times in kinds.items())
