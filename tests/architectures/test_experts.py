"""Models with routed experts on small configs, weighed by hand."""

import pytest

from oomph.architectures.registry import geometry
from oomph.engines.vllm.weights.plain import elements, size
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import total
from oomph.errors import UnreadableError, UsageError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Layer
from oomph.ledger.weights import Experts, Matrix, Piece

SMALL: dict[str, object] = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "torch_dtype": "bfloat16",
    "hidden_size": 64,
    "intermediate_size": 96,
    "moe_intermediate_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "num_experts": 6,
    "vocab_size": 128,
    "max_position_embeddings": 512,
}
MAPS = 64 * (128 + 2 * 32) + 128 * 64  # queries, keys and values, and back
ROUTED = 6 * 3 * 64 * 32 + 6 * 64  # experts, and their router
WORDS = 128 * 64


def read(architecture: str = "Qwen3MoeForCausalLM", **changes: object) -> Geometry:
    return geometry(SMALL | {"architectures": [architecture]} | changes)


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


def test_a_small_model_weighs_what_its_maps_and_experts_weigh() -> None:
    layer = MAPS + ROUTED + 2 * 64 + 2 * 16

    assert total(read(), Ranks()) == 2 * (4 * layer + 2 * WORDS + 64)


def test_a_rank_keeps_the_router_whole_and_a_share_of_every_expert() -> None:
    layer = read().layers[0]

    assert elements(piece(layer, "mlp.gate"), Ranks(tensor=2)) == 6 * 64
    assert elements(piece(layer, "mlp.experts"), Ranks(tensor=2)) == 6 * 3 * 64 * 16


def test_whole_experts_are_divided_and_the_first_ranks_keep_one_more() -> None:
    experts = piece(read().layers[0], "mlp.experts")
    one = 3 * 64 * 32

    kept = [elements(experts, Ranks(tensor=2, data=2, experts_whole=True, place=place)) for place in range(4)]

    assert kept == [2 * one, 2 * one, one, one]


def test_redundant_experts_must_divide_evenly() -> None:
    experts = piece(read().layers[0], "mlp.experts")

    assert elements(experts, Ranks(tensor=4, experts_whole=True, redundant=2)) == 2 * 3 * 64 * 32
    with pytest.raises(UsageError, match="7 experts"):
        elements(experts, Ranks(tensor=4, experts_whole=True, redundant=1))


def test_qwen_routes_every_so_many_layers_but_not_in_those_it_lists() -> None:
    assert routes(read(decoder_sparse_step=2)) == [False, True, False, True]
    assert routes(read(decoder_sparse_step=2, mlp_only_layers=[3])) == [False, True, False, False]
    assert routes(read(num_experts=0)) == [False] * 4


def test_layers_of_one_kind_are_one_object() -> None:
    first, second, third, _ = read(decoder_sparse_step=2).layers

    assert first is third
    assert first is not second


def test_the_expert_that_all_tokens_take_has_a_plain_gate() -> None:
    layer = read(shared_expert_intermediate_size=48).layers[0]
    gate = piece(layer, "mlp.shared_expert_gate")

    assert isinstance(gate, Matrix)
    assert gate.plain
    assert elements(gate, Ranks(tensor=2)) == 64
    assert elements(piece(layer, "mlp.shared_expert.gate_up_proj"), Ranks(tensor=2)) == 64 * 48


def test_a_window_is_off_in_qwen_unless_it_is_asked_for() -> None:
    assert attention(read(sliding_window=256).layers[0]).window is None
    assert attention(read(sliding_window=256, use_sliding_window=True).layers[0]).window == 256
    assert attention(read("Qwen2MoeForCausalLM", sliding_window=256, use_sliding_window=True).layers[0]).window is None


def test_a_window_is_on_in_mixtral_unless_some_layers_do_not_slide() -> None:
    kinds = ["sliding_attention", "full_attention"] * 2

    assert attention(read("MixtralForCausalLM", sliding_window=256).layers[0]).window == 256
    assert attention(read("MixtralForCausalLM", sliding_window=256, layer_types=kinds).layers[0]).window is None


