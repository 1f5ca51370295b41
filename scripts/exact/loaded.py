"""What a log calls the weights: the parameters as PyTorch's allocator holds them, and the tables for positions.

vLLM prints how much more is allocated after a model was loaded than before. Weights are most of it; the allocator
rounds each of them, and every kind of rotary embedding keeps a table of cosines and sines.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from oomph.architectures.registry import geometry as architecture
from oomph.architectures.stored.quantization import quantization as formats
from oomph.engines.vllm.formulas.allocator import held
from oomph.engines.vllm.weights import ranks as on
from oomph.engines.vllm.weights.kit import Kit
from oomph.engines.vllm.weights.plain import elements
from oomph.engines.vllm.weights.quantized import Weigher
from oomph.engines.vllm.weights.ranks import Ranks, stages
from oomph.engines.vllm.weights.served import served
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Latent
from oomph.ledger.weights import Experts, Matrix, Piece

_GRIDS: Final = 4  # times as many rows where positions have a time, a height and a width (rotary_embedding/mrope.py)


def loaded(config: Mapping[str, object], ranks: Ranks, kit: Kit) -> int:
    """Bytes that one rank of this stage holds once its weights are loaded."""
    geometry, quantization = architecture(config), formats(config)
    dtype = served(geometry)
    weigher = None if quantization is None else Weigher(geometry, ranks, quantization, dtype=dtype, kit=kit)
    sizes = (
        size for prefix, piece in _pieces(geometry, ranks) for size in _tensors(piece, prefix, ranks, dtype, weigher)
    )
    return sum(map(held, sizes)) + sum(map(held, positions(config, geometry, dtype)))


def positions(config: Mapping[str, object], geometry: Geometry, dtype: Dtype) -> Iterator[int]:
    """The tables of cosines and sines: one row per position, one for each width that layers rotate."""
    text = config.get("text_config")
    inner = text if isinstance(text, dict) else config
    ropes = [each for name in ("rope_parameters", "rope_scaling") if isinstance(each := inner.get(name), dict)]
    said = [share for each in (inner, *ropes) if isinstance(share := each.get("partial_rotary_factor"), float)]
    sees = "VL" in geometry.architecture  # a config may leave to its class that positions have several axes
    times = _GRIDS if sees or any("mrope_section" in each for each in ropes) else 1
    rows = geometry.context_tokens * times
    for width in _widths(geometry):
        yield int(dtype.size(rows * int(width * (said[0] if said else 1))))


def _widths(geometry: Geometry) -> set[int]:
    mixers = (mixer for layer in {id(each): each for each in geometry.layers}.values() for mixer in layer.mixers)
    return {
        mixer.head_dim if isinstance(mixer, Attention) else mixer.rope_dim
        for mixer in mixers
        if isinstance(mixer, Attention | Latent)
    }


def adapters(geometry: Geometry, dtype: Dtype, rank: int) -> int:
    """Room for one adapter of this rank: two thin matrices beside every one that it may change (lora/layers)."""
    matrices = (
        piece for layer in geometry.layers for piece in layer.weights if isinstance(piece, Matrix) and not piece.plain
    )
    return int(dtype.size(rank * sum(len(each.parts) * each.inputs + each.outputs for each in matrices)))


def _pieces(geometry: Geometry, ranks: Ranks) -> Iterator[tuple[str, Piece]]:
    around = (*geometry.everywhere, *geometry.towers)
    around += geometry.embedding if ranks.first else ()
    around += geometry.closing if ranks.last else ()
    yield from (("", piece) for piece in around)
    counts = stages(len(geometry.layers), ranks.pipeline)
    begin = sum(counts[: ranks.stage])
    for index in range(begin, begin + counts[ranks.stage]):
        yield from ((f"{geometry.prefix}.{index}", piece) for piece in geometry.layers[index].weights)


def _tensors(piece: Piece, prefix: str, ranks: Ranks, dtype: Dtype, weigher: Weigher | None) -> Iterator[int]:
    """Every tensor by itself, since each is rounded."""
    scheme = None if weigher is None else weigher.scheme(piece, prefix)
    if weigher is not None and scheme is not None:
        yield from (int(each.dtype.size(each.elements)) for each in weigher.tensors(piece, scheme))
        return
    own = dtype if isinstance(piece, Experts) else piece.dtype or dtype
    yield from (int(own.size(count)) for count in _plain(piece, ranks))


def _plain(piece: Piece, ranks: Ranks) -> tuple[int, ...]:
    if isinstance(piece, Matrix):
        bias = on.bias_on_rank(piece, on.on_rank(piece, on.dividing(piece, ranks))[1])
        return elements(piece, ranks) - bias, bias
    if isinstance(piece, Experts) and not piece.bias:
        maps = 3 if piece.gated else 2  # up and gate are one tensor
        down = elements(piece, ranks) // maps
        return elements(piece, ranks) - down, down
    return (elements(piece, ranks),)
