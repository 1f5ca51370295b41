"""Qwen3-Next and Qwen3.5 on small configs, weighed by hand."""

import pytest

from oomph.architectures import delta
from oomph.architectures.config import Config
from oomph.architectures.registry import geometry
from oomph.engines.vllm.weights.plain import size
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.errors import UnreadableError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Delta, Geometry, Layer

TEXT: dict[str, object] = {
    "hidden_size": 64,
    "vocab_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 96,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 16,
    "linear_conv_kernel_dim": 4,
    "num_experts": 8,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 48,
    "dtype": "bfloat16",
}


def following(**changes: object) -> Geometry:
    return geometry({"architectures": ["Qwen3NextForCausalLM"], **TEXT, **changes})


def dense(**changes: object) -> Geometry:
    return geometry({"architectures": ["Qwen3_5ForCausalLM"], **TEXT, **changes})


def named(layer: Layer, name: str, ranks: int = 1) -> int:
    return sum(size(each, Ranks(tensor=ranks), Dtype.BF16) for each in layer.weights if each.name.startswith(name))


def test_every_fourth_layer_attends_unless_the_config_says_otherwise() -> None:
    kinds = [type(layer.mixers[0]) for layer in following().layers]
    every_second = [type(layer.mixers[0]) for layer in following(full_attention_interval=2).layers]
    listed = dense(layer_types=["full_attention", *["linear_attention"] * 3])

    assert kinds == [Delta, Delta, Delta, Attention]
    assert every_second == [Delta, Attention] * 2
    assert isinstance(listed.layers[0].mixers[0], Attention)


def test_a_delta_layer_is_two_maps_in_a_convolution_decays_and_a_map_back() -> None:
    keys, values, heads = 2 * 8, 4 * 16, 4
    into = 64 * (2 * keys + 2 * values) + 64 * 2 * heads
    convolution = 4 * (2 * keys + values)
    small = heads + 16  # the bias of its steps, and a norm of one head's width

    assert named(following().layers[0], "linear_attn") == 2 * (into + convolution + small + values * 64) + 4 * heads


def test_two_ranks_halve_everything_but_the_norm_of_a_delta_layer() -> None:
    whole, half = (named(dense().layers[0], "linear_attn", ranks) for ranks in (1, 2))

    assert 2 * half - whole == 2 * 16


def test_each_query_brings_a_gate_unless_the_config_says_otherwise() -> None:
    gated, plain = following().layers[3], following(attn_output_gate=False).layers[3]

    assert named(gated, "self_attn.qkv_proj") == 2 * 64 * (2 * 64 + 32 + 32)
    assert named(plain, "self_attn.qkv_proj") == 2 * 64 * (64 + 32 + 32)


def test_experts_are_in_every_layer_that_is_not_listed_as_dense() -> None:
    layers = following(mlp_only_layers=[1]).layers

    assert named(layers[0], "mlp.experts") == 2 * 8 * 3 * 64 * 32
    assert named(layers[0], "mlp.shared_expert.") == 2 * 3 * 64 * 48
    assert named(layers[1], "mlp") == 2 * 3 * 64 * 96


def test_qwen3_5_is_dense_or_sparse_by_its_architecture() -> None:
    sparse = geometry({"architectures": ["Qwen3_5MoeForCausalLM"], **TEXT})

    assert named(dense().layers[0], "mlp") == 2 * 3 * 64 * 96
    assert named(sparse.layers[0], "mlp.gate") == 2 * 64 * 8


def test_a_layer_that_guesses_ahead_attends_and_is_one_if_the_config_is_silent() -> None:
    silent, none = dense(), dense(mtp_num_hidden_layers=0)
    joining = sum(size(each, Ranks(), Dtype.BF16) for each in silent.draft_extra)

    assert [type(layer.mixers[0]) for layer in silent.draft] == [Attention]
    assert none.draft == ()
    assert joining == 2 * (2 * 64 * 64 + 3 * 64)


def test_the_config_of_qwen3_5_may_ask_for_a_format_of_its_state() -> None:
    asked = dense(mamba_ssm_dtype="float32").layers[0].mixers[0]

    assert isinstance(asked, Delta)
    assert asked.state_dtype is Dtype.F32


def test_equal_layers_are_one_object() -> None:
    assert len({id(layer) for layer in following(num_hidden_layers=4000).layers}) == 2


def test_the_language_model_behind_towers_is_named_as_such() -> None:
    config = Config({"architectures": ["Qwen3_5ForConditionalGeneration"], "text_config": TEXT, "dtype": "float16"})
    inner = delta.behind_towers(config, delta.DENSE)

    assert inner.prefix == "language_model.model.layers"
    assert inner.dtype is Dtype.F16


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"hidden_size": None}, "hidden_size"),
        ({"num_hidden_layers": 5000}, "num_hidden_layers"),
        ({"layer_types": ["linear_attention"]}, "layer_types"),
        ({"layer_types": ["sideways"] * 4}, "layer_types"),
        ({"mamba_ssm_dtype": "int3"}, "mamba_ssm_dtype"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(changes: dict[str, object], field: str) -> None:
    with pytest.raises(UnreadableError, match=field):
        dense(**changes)
