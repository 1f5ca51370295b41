"""Zamba2: Mamba 2 in every layer, and in some of them also one of a few attention blocks that they share.

Knows that a shared block is kept once while its caches and small adapters are each layer's own.
"""

from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Final

from oomph.architectures import hybrid, pieces
from oomph.architectures.config import Config
from oomph.architectures.state import Around, mamba2, model, shared
from oomph.ledger.geometry import Attention, Geometry, Layer, Mamba2
from oomph.ledger.weights import Divide, Piece, matrix

_WORDS: Final = {"mamba": "state", "linear_attention": "state", "hybrid": "hybrid"}


def read(config: Config) -> Geometry:
    """The geometry of a Zamba2; a shared block is counted with the first layer that uses it."""
    kinds = hybrid.listed(config, "layers_block_type", len(config.items("layers_block_type", str)), _WORDS)
    blocks = config.whole("num_mem_blocks", default=1)
    met = list(accumulate(kind == "hybrid" for kind in kinds))
    places = [(kind, kind == "hybrid" and so_far <= blocks) for kind, so_far in zip(kinds, met, strict=True)]
    layers = hybrid.layers(places, lambda place: _layer(config, place[0], brings_block=place[1]))
    return model(config, layers, Around(norm="final_layernorm", ties=True), context_tokens=4096)


def _layer(config: Config, kind: str, *, brings_block: bool) -> Layer:
    hidden = config.whole("hidden_size")
    inner = config.whole("mamba_expand", default=2) * hidden
    heads = config.whole("n_mamba_heads", default=8)
    keeps = Mamba2(
        inner=inner,
        groups=config.whole("mamba_ngroups", default=1),
        state=config.whole("mamba_d_state", default=64),
        heads=heads,
        head_dim=shared(config, "n_mamba_heads", inner, heads),
        kernel=config.whole("mamba_d_conv", default=4),
    )
    name = "mamba_decoder." if kind == "hybrid" else ""
    bias, conv_bias = config.flag("add_bias_linear", default=False), config.flag("use_conv_bias", default=True)
    mixer = (
        *mamba2(keeps, hidden, name=f"{name}mamba", bias=bias, conv_bias=conv_bias),
        *pieces.norm(f"{name}input_layernorm", hidden),
    )
    if kind == "state":
        return Layer(mixers=(keeps,), weights=mixer)
    attention = _attention(config, hidden)
    own = (matrix("linear", hidden, hidden, divide=Divide.NOT), *_adapters(config, hidden))
    block = _block(config, attention, hidden, bias=bias) if brings_block else ()
    return Layer(mixers=(attention, keeps), weights=(*mixer, *own, *block))


def _attention(config: Config, hidden: int) -> Attention:
    """It reads the words beside the hidden state, so it is twice as wide; every head keeps its own keys and values."""
    heads = config.whole("num_attention_heads", default=32)
    return Attention(heads=heads, kv_heads=heads, head_dim=shared(config, "num_attention_heads", 2 * hidden, heads))


def _block(config: Config, attention: Attention, hidden: int, *, bias: bool) -> tuple[Piece, ...]:
    name = "shared_transformer"
    into, _ = pieces.attention(attention, 2 * hidden, name=f"{name}.self_attn")
    return (
        into,
        matrix(f"{name}.self_attn.o_proj", 2 * hidden, hidden, divide=Divide.INPUTS),
        *pieces.gated(hidden, _inner(config, hidden), name=f"{name}.feed_forward", bias=bias),
        *pieces.norm(f"{name}.input_layernorm", 2 * hidden),
        *pieces.norm(f"{name}.pre_ff_layernorm", hidden),
    )


def _adapters(config: Config, hidden: int) -> tuple[Piece, ...]:
    """Of low rank, by which each use of a shared block differs from the others."""
    rank, inner = config.whole("adapter_rank", default=128), _inner(config, hidden)
    feed = "shared_transformer.feed_forward.gate_up_proj_adapter_list"
    found = [
        matrix(f"{feed}.A", hidden, rank, divide=Divide.OUTPUTS),
        matrix(f"{feed}.B", rank, inner, inner, divide=Divide.OUTPUTS),
    ]
    if config.flag("use_shared_attention_adapter", default=False):
        for part in "qkv":
            name = f"shared_transformer.self_attn.linear_{part}_adapter_list"
            found.append(matrix(f"{name}.A", 2 * hidden, rank, divide=Divide.OUTPUTS))
            found.append(matrix(f"{name}.B", rank, 2 * hidden, divide=Divide.OUTPUTS))
    return tuple(found)


def _inner(config: Config, hidden: int) -> int:
    return config.whole("intermediate_size", default=4 * hidden)


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {"Zamba2ForCausalLM": read}
