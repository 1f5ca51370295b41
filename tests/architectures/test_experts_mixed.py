"""Models with experts whose layers attend differently, on small configs, weighed by hand."""

import pytest

from oomph.architectures.registry import geometry
from oomph.engines.vllm.weights.plain import elements, size
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.errors import UnreadableError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Layer
from oomph.ledger.weights import Experts, Piece

SMALL: dict[str, object] = {
    "torch_dtype": "bfloat16",
    "hidden_size": 64,
    "intermediate_size": 96,
    "moe_intermediate_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "num_local_experts": 6,
    "vocab_size": 128,
    "max_position_embeddings": 512,
}
STEP: dict[str, object] = {
    "num_attention_groups": 2,
    "moe_num_experts": 6,
    "sliding_window": 32,
    "layer_types": ["full_attention", "sliding_attention"] * 3,
    "attention_other_setting": {
        "attention_type": "sliding_attention",
        "num_attention_heads": 12,
        "num_attention_groups": 4,
        "head_dim": 16,
    },
    "moe_layers_enum": "2,3",
    "use_head_wise_attn_gate": True,
    "share_expert_dim": 32,
}
MIMO: dict[str, object] = {
    "v_head_dim": 8,
    "n_routed_experts": 6,
    "hybrid_layer_pattern": [0, 1, 1, 0],
    "moe_layer_freq": [0, 1, 1, 1],
    "sliding_window_size": 32,
    "swa_num_attention_heads": 8,
    "swa_num_key_value_heads": 4,
    "swa_head_dim": 16,
    "swa_v_head_dim": 8,
    "add_swa_attention_sink_bias": True,
}
M3: dict[str, object] = {
    "dense_intermediate_size": 96,
    "intermediate_size": 32,
    "moe_layer_freq": [0, 1, 1, 1],
    "sparse_attention_config": {
        "sparse_attention_freq": [0, 0, 1, 1],
        "sparse_index_dim": 16,
        "sparse_num_index_heads": 2,
    },
    "num_mtp_modules": 2,
}


def read(architecture: str, given: dict[str, object] | None = None, **changes: object) -> Geometry:
    return geometry(SMALL | {"architectures": [architecture]} | (given or {}) | changes)


def attention(layer: Layer) -> Attention:
    (mixer,) = layer.mixers
    assert isinstance(mixer, Attention)
    return mixer


def piece(layer: Layer, name: str) -> Piece:
    (found,) = (each for each in layer.weights if each.name == name)
    return found


def names(layer: Layer) -> set[str]:
    return {each.name for each in layer.weights}


def routes(found: Geometry) -> list[bool]:
    return [any(isinstance(each, Experts) for each in layer.weights) for layer in found.layers]


def test_gpt_oss_slides_in_every_second_layer_with_a_sink_per_head() -> None:
    found = read("GptOssForCausalLM", sliding_window=128)
    sinks = piece(found.layers[0], "attn.sinks")

    assert [attention(layer).window for layer in found.layers] == [128, None, 128, None]
    assert elements(sinks, Ranks(tensor=2)) == 4


def test_experts_of_gpt_oss_have_biases_and_the_last_of_them_is_whole() -> None:
    layer = read("GptOssForCausalLM").layers[0]
    maps = 3 * 64 * 48

    assert elements(piece(layer, "mlp.router"), Ranks(tensor=2)) == 6 * 64 + 6
    assert elements(piece(layer, "mlp.experts"), Ranks(tensor=2)) == 6 * (maps + 2 * 48 + 64)


def test_llama4_attends_in_chunks_but_in_every_fourth_layer() -> None:
    found = read("Llama4ForCausalLM", attention_chunk_size=256, interleave_moe_layer_step=2)

    assert [attention(layer).chunk for layer in found.layers] == [256, 256, 256, None]
    assert routes(found) == [False, True, False, True]
    assert elements(piece(found.layers[0], "feed_forward.down_proj"), Ranks()) == 16384 * 64  # what its class means


