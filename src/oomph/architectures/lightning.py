"""Linear attention between attention layers: MiniMax-Text-01 and M1, which vLLM has up to 0.22.

Knows layers that all have the same experts. Does not know later MiniMax models, which attend in every layer.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from oomph.architectures import hybrid, pieces
from oomph.architectures.config import Config
from oomph.architectures.state import Around, attends, model
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry, Layer, Lightning
from oomph.ledger.weights import Divide, Piece, Table, Vector, matrix

_WORDS: Final = {"linear_attention": "linear", "full_attention": "attention"}
_NUMBERS: Final = {0: "linear", 1: "attention"}


def read(config: Config) -> Geometry:
    """The geometry of a MiniMax with linear attention."""
    depth = hybrid.count(config)
    layers = hybrid.layers(_kinds(config, depth), lambda kind: _layer(config, kind))
    whole = model(config, layers, Around(ties=False), context_tokens=131072)
    return replace(whole, closing=tuple(_wide(piece) for piece in whole.closing))


def _wide(piece: Piece) -> Piece:
    """The head is kept in 32 bits."""
    return replace(piece, dtype=Dtype.F32) if isinstance(piece, Table) else piece


def _kinds(config: Config, depth: int) -> list[str]:
    """By number, by name, or all alike where nothing is listed."""
    if "attn_type_list" not in config:
        listed = "layer_types" in config
        return hybrid.listed(config, "layer_types", depth, _WORDS) if listed else ["attention"] * depth
    numbers = config.items("attn_type_list", int)
    if len(numbers) != depth or not set(numbers) <= _NUMBERS.keys():
        why = f"{depth} numbers, each 0 or 1, were expected"
        raise config.refusal("attn_type_list", why)
    return [_NUMBERS[number] for number in numbers]


def _layer(config: Config, kind: str) -> Layer:
    hidden = config.whole("hidden_size")
    attention = attends(config, head_dim=config.maybe("head_dim"), window=config.maybe("sliding_window"))
    rest = (
        *_feed(config, hidden),
        *pieces.norm("input_layernorm", hidden),
        *pieces.norm("post_attention_layernorm", hidden),
    )
    if kind == "attention":
        return Layer(mixers=(attention,), weights=(*pieces.attention(attention, hidden), *rest))
    keeps = Lightning(heads=attention.heads, head_dim=attention.head_dim)
    inner = keeps.heads * keeps.head_dim
    mixer = (
        matrix("self_attn.qkv_proj", hidden, inner, inner, inner, divide=Divide.OUTPUTS),
        matrix("self_attn.output_gate", hidden, inner, divide=Divide.OUTPUTS),
        matrix("self_attn.out_proj", inner, hidden, divide=Divide.INPUTS),
        Vector(name="self_attn.norm.weight", size=inner, divided=True),
    )
    return Layer(mixers=(keeps,), weights=(*mixer, *rest))


def _feed(config: Config, hidden: int) -> tuple[Piece, ...]:
    """Experts behind a router in 32 bits, or one feed-forward; a shared one beside them where the config says so."""
    inner, experts = config.whole("intermediate_size"), config.whole("num_local_experts", default=1)
    shared = config.maybe("shared_intermediate_size", least=0)
    beside = (
        (
            *pieces.gated(hidden, shared, name="shared_mlp"),
            matrix("coefficient", hidden, 1, divide=Divide.NOT, plain=True, dtype=Dtype.F32),
        )
        if shared
        else ()
    )
    if experts == 1:
        return (*pieces.gated(hidden, inner), *beside)
    return (*pieces.routed(hidden, inner, experts, name="block_sparse_moe", gate_dtype=Dtype.F32), *beside)


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = dict.fromkeys(
    ("MiniMaxText01ForCausalLM", "MiniMaxM1ForCausalLM", "MiniMaxForCausalLM"), read
)
