"""Mamba and its hybrids on small configs, weighed by hand."""

import pytest

from oomph.architectures.registry import geometry
from oomph.engines.vllm.weights.plain import size
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import total
from oomph.errors import UnreadableError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import (
    Attention,
    Delta,
    Geometry,
    Latent,
    Layer,
    Lightning,
    Mamba1,
    Mamba2,
    ShortConvolution,
)

AROUND: dict[str, object] = {"hidden_size": 64, "vocab_size": 128, "num_hidden_layers": 4, "dtype": "bfloat16"}
ATTENTION: dict[str, object] = {"num_attention_heads": 4, "num_key_value_heads": 2}
MAMBA2: dict[str, object] = {
    "mamba_d_state": 8,
    "mamba_n_heads": 4,
    "mamba_d_head": 32,
    "mamba_n_groups": 1,
    "mamba_d_conv": 4,
}
NEMOTRON: dict[str, object] = {
    **ATTENTION,
    "head_dim": 16,
    "hybrid_override_pattern": "M*-E",
    "mamba_num_heads": 4,
    "mamba_head_dim": 32,
    "n_groups": 2,
    "ssm_state_size": 8,
    "intermediate_size": 96,
    "n_routed_experts": 8,
    "moe_intermediate_size": 32,
    "moe_shared_expert_intermediate_size": 48,
}


def read(architecture: str, **fields: object) -> Geometry:
    return geometry({"architectures": [architecture], **AROUND, **fields})


def nemotron(**changes: object) -> Geometry:
    return read("NemotronHForCausalLM", **{**NEMOTRON, **changes})


def weight(layer: Layer, name: str, ranks: int = 1) -> int:
    return sum(size(each, Ranks(tensor=ranks), Dtype.BF16) for each in layer.weights if each.name.startswith(name))


def kinds(model: Geometry) -> list[list[type]]:
    return [[type(mixer) for mixer in layer.mixers] for layer in model.layers]


def test_mamba_keeps_decays_of_every_channel_and_state_in_32_bits() -> None:
    model = read("MambaForCausalLM", state_size=8, time_step_rank=5)
    inner = 2 * 64
    maps = 64 * 2 * inner + inner * (5 + 2 * 8) + 5 * inner + inner * 64
    vectors = inner + inner + inner  # biases of the convolution and of the steps, and what passes by

    assert weight(model.layers[0], "mixer") == 2 * (maps + 4 * inner + vectors) + 4 * inner * 8
    assert model.layers[0].mixers == (Mamba1(inner=128, state=8, kernel=4),)
    assert model.tied


def test_an_automatic_rank_is_a_sixteenth_of_the_hidden_size() -> None:
    model = read("MambaForCausalLM", time_step_rank="auto")

    assert weight(model.layers[0], "mixer.dt_proj") == 2 * (4 * 128 + 128)


def test_mamba_2_divides_groups_and_copies_a_single_one() -> None:
    one = read("Mamba2ForCausalLM", num_heads=4, head_dim=32, state_size=8, n_groups=1).layers[0]
    four = read("Mamba2ForCausalLM", num_heads=4, head_dim=32, state_size=8, n_groups=4).layers[0]

    assert weight(one, "mixer.in_proj", 4) == 2 * 64 * (32 + 32 + 8 + 8 + 1)
    assert weight(four, "mixer.in_proj", 4) == 2 * 64 * (32 + 32 + 8 + 8 + 1)
    assert weight(one, "mixer.in_proj") == 2 * 64 * (128 + 128 + 8 + 8 + 4)


def test_jamba_attends_and_routes_by_periods_and_keeps_a_head_of_its_own() -> None:
    model = read("JambaForCausalLM", **ATTENTION, num_hidden_layers=8, intermediate_size=96, tie_word_embeddings=True)

    assert kinds(model) == [[Mamba1]] * 4 + [[Attention]] + [[Mamba1]] * 3
    assert weight(model.layers[1], "feed_forward.experts") == 2 * 16 * 3 * 64 * 96
    assert weight(model.layers[2], "feed_forward") == 2 * 3 * 64 * 96
    assert not model.tied


