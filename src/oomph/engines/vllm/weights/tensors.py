"""The tensors of one rank, each as PyTorch's allocator holds it.

Knows which pieces a stage of the pipeline has, and sums their blocks, layer kinds first. Does not know what is loaded
beside the model itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple, Protocol

from oomph.engines.vllm.formulas.allocator import held
from oomph.engines.vllm.weights import ranks as on
from oomph.engines.vllm.weights.kit import Kit
from oomph.engines.vllm.weights.plain import elements
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import around, mine
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry, Layer
from oomph.ledger.ledger import Basis
from oomph.ledger.quantization import Quantization, Scheme
from oomph.ledger.weights import Experts, Matrix, Piece, Table
from oomph.units import Bounds


class Weighs(Protocol):
    """What the formats are asked."""

    def scheme(self, piece: Piece, prefix: str = ...) -> Scheme | None:
        """What becomes of a piece below this name; None: it stays as it is."""

    def tensors(self, piece: Piece, scheme: Scheme | None) -> Iterator[tuple[str, Dtype, int]]:
        """What a piece is made of: by name, format and number of elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Blocks of the allocator."""

    size: int = 0
    largest: int = 0  # the largest of them
    repacked: int = 0  # the largest of those that a kernel lays out anew once it is loaded

    def __add__(self, other: "Held") -> "Held":
        return Held(
            size=self.size + other.size,
            largest=max(self.largest, other.largest),
            repacked=max(self.repacked, other.repacked),
        )


class Draft(NamedTuple):
    """What a draft adds to one rank."""

    size: Bounds
    copies: int = 0  # words and head that it has of its own until it shares the model's
    basis: Basis = Basis.COMPUTED


class Scale:
    """Weighs the pieces of one rank; remembers what it has weighed."""

    def __init__(
        self, geometry: Geometry, ranks: Ranks, *, dtype: Dtype, quantization: Quantization | None, kit: Kit
    ) -> None:
        self._geometry, self._ranks, self._dtype = geometry, ranks, dtype
        self._weigher: Weighs | None = None
        if quantization is not None:
            # Imported when it is needed: the formats take longer to import than a plain model takes to weigh.
            quantized = import_module("oomph.engines.vllm.weights.quantized")
            self._weigher = quantized.Weigher(geometry, ranks, quantization, dtype=dtype, kit=kit)
        self._known: dict[tuple[int, Scheme | None], Held] = {}  # the geometry keeps its pieces alive

    def around(self, *, towers: bool) -> Held:
        """What stands before, after and beside the layers of this stage."""
        return self._sum(around(self._geometry, self._ranks, towers=towers), "")

    def layers(self) -> Held:
        """The layers of this stage."""
        begin, own = mine(self._geometry, self._ranks)
        if self._weigher is not None:  # a config may treat equal layers differently
            below = self._geometry.prefix
            return sum((self.layer(layer, f"{below}.{index}") for index, layer in enumerate(own, begin)), Held())
        kinds = {id(layer): layer for layer in own}
        once = {kind: self.layer(layer, "") for kind, layer in kinds.items()}
        return sum((once[id(layer)] for layer in own), Held())

    def layer(self, layer: Layer, name: str) -> Held:
        """One layer of this name."""
        return self._sum(layer.weights, name)

    def piece(self, piece: Piece, name: str = "") -> Held:
        """One piece below this name."""
        scheme = None if self._weigher is None else self._weigher.scheme(piece, name)
        key = id(piece), scheme
        if key not in self._known:
            sizes = tuple(held(size) for size in self._tensors(piece, scheme))
            moved = scheme is not None or isinstance(piece, Experts)
            largest = max(sizes, default=0)
            self._known[key] = Held(size=sum(sizes), largest=largest, repacked=largest if moved else 0)
        return self._known[key]

    def _sum(self, pieces: Iterator[Piece] | tuple[Piece, ...], name: str) -> Held:
        return sum((self.piece(piece, name) for piece in pieces), Held())

    def _tensors(self, piece: Piece, scheme: Scheme | None) -> Iterator[int]:
        if self._weigher is not None and scheme is not None:
            yield from (int(own.size(count)) for _, own, count in self._weigher.tensors(piece, scheme))
            return
        dtype = self._dtype if isinstance(piece, Experts) else piece.dtype or self._dtype
        yield from (int(dtype.size(count)) for count in self._plain(piece))

    def _plain(self, piece: Piece) -> tuple[int, ...]:
        """Numbers of each tensor of a piece that is not quantized."""
        whole = elements(piece, self._ranks)
        if isinstance(piece, Matrix):
            bias = on.bias_on_rank(piece, on.on_rank(piece, on.dividing(piece, self._ranks))[1])
            return whole - bias, bias
        if isinstance(piece, Experts) and not piece.bias:
            down = whole // (3 if piece.gated else 2)  # up and gate are one tensor
            return whole - down, down
        return (whole,)


def words(geometry: Geometry) -> tuple[Table, ...]:
    """The tables of words, one of them or both: where words come in, and the head where it is not the same."""
    pieces = (*geometry.everywhere, *geometry.embedding, *geometry.closing)
    return tuple(piece for piece in pieces if isinstance(piece, Table))
