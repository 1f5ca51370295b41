"""Delta attention by channels, with gates of low rank, between layers of latent attention: Kimi Linear.

Knows a model of text alone. Does not know Kimi K3, whose gates are of full rank (`kimi.py`).
"""

from collections.abc import Callable, Mapping
from typing import Final

from oomph.architectures import hybrid, latent, pieces
from oomph.architectures.config import Config
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Delta, Geometry, Latent, Layer
from oomph.ledger.weights import Divide, Experts, Matrix, Part, Piece, Table, Vector, matrix


def read(config: Config) -> Geometry:
    """The geometry of a Kimi Linear; the layers that keep matrices are listed, counted from 1."""
    _check(config)
    linear, depth, hidden = config.sub("linear_attn_config"), hybrid.count(config), config.whole("hidden_size")
    delta = set(linear.items("kda_layers", int))
    kinds = [(index + 1 in delta, routed) for index, routed in enumerate(_routed(config, depth))]
    vocabulary = config.whole("vocab_size")
    return Geometry(
        family="kimi",
        architecture=config.items("architectures", str)[0],
        dtype=config.dtype(),
        hidden=hidden,
        vocabulary=vocabulary,
        context_tokens=config.whole("model_max_length", "max_position_embeddings", default=4096),
        layers=hybrid.layers(kinds, lambda kind: _layer(config, linear, hidden, delta=kind[0], routed=kind[1])),
        embedding=pieces.words(vocabulary, hidden),
        closing=(*pieces.norm("model.norm", hidden), Table(name="lm_head", rows=vocabulary, width=hidden)),
    )


def _check(config: Config) -> None:
    """Refuse what belongs to Kimi K3, and positions in latent layers, which vLLM refuses as well."""
    linear, nope = config.sub("linear_attn_config"), "mla_use_nope"
    if not config.flag(nope, default=False):
        raise config.refusal(nope, "latent layers of Kimi Linear have no positions; true was expected")
    strange = ("attn_res_block_size", "routed_expert_hidden_size", "mla_use_output_gate", "num_nextn_predict_layers")
    for where, name in (*((config, name) for name in strange), (linear, "use_full_rank_gate")):
        if where.raw(name):
            raise where.refusal(name, "Kimi Linear is not known to have this")


def _routed(config: Config, depth: int) -> list[bool]:
    first = config.whole("first_k_dense_replace", default=0, least=0)
    step = config.whole("moe_layer_freq", default=1)
    some = config.maybe("num_experts") is not None
    return [some and index >= first and index % step == 0 for index in range(depth)]


def _layer(config: Config, linear: Config, hidden: int, *, delta: bool, routed: bool) -> Layer:
    feed = (
        _experts(config, hidden) if routed else pieces.gated(hidden, config.whole("intermediate_size", default=11008))
    )
    rest = (*feed, *pieces.norm("input_layernorm", hidden), *pieces.norm("post_attention_layernorm", hidden))
    if not delta:
        heads = config.whole("num_attention_heads", default=32)
        attends = Latent(heads=heads, rank=config.whole("kv_lora_rank"), rope_dim=config.whole("qk_rope_head_dim"))
        return Layer(mixers=(attends,), weights=(*latent.attention(config, attends), *rest))
    heads, dim = linear.whole("num_heads"), linear.whole("head_dim")
    keeps = Delta(
        key_heads=heads,
        value_heads=heads,
        key_dim=dim,
        value_dim=dim,
        kernel=linear.whole("short_conv_kernel_size"),
        channelwise=True,
    )
    return Layer(mixers=(keeps,), weights=(*_delta(keeps, hidden), *rest))


def _delta(keeps: Delta, hidden: int, *, name: str = "self_attn") -> tuple[Piece, ...]:
    """Decays and gates go down to one head's width, which every rank keeps whole, and come up by channels."""
    heads, dim = keeps.value_heads, keeps.value_dim
    width = heads * dim
    into = Matrix(
        name=f"{name}.in_proj_qkvgfab",
        inputs=hidden,
        parts=(*(Part(outputs=width),) * 3, Part(outputs=heads), Part(outputs=dim, whole=True)),
        divide=Divide.OUTPUTS,
        sources=tuple(f"{name}.{part}_proj" for part in ("q", "k", "v", "b", "f_a")),
    )
    convolution = pieces.three_windows(name, width, keeps.kernel)
    return (
        into,
        convolution,
        matrix(f"{name}.f_b_proj", dim, width, divide=Divide.OUTPUTS),
        matrix(f"{name}.g_a_proj", hidden, dim, divide=Divide.NOT),
        matrix(f"{name}.g_b_proj", dim, width, divide=Divide.OUTPUTS),
        Vector(name=f"{name}.dt_bias", size=width, divided=True, dtype=Dtype.F32),
        Vector(name=f"{name}.A_log", size=heads, divided=True, dtype=Dtype.F32),
        *pieces.norm(f"{name}.o_norm", dim),
        matrix(f"{name}.o_proj", width, hidden, divide=Divide.INPUTS),
    )


def _experts(config: Config, hidden: int, *, name: str = "block_sparse_moe") -> tuple[Piece, ...]:
    inner, count = config.whole("moe_intermediate_size"), config.whole("num_experts")
    shared = config.maybe("num_shared_experts")
    least = config.whole("min_moe_intermediate_per_partition", default=256)
    return (
        matrix(f"{name}.gate", hidden, count, divide=Divide.NOT, plain=True),
        Vector(name=f"{name}.gate.e_score_correction_bias", size=count, dtype=Dtype.F32),
        Experts(name=f"{name}.experts", count=count, hidden=hidden, inner=inner, least=least),
        *(pieces.gated(hidden, inner * shared, name=f"{name}.shared_experts") if shared else ()),
    )


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {"KimiLinearForCausalLM": read}
