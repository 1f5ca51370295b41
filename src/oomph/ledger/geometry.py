"""What a model is: its layers, and what each keeps per token or per sequence.

Knows shapes of the whole model. Does not know how a config names them (`architectures`), how they are split over
ranks, nor in which pages an engine keeps them (`engines`).
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

from oomph.ledger.dtype import Dtype
from oomph.units import Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """Keeps keys and values of every token, or of the last `window`, or of the current `chunk`."""

    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int | None = None  # where values are narrower or wider than keys
    window: int | None = None
    chunk: int | None = None

    def __post_init__(self) -> None:
        _positive(self, "heads", "kv_heads", "head_dim", "value_dim", "window", "chunk")
        if self.kv_heads > self.heads:
            message = f"{self.kv_heads} KV heads cannot serve {self.heads} heads"
            raise ValueError(message)

    @property
    def elements(self) -> int:
        """Numbers kept per token and layer: keys and values of every KV head."""
        return self.kv_heads * (self.head_dim + (self.value_dim or self.head_dim))


@dataclass(frozen=True, slots=True, kw_only=True)
class Latent:
    """Keeps one compressed vector per token that all heads share (multi-head latent attention)."""

    heads: int
    rank: int  # of the compressed keys and values
    rope_dim: int  # kept uncompressed beside it
    indexer_dim: int | None = None  # of the keys by which sparse attention picks tokens, in a cache of their own

    def __post_init__(self) -> None:
        _positive(self, "heads", "rank", "rope_dim", "indexer_dim")

    @property
    def elements(self) -> int:
        """Numbers kept per token and layer, without the indexer's."""
        return self.rank + self.rope_dim


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One tensor of a recurrent layer's memory of a sequence."""

    shape: tuple[int, ...]
    dtype: Dtype

    def __post_init__(self) -> None:
        if not self.shape or min(self.shape) <= 0:
            message = f"a state of shape {self.shape} holds nothing"
            raise ValueError(message)

    @property
    def size(self) -> Bytes:
        """Its bytes for one sequence, however long."""
        return self.dtype.size(math.prod(self.shape))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrent:
    """Keeps a state of fixed size per sequence, however long it is."""

    states: tuple[State, ...]

    @property
    def size(self) -> Bytes:
        """All states of one sequence in one layer."""
        return Bytes(sum(state.size for state in self.states))


Mixer: TypeAlias = Attention | Latent | Recurrent


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer by what it keeps; `shares` is the index of the layer whose cache it reads instead of its own."""

    mixer: Mixer
    shares: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """What a model is, as far as memory is concerned."""

    family: str
    dtype: Dtype
    hidden: int
    vocabulary: int
    context_tokens: int
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        _positive(self, "hidden", "vocabulary", "context_tokens")
        for index, layer in enumerate(self.layers):
            if layer.shares is not None and not 0 <= layer.shares < index:
                message = f"layer {index} shares the cache of layer {layer.shares}, which does not precede it"
                raise ValueError(message)

    @property
    def keeping(self) -> tuple[Layer, ...]:
        """The layers with a cache of their own."""
        return tuple(layer for layer in self.layers if layer.shares is None)


def _positive(noun: object, *names: str) -> None:
    """Refuse what a broken config may say; None means that the model has no such thing."""
    for name in names:
        value = getattr(noun, name)
        if value is not None and value <= 0:
            message = f"{type(noun).__name__}: {name} must be positive, not {value}"
            raise ValueError(message)