def test_the_shared_expert_of_llama4_is_whole_where_ranks_divide_tokens() -> None:
    shared = piece(read("Llama4ForCausalLM").layers[0], "feed_forward.shared_expert.down_proj")

    assert elements(shared, Ranks(tensor=2, experts_whole=True)) == 96 * 64 // 2
    assert elements(shared, Ranks(tensor=2, data=2)) == 96 * 64 // 2
    assert elements(shared, Ranks(tensor=2, data=2, experts_whole=True)) == 96 * 64


def test_sliding_layers_of_step_have_heads_of_their_own() -> None:
    found = read("Step3p5ForCausalLM", STEP)
    full, sliding = found.layers[0], found.layers[1]

    assert [attention(layer).window for layer in found.layers] == [None, 32, None, 32]
    assert (attention(full).heads, attention(full).kv_heads) == (8, 2)
    assert (attention(sliding).heads, attention(sliding).kv_heads) == (12, 4)
    assert elements(piece(sliding, "self_attn.g_proj"), Ranks(tensor=2)) == 6 * 64
    assert routes(found) == [False, False, True, True]


def test_step_routes_in_full_width() -> None:
    layer = read("Step3p5ForCausalLM", STEP).layers[3]

    assert size(piece(layer, "moe.gate"), Ranks(), Dtype.BF16) == 4 * 6 * 64
    assert size(piece(layer, "moe.router_bias"), Ranks(), Dtype.BF16) == 4 * 6


def test_mimo_keeps_narrow_values_and_sinks_where_it_slides() -> None:
    found = read("MiMoV2FlashForCausalLM", MIMO)
    full, sliding = found.layers[0], found.layers[1]

    assert [attention(layer).window for layer in found.layers] == [None, 32, 32, None]
    assert attention(sliding).elements == 4 * (16 + 8)
    assert elements(piece(full, "self_attn.qkv_proj"), Ranks()) == 64 * (8 * 16 + 2 * 16 + 2 * 8)
    assert elements(piece(full, "self_attn.o_proj"), Ranks()) == 8 * 8 * 64
    assert "self_attn.attention_sink_bias" in names(sliding)
    assert "self_attn.attention_sink_bias" not in names(full)
    assert len(found.draft) == 1


def test_minimax_m3_picks_blocks_by_keys_that_every_rank_keeps() -> None:
    found = read("MiniMaxM3SparseForCausalLM", M3)
    picking = piece(found.layers[2], "self_attn.qkv_proj")

    assert [attention(layer).indexer_dim for layer in found.layers] == [None, None, 16, 16]
    assert elements(picking, Ranks()) == 64 * 16 * (8 + 2 + 2 + 2 + 1)
    assert elements(picking, Ranks(tensor=2)) == 64 * 16 * (4 + 1 + 1 + 1 + 1)
    assert len(found.draft) == 2
    assert [each.name for each in found.draft_extra] == ["model.embed_tokens", "lm_head"]


@pytest.mark.parametrize(
    ("architecture", "given", "changes", "field"),
    [
        ("Llama4ForCausalLM", {}, {"no_rope_layers": [1]}, "no_rope_layers"),
        ("Step3p5ForCausalLM", STEP, {"layer_types": ["full_attention"]}, "layer_types"),
        ("Step3p5ForCausalLM", STEP, {"moe_layers_enum": "1,,2"}, "moe_layers_enum"),
        ("Step3p7ForConditionalGeneration", {"text_config": SMALL}, {}, "num_attention_groups"),
        ("MiMoV2FlashForCausalLM", MIMO, {"hybrid_layer_pattern": None}, "hybrid_layer_pattern"),
        ("MiMoV2FlashForCausalLM", MIMO, {"moe_router_dtype": "int3"}, "moe_router_dtype"),
        ("MiniMaxM3SparseForCausalLM", M3, {"num_key_value_heads": 4}, "sparse_num_index_heads"),
    ],
)
def test_what_cannot_be_read_is_refused_by_field(
    architecture: str, given: dict[str, object], changes: dict[str, object], field: str
) -> None:
    with pytest.raises(UnreadableError, match=field):
        read(architecture, given, **changes)
