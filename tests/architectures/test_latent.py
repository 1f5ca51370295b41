"""Latent attention on small configs, weighed by hand. The big ones are compared with the engine in tests/engine."""

import pytest

from oomph.architectures.registry import geometry
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import total
from oomph.errors import UnreadableError
from oomph.ledger.geometry import Geometry, Latent, Layer
from oomph.ledger.weights import Matrix, Vector

SMALL: dict[str, object] = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "dtype": "bfloat16",
    "hidden_size": 256,
    "vocab_size": 1000,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "q_lora_rank": 96,
    "kv_lora_rank": 64,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 24,
    "intermediate_size": 512,
    "moe_intermediate_size": 128,
    "n_routed_experts": 8,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
    "topk_method": "noaux_tc",
    "num_nextn_predict_layers": 1,
}
SPARSE = SMALL | {
    "architectures": ["DeepseekV32ForCausalLM"],
    "index_topk": 64,
    "index_n_heads": 2,
    "index_head_dim": 128,
}


def read(fields: dict[str, object], **changes: object) -> Geometry:
    return geometry(fields | changes)


def kept(layer: Layer) -> Latent:
    (mixer,) = layer.mixers
    assert isinstance(mixer, Latent)
    return mixer


def named(layer: Layer) -> set[str]:
    return {piece.name for piece in layer.weights}


def attention(heads: int) -> int:
    """Numbers of the attention of one layer with so many heads on the rank."""
    down = 256 * (96 + 64 + 16)
    up = 96 * heads * (32 + 16) + 64 * heads * (32 + 24)
    return down + 96 + up + 64 + heads * 24 * 256


def test_a_layer_keeps_the_compressed_vector_and_the_rotated_part() -> None:
    assert kept(read(SMALL).layers[0]).elements == 64 + 16


def test_one_rank_weighs_what_adds_up_by_hand() -> None:
    words = 2 * 1024 * 256  # 1000 rows are padded to 1024; the head is its own
    dense = 3 * 256 * 512
    routed = 256 * 8 + 8 * 3 * 256 * 128 + 3 * 256 * 2 * 128
    norms = (3 * 2 + 1) * 256
    corrections = 2 * 8 * 4  # bytes: in single precision

    expected = 2 * (words + 3 * attention(4) + dense + 2 * routed + norms) + corrections
    assert total(read(SMALL), Ranks()) == expected


def test_maps_down_are_kept_whole_by_every_rank() -> None:
    words = 2 * 512 * 256
    dense = 3 * 256 * 256
    routed = 256 * 8 + 8 * 3 * 256 * 64 + 3 * 256 * 128
    norms = (3 * 2 + 1) * 256

    expected = 2 * (words + 3 * attention(2) + dense + 2 * routed + norms) + 64
    assert total(read(SMALL), Ranks(tensor=2)) == expected


def test_without_a_rank_for_queries_they_have_one_map() -> None:
    names = named(read(SMALL, q_lora_rank=None).layers[0])

    assert {"self_attn.q_proj", "self_attn.kv_a_proj_with_mqa"} <= names
    assert "self_attn.fused_qkv_a_proj" not in names


def test_scores_are_corrected_only_where_the_config_says_how() -> None:
    corrected = "mlp.gate.e_score_correction_bias"

    assert corrected in named(read(SMALL).layers[1])
    assert corrected not in named(read(SMALL, topk_method="greedy").layers[1])


def test_every_second_layer_routes_after_the_first_dense_ones() -> None:
    found = read(SMALL, num_hidden_layers=6, moe_layer_freq=2).layers

    assert ["mlp.experts" in named(layer) for layer in found] == [False, False, True, False, True, False]


def test_a_guessing_layer_joins_words_and_states_and_is_not_among_the_layers() -> None:
    found = read(SMALL)
    (guess,) = found.draft
    joins = next(piece for piece in guess.weights if piece.name == "eh_proj")

    assert isinstance(joins, Matrix)
    assert joins.inputs == 512
    assert joins.plain
    assert "eh_proj" not in named(found.layers[-1])


def test_kimi_k2_5_is_read_from_its_text_config() -> None:
    inner = {name: value for name, value in SMALL.items() if name != "architectures"}
    found = geometry({"architectures": ["KimiK25ForConditionalGeneration"], "text_config": inner})

    assert found.layers == read(SMALL).layers
    assert found.prefix == "language_model.model.layers"


def test_an_indexer_keeps_keys_of_its_own_and_its_norm_in_single_precision() -> None:
    layer = read(SPARSE).layers[0]
    norms = [piece for piece in layer.weights if isinstance(piece, Vector) and "k_norm" in piece.name]

    assert kept(layer).indexer_dim == 128
    assert [(norm.size, norm.dtype) for norm in norms] == [(128, "F32"), (128, "F32")]


def test_an_indexer_adds_the_same_bytes_to_every_rank() -> None:
    plain, sparse = read(SMALL), read(SPARSE)
    one = 2 * (96 * 2 * 128 + 256 * (128 + 2)) + 4 * 2 * 128

    for ranks in (Ranks(), Ranks(tensor=2)):
        assert total(sparse, ranks) - total(plain, ranks) == 3 * one


def test_layers_between_the_picking_ones_borrow() -> None:
    found = read(SPARSE, num_hidden_layers=12, index_topk_freq=4, index_skip_topk_offset=3)
    own = [index for index, layer in enumerate(found.layers) if kept(layer).indexer_dim]

    assert own == [0, 1, 2, 6, 10]
    assert kept(found.draft[0]).indexer_dim == 128


def test_a_letter_per_layer_says_which_borrow() -> None:
    found = read(SPARSE, num_hidden_layers=4, index_topk_pattern="FSS")

    assert [kept(layer).indexer_dim for layer in found.layers] == [128, None, None, 128]


def test_equal_layers_are_one_object() -> None:
    assert len({id(layer) for layer in read(SMALL, num_hidden_layers=4096).layers}) == 2


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"num_hidden_layers": 5000}, "num_hidden_layers"),
        ({"kv_lora_rank": None}, "kv_lora_rank"),
        ({"moe_layer_freq": [1, 0]}, "moe_layer_freq"),
        ({"index_topk": 64}, "index_topk"),
        ({"architectures": ["DeepseekV32ForCausalLM"]}, "index_topk"),
        ({"architectures": ["GlmMoeDsaForCausalLM"], "index_topk_pattern": 7}, "index_topk_pattern"),
    ],
)
def test_what_cannot_be_read_is_refused_by_field(changes: dict[str, object], field: str) -> None:
    with pytest.raises(UnreadableError, match=field):
        read(SMALL, **changes)
