"""Kimi K3 on a small config, weighed by hand."""

import pytest

from oomph.architectures.registry import geometry
from oomph.engines.vllm.weights.plain import size
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.errors import UnreadableError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Delta, Geometry, Latent
from oomph.ledger.weights import Piece

LINEAR: dict[str, object] = {
    "kda_layers": [1, 2],
    "full_attn_layers": [3],
    "head_dim": 16,
    "num_heads": 4,
    "short_conv_kernel_size": 4,
    "use_full_rank_gate": True,
}
TEXT: dict[str, object] = {
    "dtype": "bfloat16",
    "hidden_size": 256,
    "vocab_size": 1024,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "q_lora_rank": 96,
    "kv_lora_rank": 64,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 24,
    "mla_use_output_gate": True,
    "intermediate_size": 512,
    "moe_intermediate_size": 512,
    "num_experts": 8,
    "num_shared_experts": 1,
    "routed_expert_hidden_size": 128,
    "latent_moe_use_norm": True,
    "attn_res_block_size": 2,
    "first_k_dense_replace": 1,
}


def read(linear: dict[str, object] | None = None, **changes: object) -> Geometry:
    inner = TEXT | {"linear_attn_config": LINEAR | (linear or {})} | changes
    return geometry({"architectures": ["KimiK3ForConditionalGeneration"], "text_config": inner})


def piece(layer: int, name: str) -> Piece:
    return next(each for each in read().layers[layer].weights if each.name == name)


def on_rank(found: Piece, ranks: int) -> int:
    return size(found, Ranks(tensor=ranks), Dtype.BF16)


def test_delta_layers_are_counted_from_one() -> None:
    assert [type(layer.mixers[0]) for layer in read().layers] == [Delta, Delta, Latent]


def test_the_map_in_keeps_one_part_whole_and_is_padded_on_each_rank() -> None:
    into = piece(0, "self_attn.in_proj_qkvgfab")
    whole = 4 * 64 + 16 + 4  # queries, keys, values, gates; decays; writes
    half = 4 * 32 + 16 + 2

    assert on_rank(into, 1) == 2 * 256 * (whole + 12)
    assert on_rank(into, 2) == 2 * 256 * (half + 14)


def test_only_the_gate_of_the_fused_map_down_is_divided() -> None:
    into = piece(2, "self_attn.fused_qkv_a_g_proj")

    assert on_rank(into, 2) == 2 * 256 * (96 + 64 + 16 + 4 * 24 // 2)


def test_experts_work_in_a_narrower_space_and_are_never_narrower_than_256() -> None:
    experts = piece(1, "block_sparse_moe.experts")

    assert on_rank(experts, 1) == 2 * 8 * 3 * 128 * 512
    assert on_rank(experts, 2) == 2 * 8 * 3 * 128 * 256
    assert on_rank(experts, 4) == 2 * 8 * 3 * 128 * 256


def test_the_convolution_is_in_single_precision() -> None:
    assert on_rank(piece(0, "self_attn.conv1d"), 2) == 4 * 4 * 3 * 32


@pytest.mark.parametrize(
    ("linear", "changes", "field"),
    [
        ({"use_full_rank_gate": False}, {}, "use_full_rank_gate"),
        ({"kda_layers": None}, {}, "kda_layers"),
        ({}, {"num_nextn_predict_layers": 1}, "num_nextn_predict_layers"),
        ({}, {"kv_lora_rank": None}, "kv_lora_rank"),
    ],
)
def test_what_cannot_be_read_is_refused_by_field(
    linear: dict[str, object], changes: dict[str, object], field: str
) -> None:
    with pytest.raises(UnreadableError, match=field):
        read(linear, **changes)
