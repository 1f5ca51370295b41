"""Delta attention by channels between layers of latent attention: the language model of Kimi K3.

Knows its layers, the narrow space in which its experts work, and the norms by which a layer looks back at earlier
blocks. Does not know its tower for pictures, nor Kimi Linear, whose gates are of low rank.
"""

from collections.abc import Callable, Mapping
from typing import Final

from oomph.architectures import hybrid, latent, pieces
from oomph.architectures.config import Config
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Delta, Geometry, Latent, Layer
from oomph.ledger.weights import Divide, Experts, Matrix, Part, Piece, Table, Vector, matrix

_PADDED: Final = 16  # models/kimi_k3/nvidia/kda.py: rows of the map in, on each rank


def read(config: Config) -> Geometry:
    """The language model of Kimi K3; without its tower."""
    architecture, inner = config.items("architectures", str)[0], config.sub("text_config")
    if inner.maybe("num_nextn_predict_layers", least=0):
        why = "layers of Kimi K3 that guess ahead are not known"
        raise inner.refusal("num_nextn_predict_layers", why)
    return text(inner, architecture=architecture, dtype=config.dtype(default=inner.dtype()))


def text(config: Config, *, architecture: str, dtype: Dtype, model: str = "language_model.model") -> Geometry:
    """The language model; `model` is what its names begin with."""
    hidden, vocabulary = config.whole("hidden_size", default=4096), config.whole("vocab_size", default=163840)
    depth = hybrid.count(config)
    linear = config.sub("linear_attn_config")
    delta = set(linear.items("kda_layers", int))  # counted from 1
    kinds = [(index + 1 in delta, _routes(config, index)) for index in range(depth)]
    head = Table(name="lm_head", rows=vocabulary, width=hidden)
    looking = _looking(config, hidden, "output_attn_res")
    return Geometry(
        family="kimi",
        architecture=architecture,
        dtype=dtype,
        hidden=hidden,
        vocabulary=vocabulary,
        context_tokens=config.whole("max_position_embeddings", default=4096),
        layers=hybrid.layers(kinds, lambda kind: _layer(config, linear, hidden, delta=kind[0], routed=kind[1])),
        embedding=pieces.words(vocabulary, hidden, name=f"{model}.embed_tokens"),
        closing=(*pieces.norm(f"{model}.norm", hidden), *looking, head),
        prefix=f"{model}.layers",
    )


def _layer(config: Config, linear: Config, hidden: int, *, delta: bool, routed: bool) -> Layer:
    mixer: Delta | Latent
    if delta:
        mixer = _keeps(linear)
        attends = _delta(mixer, hidden)
    else:
        mixer = Latent(
            heads=config.whole("num_attention_heads", default=32),
            rank=config.whole("kv_lora_rank"),
            rope_dim=config.whole("qk_rope_head_dim"),
        )
        attends = _latent(config, mixer, hidden)
    feed = (
        _experts(config, hidden) if routed else pieces.gated(hidden, config.whole("intermediate_size", default=11008))
    )
    weights = (
        *attends,
        *feed,
        *pieces.norm("input_layernorm", hidden),
        *pieces.norm("post_attention_layernorm", hidden),
        *_looking(config, hidden, "self_attention_res"),
        *_looking(config, hidden, "mlp_res"),
    )
    return Layer(mixers=(mixer,), weights=weights)


def _keeps(linear: Config) -> Delta:
    if not linear.flag("use_full_rank_gate", default=False):
        why = "delta layers with gates of low rank are not known"
        raise linear.refusal("use_full_rank_gate", why)
    heads, dim = linear.whole("num_heads"), linear.whole("head_dim")
    return Delta(
        key_heads=heads,
        value_heads=heads,
        key_dim=dim,
        value_dim=dim,
        kernel=linear.whole("short_conv_kernel_size"),
        channelwise=True,
    )


