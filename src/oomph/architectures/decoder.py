"""Plain attention with a feed-forward in every layer: what all decoders of that kind have in common.

Knows the differences that change shapes: biases, norms of queries and keys, how many norms, gates, windows, names. Does
not know which architecture differs how. What a file that knows towers needs of it is `text`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from oomph.architectures import classes, hybrid, pieces
from oomph.architectures.config import Config
from oomph.architectures.reach import Reach, alike
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Layer
from oomph.ledger.weights import Piece

Biases: TypeAlias = Callable[[Config], tuple[bool, bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What the engine calls the parts; `model` stands for what the model's own names begin with."""

    attention: str = "self_attn"
    fused: str = "qkv_proj"
    parts: tuple[str, ...] = ("q_proj", "k_proj", "v_proj")  # in the checkpoint; none where it holds them fused
    output: str = "o_proj"
    layers: str = "layers"
    words: str = "embed_tokens"
    norm: str = "norm"
    head: str = "lm_head"


def neither(_config: Config) -> tuple[bool, bool]:
    """No bias into the attention, none back."""
    return False, False


def both(*fields: str, default: bool = False) -> Biases:
    """A bias both ways where any of these fields asks for it."""

    def ask(config: Config) -> tuple[bool, bool]:
        said = any(config.flag(name, default=default) for name in fields)
        return said, said

    return ask


def inward(name: str, *, default: bool = False) -> Biases:
    """A bias of queries, keys and values alone."""
    return lambda config: (config.flag(name, default=default), False)


def llama_biases(config: Config) -> tuple[bool, bool]:
    """Both ways under either name; one field overrules it for queries, keys and values."""
    _, back = both("attention_bias", "bias")(config)
    return config.flag("qkv_bias", default=back), back


def mixer(config: Config, window: int | None = None) -> Attention:
    """One layer's attention, with what missing fields mean everywhere."""
    kv_heads = config.whole("num_key_value_heads", default=config.whole("num_attention_heads"))
    return attends(config, kv_heads=kv_heads, head_dim=config.maybe("head_dim"), window=window)


def square(config: Config, window: int | None) -> Attention:
    """One layer's attention, whose heads divide the hidden size whatever the config has."""
    kv_heads = config.whole("num_key_value_heads", default=config.whole("num_attention_heads"))
    return attends(config, kv_heads=kv_heads, window=window)


def attends(config: Config, *, kv_heads: int, head_dim: int | None = None, window: int | None) -> Attention:
    """One layer's attention; heads divide the hidden size where no width of a head is said."""
    heads, hidden = config.whole("num_attention_heads"), config.whole("hidden_size")
    if kv_heads > heads:
        raise config.refusal(name="num_key_value_heads", why=f"{kv_heads} KV heads cannot serve {heads} heads")
    if head_dim is None and heads > hidden:
        raise config.refusal(name="num_attention_heads", why=f"{heads} heads cannot divide a hidden size of {hidden}")
    return Attention(heads=heads, kv_heads=kv_heads, head_dim=head_dim or hidden // heads, window=window)


def gated(config: Config, hidden: int) -> tuple[Piece, ...]:
    """The feed-forward of Llama."""
    return pieces.gated(hidden, config.whole("intermediate_size"), bias=config.flag("mlp_bias", default=False))


def gated_bare(config: Config, hidden: int) -> tuple[Piece, ...]:
    """A feed-forward with a gate that never has a bias."""
    return pieces.gated(hidden, config.whole("intermediate_size"))


def head_norms(_config: Config, mixes: Attention) -> tuple[Piece, ...]:
    """Norms of queries and keys of one head's width."""
    return pieces.head_norms(mixes)


def wide_norms(_config: Config, mixes: Attention) -> tuple[Piece, ...]:
    """Norms of queries and keys over all heads at once, kept whole on every rank."""
    return (
        *pieces.norm("self_attn.q_norm", mixes.heads * mixes.head_dim),
        *pieces.norm("self_attn.k_norm", mixes.kv_heads * mixes.head_dim),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What tells one dense architecture from another."""

    kind: str  # the model type whose defaults hold where the config names none
    biases: Biases = neither
    mixer: Callable[[Config, int | None], Attention] = mixer
    besides: Callable[[Config, Attention], tuple[Piece, ...]] = lambda _config, _mixes: ()  # in the attention
    feed: Callable[[Config, int], tuple[Piece, ...]] = gated_bare
    norms: Callable[[Config], tuple[str, ...]] = lambda _config: ("input_layernorm", "post_attention_layernorm")
    norm_bias: bool = False
    reach: Reach = alike
    tied: bool = False  # always: there is no head of its own, whatever the config has
    uncut: bool = False  # every stage of a pipeline builds what stands around the layers
    names: Names = field(default_factory=Names)


def text(
    config: Config, build: Build, *, architecture: str, dtype: Dtype, model: str = "model", tied: bool | None = None
) -> Geometry:
    """The language model; `model` is what its names begin with, `tied` what a config around it says of the head."""
    config = config.over(classes.defaults(config.text("model_type", default=build.kind)))
    hidden, vocabulary, names = config.whole("hidden_size"), config.whole("vocab_size"), build.names
    tied = build.tied or (config.flag("tie_word_embeddings", default=False) if tied is None else tied)
    windows = build.reach(config, hybrid.count(config))
    outside = model.removesuffix("model") if model.endswith("model") else ""  # the head stands beside the model
    return Geometry(
        family="dense",
        architecture=architecture,
        dtype=dtype,
        hidden=hidden,
        vocabulary=vocabulary,
        context_tokens=config.whole("model_max_length", "max_position_embeddings"),
        layers=hybrid.layers(windows, lambda window: _layer(config, build, window)),
        embedding=pieces.words(vocabulary, hidden, name=f"{model}.{names.words}"),
        closing=(
            *pieces.norm(f"{model}.{names.norm}", hidden, bias=build.norm_bias),
            *(() if tied else pieces.words(vocabulary, hidden, name=f"{outside}{names.head}")),
        ),
        tied=tied,
        uncut=build.uncut,
        prefix=f"{model}.{names.layers}",
    )


def read(config: Config, build: Build, *, model: str = "model") -> Geometry:
    """A model of text alone; a config without these two is a fragment, whatever a class would make of it."""
    for name in ("hidden_size", "num_hidden_layers"):
        config.whole(name)
    architecture = config.items("architectures", str)[0]
    return text(config, build, architecture=architecture, dtype=config.dtype(), model=model)


def _layer(config: Config, build: Build, window: int | None) -> Layer:
    mixes = build.mixer(config, window)
    hidden = config.whole("hidden_size")
    norms = (piece for name in build.norms(config) for piece in pieces.norm(name, hidden, bias=build.norm_bias))
    return Layer(
        mixers=(mixes,),
        weights=(
            *_attention(config, build, mixes),
            *build.besides(config, mixes),
            *build.feed(config, hidden),
            *norms,
        ),
    )


def _attention(config: Config, build: Build, mixes: Attention) -> tuple[Piece, ...]:
    (bias, output_bias), names = build.biases(config), build.names
    into, back = pieces.attention(
        mixes,
        config.whole("hidden_size"),
        name=names.attention,
        bias=bias,
        output_bias=output_bias,
        fused=names.fused,
        output=names.output,
    )
    return replace(into, sources=tuple(f"{names.attention}.{part}" for part in names.parts)), back
