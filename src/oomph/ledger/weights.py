"""What a model's layers are made of: matrices, vectors, tables and experts, by shape.

Knows shapes of the whole model and which side of a matrix may be divided. Does not know formats, ranks or engines: each
engine turns these pieces into the bytes that one of its ranks allocates.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from oomph.ledger.dtype import Dtype


class Divide(StrEnum):
    """Which side of a matrix may be divided between ranks."""

    NOT = "not"  # every rank keeps all of it
    OUTPUTS = "outputs"  # column-parallel
    INPUTS = "inputs"  # row-parallel


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One of the matrices that are fused into one, by its outputs."""

    outputs: int
    heads: int | None = None  # of KV heads: with more ranks than heads, ranks keep copies
    whole: bool = False  # every rank keeps all of it, although the other parts are divided


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A linear map; several that read the same input may be fused."""

    name: str  # below its layer, as the engine names it: `self_attn.qkv_proj`
    inputs: int
    parts: tuple[Part, ...]
    divide: Divide
    bias: bool = False
    plain: bool = False  # never quantized, whatever the checkpoint's format: routers, gates
    sources: tuple[str, ...] = ()  # the names in the checkpoint, where fused ones differ: `self_attn.q_proj`, …
    dtype: Dtype | None = None  # where it is not the model's
    multiple: int = 1  # outputs on one rank are padded to a multiple of this
    heads: int | None = None  # undivided by ranks that cannot divide so many heads evenly
    with_tokens: bool = False  # undivided where whole experts let the ranks divide the tokens instead

    @property
    def outputs(self) -> int:
        """Of all parts."""
        return sum(part.outputs for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """A norm, a bias of its own, a decay: numbers that are no map."""

    name: str
    size: int
    divided: bool = False
    heads: int | None = None  # of KV heads, where it is divided: with more ranks than heads, ranks keep copies
    dtype: Dtype | None = None  # where it is not the model's
    multiple: int = 1  # what one rank keeps is padded to a multiple of this


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """An embedding: one row per word of the vocabulary, padded and divided by rows."""

    name: str
    rows: int
    width: int
    bias: bool = False
    dtype: Dtype | None = None  # where it is not the model's


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """The routed experts of one layer: each an up (and gate) map and a down map."""

    name: str
    count: int
    hidden: int
    inner: int  # width of one expert
    gated: bool = True
    bias: bool = False
    least: int = 1  # where each expert is divided, its share is padded to this width


Piece: TypeAlias = Matrix | Vector | Table | Experts


def matrix(
    name: str,
    inputs: int,
    *outputs: int,
    divide: Divide,
    bias: bool = False,
    plain: bool = False,
    sources: tuple[str, ...] = (),
    dtype: Dtype | None = None,
) -> Matrix:
    """A matrix whose parts are divided evenly."""
    parts = tuple(Part(outputs=size) for size in outputs)
    return Matrix(
        name=name, inputs=inputs, parts=parts, divide=divide, bias=bias, plain=plain, sources=sources, dtype=dtype
    )