def test_falcon_h1_attends_beside_a_state_in_every_layer() -> None:
    model = read("FalconH1ForCausalLM", **ATTENTION, **MAMBA2, mamba_d_ssm=128, intermediate_size=96)

    assert kinds(model) == [[Attention, Mamba2]] * 4
    assert weight(model.layers[0], "mamba.mamba.norm") == 0
    assert weight(model.layers[0], "mamba.mamba.out_proj") == 2 * 128 * 64


def test_granite_has_experts_and_a_shared_feed_forward_in_layers_of_both_kinds() -> None:
    model = read(
        "GraniteMoeHybridForCausalLM",
        **ATTENTION,
        **MAMBA2,
        layer_types=["mamba", "attention", "linear_attention", "full_attention"],
        num_local_experts=4,
        intermediate_size=32,
        shared_intermediate_size=48,
    )

    assert kinds(model) == [[Mamba2], [Attention]] * 2
    assert [weight(layer, "shared_mlp") for layer in model.layers] == [2 * 3 * 64 * 48] * 4
    assert [weight(layer, "block_sparse_moe.experts") for layer in model.layers] == [2 * 4 * 3 * 64 * 32] * 4


def test_a_layer_of_nemotron_is_one_thing_only() -> None:
    model = nemotron()

    assert kinds(model) == [[Mamba2], [Attention], [], []]
    assert weight(model.layers[2], "mixer") == 2 * 2 * 64 * 96
    assert weight(model.layers[3], "mixer.experts") == 2 * 8 * 2 * 64 * 32  # without gates


def test_a_pattern_of_nemotron_may_be_words_and_words_win() -> None:
    model = nemotron(layers_block_type=["attention", "moe"])

    assert kinds(model) == [[Attention], []]


def test_experts_of_nemotron_may_work_in_a_narrower_space() -> None:
    narrow = nemotron(moe_latent_size=16).layers[3]

    assert weight(narrow, "mixer.experts") == 2 * 8 * 2 * 16 * 32
    assert weight(narrow, "mixer.fc1_latent_proj", 4) == weight(narrow, "mixer.fc2_latent_proj", 4) == 2 * 64 * 16
    assert weight(narrow, "mixer.shared_experts") == 2 * 2 * 64 * 48


def test_nemotron_guesses_ahead_by_a_pattern_of_its_own() -> None:
    first, last = nemotron(num_nextn_predict_layers=1).draft

    assert isinstance(first.mixers[0], Attention)
    assert weight(first, "eh_proj") == 2 * 2 * 64 * 64
    assert weight(last, "final_layernorm") == 2 * 64
    assert nemotron().draft == ()


def test_every_stage_of_nemotron_builds_words_and_head() -> None:
    model = nemotron()
    both = total(model, Ranks(pipeline=2, stage=0)) + total(model, Ranks(pipeline=2, stage=1))

    assert both - total(model, Ranks()) == 2 * (2 * 128 * 64 + 64)


def test_zamba_keeps_a_shared_block_once_and_adapters_for_each_use() -> None:
    model = read(
        "Zamba2ForCausalLM",
        layers_block_type=["mamba", "hybrid", "hybrid", "mamba"],
        num_attention_heads=4,
        n_mamba_heads=4,
        intermediate_size=96,
        adapter_rank=8,
    )
    first, second = model.layers[1], model.layers[2]

    assert kinds(model) == [[Mamba2], [Attention, Mamba2], [Attention, Mamba2], [Mamba2]]
    assert weight(first, "shared_transformer.self_attn.qkv_proj") == 2 * 128 * 3 * 128
    assert weight(second, "shared_transformer.self_attn") == 0
    assert weight(second, "shared_transformer.feed_forward") == 2 * (64 * 8 + 8 * 2 * 96)


