"""Attention between or beside Mamba 2 states, with an ordinary feed-forward: Falcon-H1, Granite 4 and Bamba.

Knows these three; they share the names of their fields for the state.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from oomph.architectures import hybrid, pieces
from oomph.architectures.config import Config
from oomph.architectures.state import Around, attends, mamba2, model, shared
from oomph.ledger.geometry import Geometry, Layer, Mamba2
from oomph.ledger.weights import Divide, Piece, matrix

_FINAL: Final = Around(norm="final_layernorm")
_WORDS: Final = {
    "mamba": "state",
    "linear_attention": "state",
    "attention": "attention",
    "full_attention": "attention",
}


def _keeps(config: Config, inner: int) -> Mamba2:
    heads = config.whole("mamba_n_heads", default=128)
    auto = config.raw("mamba_d_head") in (None, "auto")
    return Mamba2(
        inner=inner,
        groups=config.whole("mamba_n_groups", default=1),
        state=config.whole("mamba_d_state", default=256),
        heads=heads,
        head_dim=shared(config, "mamba_n_heads", inner, heads) if auto else config.whole("mamba_d_head"),
        kernel=config.whole("mamba_d_conv", default=4),
    )


def _mixer(config: Config, keeps: Mamba2, name: str, *, norm: bool = True) -> tuple[Piece, ...]:
    return mamba2(
        keeps,
        config.whole("hidden_size"),
        name=name,
        bias=config.flag("mamba_proj_bias", default=False),
        conv_bias=config.flag("mamba_conv_bias", default=True),
        norm=norm,
    )


def _falcon_h1(config: Config) -> Geometry:
    """Every layer attends and keeps a state, side by side."""
    hidden = config.whole("hidden_size")
    attention = attends(config, head_dim=config.maybe("head_dim"))
    keeps = _keeps(config, config.whole("mamba_d_ssm"))
    layer = Layer(
        mixers=(attention, keeps),
        weights=(
            *pieces.attention(attention, hidden),
            *_mixer(config, keeps, "mamba.mamba", norm=config.flag("mamba_rms_norm", default=False)),
            *pieces.gated(hidden, config.whole("intermediate_size"), name="feed_forward"),
            *pieces.norm("input_layernorm", hidden),
            *pieces.norm("pre_ff_layernorm", hidden),
        ),
    )
    return model(config, (layer,) * hybrid.count(config), _FINAL, context_tokens=8192)


def _granite(config: Config) -> Geometry:
    """Attention in a few layers, states in the others, and the same feed-forward in all."""
    hidden, depth = config.whole("hidden_size"), hybrid.count(config)
    listed = "layer_types" if "layer_types" in config else "layers_block_type"
    kinds = hybrid.listed(config, listed, depth, _WORDS) if listed in config else ["state"] * depth
    feed = (
        *_granite_feed(config, hidden),
        *pieces.norm("input_layernorm", hidden),
        *pieces.norm("post_attention_layernorm", hidden),
    )

    def layer(kind: str) -> Layer:
        if kind == "attention":
            attention = attends(config)
            maps = pieces.attention(attention, hidden, bias=config.flag("attention_bias", default=False))
            return Layer(mixers=(attention,), weights=(*maps, *feed))
        keeps = _keeps(config, config.whole("mamba_expand", default=2) * hidden)
        return Layer(mixers=(keeps,), weights=(*_mixer(config, keeps, "mamba"), *feed))

    return model(config, hybrid.layers(kinds, layer), Around(uncut=True), context_tokens=2048)


def _granite_feed(config: Config, hidden: int) -> tuple[Piece, ...]:
    """Routed experts, and a shared feed-forward beside them; either may be absent."""
    experts = config.whole("num_local_experts", default=8, least=0)
    shared = config.whole("shared_intermediate_size", default=1024, least=0)
    routed = (
        pieces.routed(hidden, config.whole("intermediate_size"), experts, name="block_sparse_moe") if experts else ()
    )
    beside = (
        (
            matrix("shared_mlp.input_linear", hidden, shared, shared, divide=Divide.OUTPUTS),
            matrix("shared_mlp.output_linear", shared, hidden, divide=Divide.INPUTS),
        )
        if shared
        else ()
    )
    return (*routed, *beside)


def _bamba(config: Config) -> Geometry:
    """As Granite, with a dense feed-forward; vLLM has it up to 0.22."""
    hidden, depth = config.whole("hidden_size"), hybrid.count(config)
    attending = set(config.items("attn_layer_indices", int, default=[]))
    feed = (
        *pieces.gated(hidden, config.whole("intermediate_size", default=14336), name="feed_forward"),
        *pieces.norm("input_layernorm", hidden),
        *pieces.norm("pre_ff_layernorm", hidden),
    )

    def layer(kind: bool) -> Layer:  # noqa: FBT001 - the kind of a layer, here of two
        if kind:
            attention = attends(config)
            return Layer(mixers=(attention,), weights=(*pieces.attention(attention, hidden), *feed))
        keeps = _keeps(config, config.whole("mamba_expand", default=2) * hidden)
        return Layer(mixers=(keeps,), weights=(*_mixer(config, keeps, "mamba"), *feed))

    kinds = [index in attending for index in range(depth)]
    return model(config, hybrid.layers(kinds, layer), replace(_FINAL, ties=False, uncut=True), context_tokens=262144)


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {
    "FalconH1ForCausalLM": _falcon_h1,
    "GraniteMoeHybridForCausalLM": _granite,
    "BambaForCausalLM": _bamba,
}
