"""States of fixed size per sequence: Mamba and Mamba 2 alone, and between or beside attention layers.

Knows what a Mamba mixer of either kind is made of, and the models that are built of little else. Does not know
Nemotron's patterns, Zamba's shared blocks, nor other kinds of state.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from oomph.architectures import hybrid, pieces
from oomph.architectures.config import Config
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Layer, Mamba1, Mamba2
from oomph.ledger.weights import Divide, Matrix, Part, Piece, Vector, matrix


def mamba1(
    keeps: Mamba1, hidden: int, rank: int, *, name: str, bias: bool, conv_bias: bool, norms: bool
) -> tuple[Piece, ...]:
    """A mixer of the first kind; vLLM never quantizes any of it."""
    inner, state = keeps.inner, keeps.state
    sizes = (("dt", rank), ("b", state), ("c", state)) if norms else ()
    return (
        matrix(f"{name}.conv1d", keeps.kernel, inner, divide=Divide.OUTPUTS, bias=conv_bias, plain=True),
        matrix(f"{name}.in_proj", hidden, inner, inner, divide=Divide.OUTPUTS, bias=bias, plain=True),
        matrix(f"{name}.x_proj", inner, rank + 2 * state, divide=Divide.INPUTS, plain=True),
        matrix(f"{name}.dt_proj", rank, inner, divide=Divide.OUTPUTS, bias=True, plain=True),
        Vector(name=f"{name}.A", size=inner * state, divided=True, dtype=Dtype.F32),
        Vector(name=f"{name}.D", size=inner, divided=True),
        matrix(f"{name}.out_proj", inner, hidden, divide=Divide.INPUTS, bias=bias, plain=True),
        *(piece for part, size in sizes for piece in pieces.norm(f"{name}.{part}_layernorm", size)),
    )


def mamba2(
    keeps: Mamba2, hidden: int, *, name: str, bias: bool, conv_bias: bool, norm: bool = True
) -> tuple[Piece, ...]:
    """A mixer of the second kind. A single group is copied to every rank, as a single KV head is."""
    inner = Part(outputs=keeps.inner)
    group = Part(outputs=keeps.groups * keeps.state, heads=keeps.groups)
    steps = Part(outputs=keeps.heads)

    def maps(part: str, inputs: int, parts: tuple[Part, ...], *, bias: bool, plain: bool = False) -> Matrix:
        named = f"{name}.{part}"
        return Matrix(name=named, inputs=inputs, parts=parts, divide=Divide.OUTPUTS, bias=bias, plain=plain)

    return (
        maps("conv1d", keeps.kernel, (inner, group, group), bias=conv_bias, plain=True),
        maps("in_proj", hidden, (inner, inner, group, group, steps), bias=bias),
        Vector(name=f"{name}.A", size=keeps.heads, divided=True, dtype=Dtype.F32),
        Vector(name=f"{name}.D", size=keeps.heads, divided=True),
        Vector(name=f"{name}.dt_bias", size=keeps.heads, divided=True),
        matrix(f"{name}.out_proj", keeps.inner, hidden, divide=Divide.INPUTS, bias=bias),
        *((Vector(name=f"{name}.norm.weight", size=keeps.inner, divided=True),) if norm else ()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What the words, the last norm and the head are called, and whether the head is the words again."""

    name: str = "model"
    words: str = "embed_tokens"
    norm: str = "norm"
    tied: bool = False  # what a config means that does not say
    ties: bool | None = None  # what vLLM does whatever the config says; None: it does as the config says
    uncut: bool = False  # every stage of a pipeline builds them


_BACKBONE: Final = Around(name="backbone", words="embeddings", norm="norm_f", uncut=True)


def model(config: Config, layers: tuple[Layer, ...], around: Around, *, context_tokens: int) -> Geometry:
    """The layers with what all of these have around them; `context_tokens` is what a config means that does not say."""
    hidden, vocabulary = config.whole("hidden_size"), config.whole("vocab_size")
    said = config.flag("tie_embedding", "tie_word_embeddings", default=around.tied)
    tied = said if around.ties is None else around.ties
    return Geometry(
        family="state",
        architecture=config.items("architectures", str)[0],
        dtype=config.dtype(),
        hidden=hidden,
        vocabulary=vocabulary,
        context_tokens=config.whole("max_position_embeddings", default=context_tokens),
        layers=layers,
        embedding=pieces.words(vocabulary, hidden, name=f"{around.name}.{around.words}"),
        closing=pieces.closing(vocabulary, hidden, tied=tied, norm_name=f"{around.name}.{around.norm}"),
        tied=tied,
        uncut=around.uncut,
        prefix=f"{around.name}.layers",
    )


