"""What a model is: its layers, what each keeps per token or per sequence, and what each is made of.

Knows shapes of the whole model. Does not know how a config names them (`architectures`), how they are split over
ranks, nor in which pages an engine keeps them (`engines`).
"""

from dataclasses import dataclass
from typing import TypeAlias

from oomph.ledger.dtype import Dtype
from oomph.ledger.rotary import Rotary
from oomph.ledger.weights import Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """Keeps keys and values of every token, or of the last `window`, or of the current `chunk`."""

    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int | None = None  # where values are narrower or wider than keys
    window: int | None = None
    chunk: int | None = None
    indexer_dim: int | None = None  # of the keys by which sparse attention picks blocks, in a cache of their own

    def __post_init__(self) -> None:
        _positive(self, "heads", "kv_heads", "head_dim", "value_dim", "window", "chunk", "indexer_dim")
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
class Compressed:
    """Keeps one vector per token of the last `window`, and beside them one for every `ratio` tokens (DeepSeek V4)."""

    heads: int
    head_dim: int  # of that vector, which all heads share
    rope_dim: int  # the part of it that is never quantized
    window: int
    ratio: int | None = None  # None: the window is all it keeps
    overlap: int = 1  # how many runs of `ratio` tokens one compressed vector is made from
    indexer_dim: int | None = None  # of the compressed keys by which sparse attention picks, in a cache of their own

    def __post_init__(self) -> None:
        _positive(self, "heads", "head_dim", "rope_dim", "window", "ratio", "overlap", "indexer_dim")

    @property
    def pending_tokens(self) -> int:
        """The last tokens that are kept uncompressed until their vector is made; none where nothing is compressed."""
        return self.overlap * (self.ratio or 0)

    def pending(self, width: int) -> int:
        """Numbers kept per such token for vectors of this width: values and scores of every run it is part of."""
        return 2 * self.overlap * width


@dataclass(frozen=True, slots=True, kw_only=True)
class Mamba1:
    """Keeps a convolution window and a state per channel, of fixed size per sequence."""

    inner: int
    state: int
    kernel: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mamba2:
    """Keeps a convolution window and a state per head, of fixed size per sequence."""

    inner: int
    groups: int
    state: int
    heads: int
    head_dim: int
    kernel: int
    state_dtype: Dtype | None = None  # what the config asks the state to be kept in; None: it is silent


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """Keeps a convolution window and one key-by-value matrix per head (gated delta net), of fixed size per sequence."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int
    channelwise: bool = False  # decays each channel by its own gate (Kimi delta attention)
    state_dtype: Dtype | None = None  # what the config asks the matrices to be kept in; None: it is silent


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortConvolution:
    """Keeps only a convolution window, of fixed size per sequence."""

    inner: int
    kernel: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lightning:
    """Keeps one square matrix per head (linear attention), of fixed size per sequence."""

    heads: int
    head_dim: int


Recurrent: TypeAlias = Mamba1 | Mamba2 | Delta | ShortConvolution | Lightning
Mixer: TypeAlias = Attention | Latent | Compressed | Recurrent


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer: what it keeps, and what it is made of."""

    mixers: tuple[Mixer, ...]  # none for a layer without attention; two for attention beside a state
    weights: tuple[Piece, ...] = ()
    shares: int | None = None  # the index of the layer whose cache it reads instead of keeping its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The largest picture that a model takes in one piece."""

    tokens: int  # that it becomes among the words
    patches: int  # that its tower sees

    def __post_init__(self) -> None:
        _positive(self, "tokens", "patches")


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """What a model is, as far as memory is concerned."""

    family: str
    architecture: str
    dtype: Dtype
    hidden: int
    vocabulary: int
    context_tokens: int
    layers: tuple[Layer, ...]
    rotary: tuple[Rotary, ...] = ()  # every way in which layers turn heads by position; none where none does
    usual_tokens: int | None = None  # of context, before it was stretched by tables for long requests (LongRoPE)
    embedding: tuple[Piece, ...] = ()  # before the layers: on the first stage of a pipeline
    closing: tuple[Piece, ...] = ()  # after them: on the last stage
    everywhere: tuple[Piece, ...] = ()  # beside them: on every stage
    tied: bool = False  # the head is the embedding, kept once where one rank has both
    uncut: bool = False  # every stage of a pipeline builds what stands before and after the layers
    towers: tuple[Piece, ...] = ()  # for pictures, video and sound: on every stage; none for text alone
    draft: tuple[Layer, ...] = ()  # layers that only guess ahead (MTP), built when speculation asks for them
    draft_extra: tuple[Piece, ...] = ()  # what the draft has besides its layers
    chosen: int | None = None  # experts that one token goes through; None: the config does not say, or has none
    sight: Sight | None = None  # None: it sees nothing, or its config does not say how much
    prefix: str = "model.layers"  # of the layers' names in this engine

    def __post_init__(self) -> None:
        _positive(self, "hidden", "vocabulary", "context_tokens")
        for index, layer in enumerate(self.layers):
            if layer.shares is not None and not 0 <= layer.shares < index:
                message = f"layer {index} shares the cache of layer {layer.shares}, which does not precede it"
                raise ValueError(message)

    @property
    def keeping(self) -> tuple[Layer, ...]:
        """The layers with a cache of their own."""
        return tuple(layer for layer in self.layers if layer.shares is None and layer.mixers)


def _positive(noun: object, *names: str) -> None:
    """Refuse what a broken config may say; None means that the model has no such thing."""
    for name in names:
        value = getattr(noun, name)
        if value is not None and value <= 0:
            message = f"{type(noun).__name__}: {name} must be positive, not {value}"
            raise ValueError(message)
