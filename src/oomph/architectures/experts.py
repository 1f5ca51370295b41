"""Ordinary attention with routed experts in some or all layers: Mixtral, Qwen's, GLM, MiniMax M2 and their kin.

Knows which layers route, what stands beside the router, and which biases and norms attention has. Does not know models
whose layers attend differently (`experts_mixed.py`), nor towers for pictures and sound.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from oomph.architectures import expert_classes as classes
from oomph.architectures import pieces, routed
from oomph.architectures.config import Config
from oomph.architectures.routed import Build, Reader
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry
from oomph.ledger.weights import Divide, Piece, Vector, matrix


def _qwen_sparse(config: Config, count: int) -> list[bool]:
    some = config.whole("num_experts", "num_local_experts", default=1, least=0) > 0
    dense = set(config.items("mlp_only_layers", int, default=[]))
    step = config.whole("decoder_sparse_step", default=1)
    return [some and index not in dense and (index + 1) % step == 0 for index in range(count)]


def _qwen_shared(config: Config, *, always_gate: bool = False) -> tuple[Piece, ...]:
    """An expert that every token takes, by a gate of its own; Qwen2 has the gate even without the expert."""
    hidden = config.whole("hidden_size")
    inner = config.whole("shared_expert_intermediate_size", default=0, least=0)
    gate = matrix("mlp.shared_expert_gate", hidden, 1, divide=Divide.NOT, plain=True)
    return (
        *((gate,) if inner or always_gate else ()),
        *(pieces.gated(hidden, inner, name="mlp.shared_expert") if inner else ()),
    )


def _qwen2_window(config: Config) -> int | None:
    """Where nothing says which layers slide, every second one does not, and then none does."""
    if not config.flag("use_sliding_window", default=False) or (
        "layer_types" not in config and routed.depth(config) > 1
    ):
        return None
    return routed.common_window(config)


def _qwen3_window(config: Config) -> int | None:
    return routed.common_window(config) if config.flag("use_sliding_window", default=False) else None


def _per_head(_config: Config, attends: Attention) -> tuple[Piece, ...]:
    return pieces.head_norms(attends)


def _whole_norms(_config: Config, attends: Attention) -> tuple[Piece, ...]:
    """Norms over all heads at once, kept whole on every rank."""
    return (
        *pieces.norm("self_attn.q_norm", attends.heads * attends.head_dim),
        *pieces.norm("self_attn.k_norm", attends.kv_heads * attends.head_dim),
    )


def _divided_norms(_config: Config, attends: Attention) -> tuple[Piece, ...]:
    """Norms over all heads at once, divided as the heads are."""
    queries, keys = attends.heads * attends.head_dim, attends.kv_heads * attends.head_dim
    return (
        Vector(name="self_attn.q_norm.weight", size=queries, divided=True),
        Vector(name="self_attn.k_norm.weight", size=keys, divided=True, heads=attends.kv_heads),
    )


def _minimax_correction(config: Config) -> tuple[Piece, ...]:
    count = config.whole("num_local_experts", "num_experts", default=256)
    bias = Vector(name="block_sparse_moe.e_score_correction_bias", size=count, dtype=Dtype.F32)
    return (bias,) if config.flag("use_routing_bias", default=False) else ()


def _granite_shared(config: Config) -> tuple[Piece, ...]:
    inner = config.whole("shared_intermediate_size", least=0)
    hidden = config.whole("hidden_size")
    return (
        (
            matrix("shared_mlp.input_linear", hidden, inner, inner, divide=Divide.OUTPUTS),
            matrix("shared_mlp.output_linear", inner, hidden, divide=Divide.INPUTS),
        )
        if inner
        else ()
    )


def _granite_window(config: Config) -> int | None:
    name = "layer_types"
    if name in config:
        raise config.refusal(name, "layers that attend differently are not known of this architecture")
    return config.maybe("sliding_window")


def _several_shared(config: Config, *, field: str) -> tuple[Piece, ...]:
    """Experts that every token takes, built as one."""
    count = config.whole(field, default=0, least=0)
    inner = config.whole("moe_intermediate_size") * count
    return pieces.gated(config.whole("hidden_size"), inner, name="mlp.shared_experts") if count else ()


def _glm_norms(config: Config, attends: Attention) -> tuple[Piece, ...]:
    return pieces.head_norms(attends) if config.flag("use_qk_norm", default=False) else ()


def _glm_sparse(config: Config, count: int) -> list[bool]:
    first = config.whole("first_k_dense_replace", least=0)
    return [index >= first for index in range(count)]


def _ernie_sparse(config: Config, count: int) -> list[bool]:
    first = config.whole("moe_layer_start_index", least=0)
    last = config.whole("moe_layer_end_index", least=-1)
    step = config.whole("moe_layer_interval")
    wanted = range(first, (count if last == -1 else last + 1))
    used = config.flag("use_moe", default=True)
    return [used and index in wanted and (index + 1) % step == 0 for index in range(count)]


MIXTRAL: Final = Build(
    means=classes.MIXTRAL,
    count=("num_local_experts", "num_experts"),
    many=8,
    inner="intermediate_size",
    name="block_sparse_moe",
)
QWEN3: Final = Build(
    means=classes.QWEN3,
    count=("num_experts", "num_local_experts"),
    many=128,
    gate_plain=False,  # it is made with the checkpoint's format, which names it among what stays plain
    shared=_qwen_shared,
    sparse=_qwen_sparse,
    window=_qwen3_window,
    bias="attention_bias",
    head_norms=_per_head,
)
QWEN3_VL: Final = replace(QWEN3, means=classes.QWEN3_VL, many=60)
QWEN3_OMNI: Final = replace(QWEN3, means={})  # its class has defaults, but they are no model
QWEN2: Final = replace(
    QWEN3,
    means=classes.QWEN2,
    many=60,
    gate_plain=True,
    shared=lambda config: _qwen_shared(config, always_gate=True),
    window=_qwen2_window,
    bias=True,
    head_norms=lambda _config, _mixer: (),
    own_head_dim=False,
)
PHI: Final = replace(
    MIXTRAL, means=classes.PHI, many=16, bias=True, output_bias=True, norm_bias=True, head_bias=True, ties=False
)
OLMO: Final = Build(
    means=classes.OLMO,
    count=("num_experts", "num_local_experts"),
    many=64,
    inner="intermediate_size",
    head_norms=_whole_norms,
    own_head_dim=False,
    ties=False,
)
MINIMAX_M2: Final = replace(
    MIXTRAL,
    means=classes.MINIMAX_M2,
    many=256,
    gate_dtype=Dtype.F32,
    shared=_minimax_correction,
    bias="attention_bias",
    head_norms=_divided_norms,
    ties=False,
    uncut=False,
)
GRANITE: Final = replace(MIXTRAL, means=classes.GRANITE, window=_granite_window, own_head_dim=False)
GRANITE_SHARED: Final = replace(GRANITE, shared=_granite_shared)
GLM4: Final = Build(
    means=classes.GLM4,
    count=("n_routed_experts", "num_local_experts"),
    many=128,
    gate_dtype=Dtype.F32,
    correction="gate.e_score_correction_bias",
    shared=partial(_several_shared, field="n_shared_experts"),
    sparse=_glm_sparse,
    bias="attention_bias",
    head_norms=_glm_norms,
    ties=False,
    uncut=False,
)
ERNIE: Final = replace(
    GLM4,
    means=classes.ERNIE,
    count=("moe_num_experts", "num_experts"),
    many=64,
    shared=partial(_several_shared, field="moe_num_shared_experts"),
    sparse=_ernie_sparse,
    bias="use_bias",
    head_norms=lambda _config, _mixer: (),
    ties=True,
)


def glm4(config: Config) -> Geometry:
    """GLM 4.5, with the layers that guess ahead."""
    config.whole("head_dim")  # its class has no default for it, and the engine takes no other
    found = routed.read(config, GLM4)
    count = config.whole("num_nextn_predict_layers", "num_mtp_layers", default=1, least=0)
    routing = routed.layer(config.over(GLM4.means), GLM4, sparse=True)
    return routed.drafting(found, routing, count)


ARCHITECTURES: Final[Mapping[str, Reader]] = {
    "MixtralForCausalLM": partial(routed.read, build=MIXTRAL),
    "PhiMoEForCausalLM": partial(routed.read, build=PHI),
    "Qwen2MoeForCausalLM": partial(routed.read, build=QWEN2),
    "Qwen3MoeForCausalLM": partial(routed.read, build=QWEN3),
    "Qwen3VLMoeForConditionalGeneration": routed.wrapped(partial(routed.read, build=QWEN3_VL), "text_config"),
    "Qwen3OmniMoeForConditionalGeneration": routed.wrapped(
        partial(routed.read, build=QWEN3_OMNI), "thinker_config", "text_config"
    ),
    "OlmoeForCausalLM": partial(routed.read, build=OLMO),
    "GraniteMoeForCausalLM": partial(routed.read, build=GRANITE),
    "GraniteMoeSharedForCausalLM": partial(routed.read, build=GRANITE_SHARED),
    "Glm4MoeForCausalLM": glm4,
    "Ernie4_5_MoeForCausalLM": partial(routed.read, build=ERNIE),
    "MiniMaxM2ForCausalLM": partial(routed.read, build=MINIMAX_M2),
}