def attends(
    config: Config, *, head_dim: int | None = None, window: int | None = None, silent: int | None = None
) -> Attention:
    """One layer's attention; `silent` is how many KV heads a config means that does not say, None as many as heads."""
    heads, kv = config.whole("num_attention_heads"), "num_key_value_heads"
    kv_heads = config.whole(kv, default=silent or heads)
    if kv_heads > heads:
        raise config.refusal(kv, f"{kv_heads} KV heads cannot serve {heads} heads")
    return Attention(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim or shared(config, "num_attention_heads", config.whole("hidden_size"), heads),
        window=window,
    )


def shared(config: Config, name: str, width: int, heads: int) -> int:
    """The width of one head; `name` is the field that counts the heads."""
    if heads > width:
        raise config.refusal(name, f"{heads} heads cannot share a width of {width}")
    return width // heads


def _rank(config: Config, name: str, hidden: int) -> int:
    """Of the map of time steps; `auto` is a sixteenth of the hidden size, rounded up."""
    return -(-hidden // 16) if config.raw(name) in (None, "auto") else config.whole(name)


def _pure_mamba1(config: Config) -> Geometry:
    """Falcon Mamba norms what it reads from the state, with norms that have no weights."""
    hidden = config.whole("hidden_size")
    keeps = Mamba1(
        inner=config.whole("expand", default=2) * hidden,
        state=config.whole("state_size", default=16),
        kernel=config.whole("conv_kernel", default=4),
    )
    mixer = mamba1(
        keeps,
        hidden,
        _rank(config, "time_step_rank", hidden),
        name="mixer",
        bias=config.flag("use_bias", default=False),
        conv_bias=config.flag("use_conv_bias", default=True),
        norms=False,
    )
    layer = Layer(mixers=(keeps,), weights=(*mixer, *pieces.norm("norm", hidden)))
    layers = (layer,) * hybrid.count(config)
    return model(config, layers, replace(_BACKBONE, tied=True), context_tokens=2048)


def _pure_mamba2(config: Config) -> Geometry:
    hidden = config.whole("hidden_size")
    heads, head_dim = config.whole("num_heads", default=128), config.whole("head_dim", default=64)
    keeps = Mamba2(
        inner=config.maybe("intermediate_size") or config.whole("expand", default=2) * hidden,
        groups=config.whole("n_groups", default=8),
        state=config.whole("state_size", default=128),
        heads=heads,
        head_dim=head_dim,
        kernel=config.whole("conv_kernel", default=4),
    )
    bias, conv_bias = config.flag("use_bias", default=False), config.flag("use_conv_bias", default=True)
    mixer = mamba2(keeps, hidden, name="mixer", bias=bias, conv_bias=conv_bias)
    layer = Layer(mixers=(keeps,), weights=(*mixer, *pieces.norm("norm", hidden)))
    layers = (layer,) * hybrid.count(config)
    return model(config, layers, _BACKBONE, context_tokens=2048)


def _jamba(config: Config) -> Geometry:
    hidden, inner = config.whole("hidden_size"), config.whole("intermediate_size", default=14336)
    keeps = Mamba1(
        inner=config.whole("mamba_expand", default=2) * hidden,
        state=config.whole("mamba_d_state", default=16),
        kernel=config.whole("mamba_d_conv", default=4),
    )
    experts = config.whole("num_experts", default=16)

    def layer(kind: tuple[bool, bool]) -> Layer:
        attending, sparse = kind
        mixer = (
            pieces.attention(attends(config), hidden)
            if attending
            else mamba1(
                keeps,
                hidden,
                _rank(config, "mamba_dt_rank", hidden),
                name="mamba",
                bias=config.flag("mamba_proj_bias", default=False),
                conv_bias=config.flag("mamba_conv_bias", default=True),
                norms=True,
            )
        )
        feed = (
            pieces.routed(hidden, inner, experts, name="feed_forward", gate="router")
            if sparse
            else pieces.gated(hidden, inner, name="feed_forward")
        )
        norms = (*pieces.norm("input_layernorm", hidden), *pieces.norm("pre_ff_layernorm", hidden))
        return Layer(mixers=(attends(config) if attending else keeps,), weights=(*mixer, *feed, *norms))

    depth = hybrid.count(config)
    attending = _every(config, depth, "attn_layer", period=8, offset=4)
    sparse = [there and experts > 1 for there in _every(config, depth, "expert_layer", period=2, offset=1)]
    kinds = list(zip(attending, sparse, strict=True))
    around = Around(norm="final_layernorm", ties=False, uncut=True)
    return model(config, hybrid.layers(kinds, layer), around, context_tokens=262144)


def _every(config: Config, depth: int, what: str, *, period: int, offset: int) -> list[bool]:
    """Which layers are meant by a period and an offset."""
    period = config.whole(f"{what}_period", default=period)
    offset = config.whole(f"{what}_offset", default=offset, least=0)
    return [index % period == offset for index in range(depth)]


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {
    "MambaForCausalLM": _pure_mamba1,
    "FalconMambaForCausalLM": _pure_mamba1,
    "Mamba2ForCausalLM": _pure_mamba2,
    "JambaForCausalLM": _jamba,
}
