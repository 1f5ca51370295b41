"""Short convolutions between attention layers: LFM2, dense and with experts.

Knows both. Does not know the towers of the variants that see or hear.
"""

from collections.abc import Callable, Mapping
from typing import Final

from oomph.architectures import hybrid, pieces
from oomph.architectures.config import Config
from oomph.architectures.state import Around, attends, model
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry, Layer, ShortConvolution
from oomph.ledger.weights import Divide, Piece, Vector, matrix

_LARGEST: Final = 1000  # no feed-forward is stretched as far
_WORDS: Final = {"conv": "convolution", "short_conv": "convolution", "full_attention": "attention"}


def _dense(config: Config) -> Geometry:
    depth = hybrid.count(config)
    feed = _feed(config.whole("block_dim"), _width(config))
    width = config.whole("conv_dim")
    layers = hybrid.layers(_kinds(config, depth), lambda kind: _layer(config, kind, width, feed))
    return _model(config, layers)


def _sparse(config: Config) -> Geometry:
    depth, hidden = hybrid.count(config), config.whole("hidden_size")
    first = config.whole("num_dense_layers", default=2, least=0)
    dense = _feed(hidden, config.whole("intermediate_size", default=7168))
    sparse = _experts(config, hidden)
    kinds = [(kind, index < first) for index, kind in enumerate(hybrid.listed(config, "layer_types", depth, _WORDS))]
    return _model(
        config, hybrid.layers(kinds, lambda kind: _layer(config, kind[0], hidden, dense if kind[1] else sparse))
    )


def _model(config: Config, layers: tuple[Layer, ...]) -> Geometry:
    return model(config, layers, Around(norm="embedding_norm", ties=True), context_tokens=128000)


def _kinds(config: Config, depth: int) -> list[str]:
    """By name where they are listed; older configs list the layers that attend; without either all of them do."""
    if "layer_types" in config:
        return hybrid.listed(config, "layer_types", depth, _WORDS)
    if "full_attn_idxs" not in config:
        return ["attention"] * depth
    attending = set(config.items("full_attn_idxs", int))
    return ["attention" if index in attending else "convolution" for index in range(depth)]


def _layer(config: Config, kind: str, width: int, feed: tuple[Piece, ...]) -> Layer:
    hidden = config.whole("hidden_size")
    rest = (*feed, *pieces.norm("operator_norm", hidden), *pieces.norm("ffn_norm", hidden))
    if kind == "attention":
        attention = attends(config)
        maps = pieces.attention(attention, hidden, output="out_proj")
        head = attention.head_dim
        norms = (*pieces.norm("self_attn.q_layernorm", head), *pieces.norm("self_attn.k_layernorm", head))
        return Layer(mixers=(attention,), weights=(*maps, *norms, *rest))
    keeps = ShortConvolution(inner=width, kernel=config.whole("conv_L_cache", default=3))
    bias = config.flag("conv_bias", default=False)
    mixer = (
        matrix("short_conv.conv", keeps.kernel, width, divide=Divide.OUTPUTS, bias=bias, plain=True),
        matrix("short_conv.in_proj", width, width, width, width, divide=Divide.OUTPUTS, bias=bias),
        matrix("short_conv.out_proj", width, width, divide=Divide.INPUTS, bias=bias),
    )
    return Layer(mixers=(keeps,), weights=(*mixer, *rest))


def _width(config: Config) -> int:
    """Of the feed-forward: two thirds of what is written, times a factor, rounded up to a multiple."""
    inner = config.whole("block_ff_dim", "intermediate_size", default=12288)
    if not config.flag("block_auto_adjust_ff_dim", default=True):
        return inner
    multiple, factor = config.whole("block_multiple_of", default=256), "block_ffn_dim_multiplier"
    times = config.number(factor, default=1.0)
    if not 0 < times < _LARGEST:
        raise config.refusal(factor, f"{times} is not between 0 and {_LARGEST}")
    inner = int(times * int(2 * inner / 3))
    return -(-inner // multiple) * multiple


def _feed(hidden: int, inner: int) -> tuple[Piece, ...]:
    sources = ("feed_forward.w1", "feed_forward.w3")
    return (
        matrix("feed_forward.w13", hidden, inner, inner, divide=Divide.OUTPUTS, sources=sources),
        matrix("feed_forward.w2", inner, hidden, divide=Divide.INPUTS),
    )


def _experts(config: Config, hidden: int) -> tuple[Piece, ...]:
    count = config.whole("num_experts", default=32)
    inner = config.whole("moe_intermediate_size", default=1792)
    bias = Vector(name="feed_forward.gate.e_score_correction_bias", size=count, dtype=Dtype.F32)
    routed = pieces.routed(hidden, inner, count, name="feed_forward")
    return (*routed, bias) if config.flag("use_expert_bias", default=True) else routed


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {
    "Lfm2ForCausalLM": _dense,
    "Lfm2MoeForCausalLM": _sparse,
}