def test_lfm2_widens_its_feed_forward_by_a_rule_and_ties_its_head() -> None:
    model = read(
        "Lfm2ForCausalLM",
        **ATTENTION,
        conv_dim=64,
        block_dim=64,
        block_ff_dim=400,
        full_attn_idxs=[1],
        tie_word_embeddings=False,
    )

    assert kinds(model) == [[ShortConvolution], [Attention], [ShortConvolution], [ShortConvolution]]
    assert weight(model.layers[0], "feed_forward") == 2 * 3 * 64 * 512  # two thirds of 400, up to a multiple of 256
    assert weight(model.layers[0], "short_conv") == 2 * (3 * 64 + 64 * 3 * 64 + 64 * 64)
    assert model.tied


def test_minimax_with_linear_attention_keeps_its_head_in_32_bits() -> None:
    model = read(
        "MiniMaxText01ForCausalLM",
        **ATTENTION,
        attn_type_list=[0, 0, 0, 1],
        intermediate_size=96,
        num_local_experts=2,
    )

    assert kinds(model) == [[Lightning]] * 3 + [[Attention]]
    assert weight(model.layers[0], "block_sparse_moe.gate") == 4 * 64 * 2
    assert sum(size(each, Ranks(), Dtype.BF16) for each in model.closing) == 2 * 64 + 4 * 128 * 64


def test_kimi_linear_keeps_the_way_down_to_its_decays_whole_and_widens_narrow_experts() -> None:
    model = read(
        "KimiLinearForCausalLM",
        linear_attn_config={"kda_layers": [1, 2, 3], "num_heads": 4, "head_dim": 16, "short_conv_kernel_size": 4},
        mla_use_nope=True,
        num_attention_heads=4,
        kv_lora_rank=32,
        qk_nope_head_dim=16,
        qk_rope_head_dim=8,
        v_head_dim=16,
        intermediate_size=96,
        num_experts=8,
        moe_intermediate_size=512,
        first_k_dense_replace=1,
    )

    assert kinds(model) == [[Delta]] * 3 + [[Latent]]
    assert weight(model.layers[0], "self_attn.in_proj", 2) == 2 * 64 * (3 * 32 + 2 + 16)
    assert weight(model.layers[1], "block_sparse_moe.experts", 4) == 2 * 8 * 3 * 64 * 256


@pytest.mark.parametrize(
    ("architecture", "fields", "field"),
    [
        ("FalconH1ForCausalLM", {**ATTENTION, **MAMBA2, "intermediate_size": 96}, "mamba_d_ssm"),
        ("FalconH1ForCausalLM", {**ATTENTION, **MAMBA2, "mamba_d_ssm": 128}, "intermediate_size"),
        ("NemotronHForCausalLM", {**NEMOTRON, "hybrid_override_pattern": "MX"}, "hybrid_override_pattern"),
        ("NemotronHForCausalLM", {**NEMOTRON, "hybrid_override_pattern": "M" * 5000}, "hybrid_override_pattern"),
        ("NemotronHForCausalLM", {**NEMOTRON, "layers_block_type": ["window"]}, "layers_block_type"),
        ("NemotronHForCausalLM", {**NEMOTRON, "intermediate_size": [96, 96]}, "intermediate_size"),
        ("Lfm2ForCausalLM", {**ATTENTION, "conv_dim": 64}, "block_dim"),
        ("Lfm2MoeForCausalLM", {**ATTENTION}, "layer_types"),
        ("MiniMaxText01ForCausalLM", {**ATTENTION, "attn_type_list": [0, 2, 0, 1]}, "attn_type_list"),
        ("MambaForCausalLM", {"num_hidden_layers": 1 << 30}, "num_hidden_layers"),
        ("KimiLinearForCausalLM", {"linear_attn_config": {}, "mla_use_nope": False}, "mla_use_nope"),
        ("KimiLinearForCausalLM", {"mla_use_nope": True}, "linear_attn_config"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(architecture: str, fields: dict[str, object], field: str) -> None:
    with pytest.raises(UnreadableError, match=field):
        read(architecture, **fields)
