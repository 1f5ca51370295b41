"""MiniMax M3: sparse attention that picks blocks by keys of its own, over routed experts.

Knows its text model and the layers that guess ahead. Does not know its tower for pictures, nor MiniMax M2, which
attends as everybody does (`experts.py`).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oomph.architectures import expert_classes as classes
from oomph.architectures import pieces, routed
from oomph.architectures.config import Config
from oomph.architectures.routed import Reader
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Layer
from oomph.ledger.weights import Part, Piece

# Which layers route, and which pick blocks, where the config is silent (transformers_utils/configs/minimax_m3.py).
_BY_LAYER: Final = [0] * 3 + [1] * 57


def m3(config: Config) -> Geometry:
    """Its text model."""
    config = config.over(classes.MINIMAX_M3)
    count = routed.depth(config)
    routes = routed.by_layer(config, "moe_layer_freq", int, default=_BY_LAYER)
    picks = _picking(config).items("sparse_attention_freq", int, default=[])
    pattern = [(index < len(picks) and picks[index] != 0, routes[index] != 0) for index in range(count)]
    kinds = {kind: _layer(config, picks=kind[0], routes=kind[1]) for kind in set(pattern)}
    found = routed.assembled(config, tuple(kinds[kind] for kind in pattern))
    guess = _layer(config, picks=True, routes=True)
    drafts = config.whole("num_mtp_modules", least=0)
    return routed.drafting(found, guess, drafts, own_head=False, last="final_layernorm", plain=False)


def _picking(config: Config) -> Config:
    """What the config says about picking blocks, or what its class does where it says nothing."""
    name = "sparse_attention_config"
    means = {"sparse_index_dim": 128, "sparse_num_index_heads": 4, "sparse_attention_freq": _BY_LAYER}
    return config.sub(name) if name in config else Config(means, f"{config.where}: {name}")


def _layer(config: Config, *, picks: bool, routes: bool) -> Layer:
    hidden = config.whole("hidden_size")
    attends = routed.mixer(config)
    if picks:
        attends = replace(attends, indexer_dim=_picking(config).whole("sparse_index_dim"))
    inner = config.whole("dense_intermediate_size")
    feed = _experts(config) if routes else pieces.gated(hidden, inner)
    return Layer(mixers=(attends,), weights=(*_attention(config, attends), *feed, *routed.norms(hidden)))


def _attention(config: Config, attends: Attention) -> tuple[Piece, ...]:
    into, back = pieces.attention(attends, config.whole("hidden_size"))
    norms = pieces.head_norms(attends)
    if attends.indexer_dim is None:
        return into, back, *norms
    name = "sparse_num_index_heads"
    heads = _picking(config).whole(name)
    if heads != attends.kv_heads:  # layers/linear.py asserts it
        raise config.refusal(name, f"{heads} is not the number of KV heads: {attends.kv_heads}")
    index = (Part(outputs=heads * attends.indexer_dim, heads=heads), Part(outputs=attends.indexer_dim, whole=True))
    sources = (*into.sources, "self_attn.index_q_proj", "self_attn.index_k_proj")
    return (
        replace(into, parts=(*into.parts, *index), sources=sources),
        back,
        *norms,
        *pieces.norm("self_attn.index_q_norm", attends.indexer_dim),
        *pieces.norm("self_attn.index_k_norm", attends.indexer_dim),
    )


def _experts(config: Config) -> tuple[Piece, ...]:
    hidden, inner = config.whole("hidden_size"), config.whole("intermediate_size")
    name = "block_sparse_moe"
    shared = config.whole("n_shared_experts", default=0, least=0)
    corrects = config.flag("use_routing_bias", default=False)
    experts = pieces.routed(
        hidden,
        inner,
        config.whole("num_local_experts"),
        name=name,
        gate_dtype=Dtype.F32,
        correction="e_score_correction_bias" if corrects else None,
    )
    return (*experts, *(pieces.gated(hidden, inner * shared, name=f"{name}.shared_experts") if shared else ()))


ARCHITECTURES: Final[Mapping[str, Reader]] = {
    "MiniMaxM3SparseForCausalLM": m3,
    "MiniMaxM3SparseForConditionalGeneration": routed.wrapped(m3, "text_config"),
}