def test_minimax_divides_its_norms_as_its_heads_and_routes_in_full_width() -> None:
    layer = read("MiniMaxM2ForCausalLM", num_local_experts=6, use_routing_bias=True).layers[0]

    assert elements(piece(layer, "self_attn.q_norm.weight"), Ranks(tensor=4)) == 32
    assert elements(piece(layer, "self_attn.k_norm.weight"), Ranks(tensor=4)) == 16  # copied: four ranks, two heads
    assert size(piece(layer, "block_sparse_moe.gate"), Ranks(), Dtype.BF16) == 4 * 6 * 64
    assert size(piece(layer, "block_sparse_moe.e_score_correction_bias"), Ranks(), Dtype.BF16) == 4 * 6


def test_phi_has_biases_even_on_its_head() -> None:
    found = read("PhiMoEForCausalLM", num_local_experts=6)
    layer = MAPS + (128 + 2 * 32) + 64 + 6 * 3 * 64 * 96 + 6 * 64 + 4 * 64

    assert total(found, Ranks()) == 2 * (4 * layer + 2 * WORDS + 128 + 2 * 64)


def test_glm_starts_dense_and_has_a_layer_that_guesses_ahead() -> None:
    found = read("Glm4MoeForCausalLM", n_routed_experts=6, first_k_dense_replace=2, num_nextn_predict_layers=1)
    (guess,) = found.draft
    joined = sum(size(each, Ranks(), Dtype.BF16) for each in guess.weights)
    alone = sum(size(each, Ranks(), Dtype.BF16) for each in found.layers[3].weights)

    assert routes(found) == [False, False, True, True]
    assert joined - alone == 2 * (2 * 64 * 64 + 3 * 64 + WORDS)
    assert [each.name for each in found.draft_extra] == ["model.embed_tokens"]


def test_every_stage_of_mixtral_keeps_words_and_head() -> None:
    found = read("MixtralForCausalLM", num_local_experts=6)
    stages = [total(found, Ranks(pipeline=2, stage=stage)) for stage in range(2)]

    assert stages[0] == stages[1]
    assert sum(stages) == total(found, Ranks()) + 2 * (2 * WORDS + 64)


def test_the_outer_config_ties_the_words_of_an_inner_model() -> None:
    inner = {name: value for name, value in SMALL.items() if name != "architectures"} | {"tie_word_embeddings": True}
    outer = {"architectures": ["Qwen3VLMoeForConditionalGeneration"], "text_config": inner}

    apart, tied = geometry(outer), geometry(outer | {"tie_word_embeddings": True})

    assert [each.name for each in apart.closing] == ["language_model.model.norm.weight", "language_model.lm_head"]
    assert [each.name for each in tied.closing] == ["language_model.model.norm.weight"]
    assert apart.prefix == "language_model.model.layers"


@pytest.mark.parametrize(
    ("architecture", "changes", "field"),
    [
        ("Qwen3MoeForCausalLM", {"num_hidden_layers": 1 << 20}, "num_hidden_layers"),
        ("Qwen3MoeForCausalLM", {"num_experts": "many"}, "num_experts"),
        ("Qwen3MoeForCausalLM", {"num_key_value_heads": 9}, "num_key_value_heads"),
        ("Qwen3MoeForCausalLM", {"head_dim": None, "hidden_size": 4}, "hidden_size"),
        ("Glm4MoeForCausalLM", {"head_dim": None}, "head_dim"),
        ("Glm4MoeForCausalLM", {"num_nextn_predict_layers": 1 << 20}, "guess ahead"),
        ("GraniteMoeForCausalLM", {"layer_types": ["full_attention"] * 4}, "layer_types"),
        ("Qwen3OmniMoeForConditionalGeneration", {}, "thinker_config"),
    ],
)
def test_what_cannot_be_read_is_refused_by_field(architecture: str, changes: dict[str, object], field: str) -> None:
    with pytest.raises(UnreadableError, match=field):
        read(architecture, **changes)