def _delta(keeps: Delta, hidden: int, *, name: str = "self_attn") -> tuple[Piece, ...]:
    """One map in, of which every rank keeps the way down to the decays whole; they come up by channels."""
    heads, dim = keeps.value_heads, keeps.value_dim
    width = heads * dim
    into = Matrix(
        name=f"{name}.in_proj_qkvgfab",
        inputs=hidden,
        parts=(*(Part(outputs=width),) * 4, Part(outputs=dim, whole=True), Part(outputs=heads)),
        divide=Divide.OUTPUTS,
        sources=tuple(f"{name}.{part}_proj" for part in ("q", "k", "v", "g", "f_a", "b")),
        multiple=_PADDED,
    )
    convolution = pieces.three_windows(name, width, keeps.kernel)
    return (
        into,
        matrix(f"{name}.f_b_proj", dim, width, divide=Divide.OUTPUTS),
        Vector(name=f"{name}.dt_bias", size=width, divided=True, dtype=Dtype.F32),
        convolution,
        Vector(name=f"{name}.A_log", size=heads, divided=True, dtype=Dtype.F32),
        *pieces.norm(f"{name}.o_norm", dim),
        matrix(f"{name}.o_proj", width, hidden, divide=Divide.INPUTS),
    )


def _latent(config: Config, keeps: Latent, hidden: int, *, name: str = "self_attn") -> tuple[Piece, ...]:
    """As elsewhere; with a gate, its map is fused with those down and alone among them divided."""
    nope, values = config.whole("qk_nope_head_dim", least=0), config.whole("v_head_dim")
    rank = config.maybe("q_lora_rank")
    if not config.flag("mla_use_output_gate", default=False):
        return latent.attention(config, keeps)
    gates = keeps.heads * values
    if rank is None:
        return (*latent.attention(config, keeps), matrix(f"{name}.g_proj", hidden, gates, divide=Divide.OUTPUTS))
    into = Matrix(
        name=f"{name}.fused_qkv_a_g_proj",
        inputs=hidden,
        parts=(
            Part(outputs=rank, whole=True),
            Part(outputs=keeps.rank + keeps.rope_dim, whole=True),
            Part(outputs=gates),
        ),
        divide=Divide.OUTPUTS,
        sources=tuple(f"{name}.{part}" for part in ("q_a_proj", "kv_a_proj_with_mqa", "g_proj")),
    )
    queries = matrix(f"{name}.q_b_proj", rank, keeps.heads * (nope + keeps.rope_dim), divide=Divide.OUTPUTS)
    unfolded = latent.unfolded(keeps, hidden, nope=nope, values=values)
    return (into, *pieces.norm(f"{name}.q_a_layernorm", rank), queries, *unfolded)


def _experts(config: Config, hidden: int, *, name: str = "block_sparse_moe") -> tuple[Piece, ...]:
    """Routed experts, which may work in a narrower space between two maps that every rank keeps whole."""
    inner, count = config.whole("moe_intermediate_size"), config.whole("num_experts")
    shared, narrow = config.maybe("num_shared_experts"), config.maybe("routed_expert_hidden_size")
    normed = config.flag("latent_moe_use_norm", default=False)
    return (
        matrix(f"{name}.gate", hidden, count, divide=Divide.NOT, plain=True),
        Vector(name=f"{name}.gate.e_score_correction_bias", size=count, dtype=Dtype.F32),
        Experts(
            name=f"{name}.experts",
            count=count,
            hidden=narrow or hidden,
            inner=inner,
            least=config.whole("min_moe_intermediate_per_partition", default=256),
        ),
        *(pieces.gated(hidden, inner * shared, name=f"{name}.shared_experts") if shared else ()),
        *(_narrowing(hidden, narrow, name, normed=normed) if narrow else ()),
    )


def _narrowing(hidden: int, narrow: int, name: str, *, normed: bool) -> tuple[Piece, ...]:
    return (
        matrix(f"{name}.routed_expert_down_proj", hidden, narrow, divide=Divide.NOT),
        *(pieces.norm(f"{name}.routed_expert_norm", narrow) if normed else ()),
        matrix(f"{name}.routed_expert_up_proj", narrow, hidden, divide=Divide.NOT),
    )


def _looking(config: Config, hidden: int, name: str) -> tuple[Piece, ...]:
    """The norm and the one row that weigh what earlier blocks left."""
    if config.maybe("attn_res_block_size") is None:
        return ()
    return (*pieces.norm(f"{name}_norm", hidden), matrix(f"{name}_proj", hidden, 1, divide=Divide.NOT, plain=True))


def _routes(config: Config, index: int) -> bool:
    first = config.whole("first_k_dense_replace", default=0, least=0)
    step = config.whole("moe_layer_freq", default=1)
    return config.maybe("num_experts") is not None and index >= first and index % step == 0


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {"KimiK3ForConditionalGeneration": read}
