"""Decoders with a feed-forward in every layer on small configs, weighed by hand."""

import pytest

from oomph.architectures.registry import geometry
from oomph.engines.vllm.weights.plain import size
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import total
from oomph.errors import UnreadableError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Layer
from oomph.ledger.weights import Matrix

SMALL: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"],
    "torch_dtype": "bfloat16",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 128,
    "max_position_embeddings": 512,
}
HEADS = 4 * 16
MAPS = 64 * (HEADS + 2 * 32) + HEADS * 64  # queries, keys and values, and back
GATED = 3 * 64 * 96
WORDS = 128 * 64


def read(architecture: str = "LlamaForCausalLM", **changes: object) -> Geometry:
    return geometry(SMALL | {"architectures": [architecture]} | changes)


def attention(layer: Layer) -> Attention:
    (mixer,) = layer.mixers
    assert isinstance(mixer, Attention)
    return mixer


def windows(found: Geometry) -> list[int | None]:
    return [attention(layer).window for layer in found.layers]


def elements(layer: Layer) -> int:
    return sum(size(piece, Ranks(), Dtype.BF16) for piece in layer.weights) // 2


def names(layer: Layer) -> list[str]:
    return [piece.name for piece in layer.weights]


def test_a_small_llama_weighs_what_its_maps_and_norms_weigh() -> None:
    layer = MAPS + GATED + 2 * 64

    assert total(read(), Ranks()) == 2 * (2 * layer + 2 * WORDS + 64)


def test_equal_layers_are_one_object() -> None:
    first, second = read().layers

    assert first is second


@pytest.mark.parametrize(
    ("architecture", "changes", "expected"),
    [
        ("LlamaForCausalLM", {"attention_bias": True, "mlp_bias": True}, MAPS + 128 + 64 + GATED + 192 + 64 + 128),
        ("LlamaForCausalLM", {"bias": True, "qkv_bias": False}, MAPS + 64 + GATED + 128),
        ("Qwen2ForCausalLM", {}, MAPS + 128 + GATED + 128),
        ("Qwen3ForCausalLM", {"head_dim": 16, "attention_bias": True}, MAPS + 128 + GATED + 128 + 32),
        ("Olmo2ForCausalLM", {}, MAPS + GATED + 128 + HEADS + 32),
        ("CohereForCausalLM", {}, MAPS + GATED + 64),
        ("CohereForCausalLM", {"use_qk_norm": True}, MAPS + GATED + 64 + HEADS + 32),
        ("Glm4ForCausalLM", {"head_dim": 16}, MAPS + 128 + GATED + 4 * 64),
        ("Starcoder2ForCausalLM", {}, MAPS + 128 + 64 + 2 * 64 * 96 + 96 + 64 + 4 * 64),
        ("PhiForCausalLM", {}, MAPS + 128 + 64 + 2 * 64 * 96 + 96 + 64 + 2 * 64),
        ("StableLmForCausalLM", {"use_qkv_bias": True}, MAPS + 128 + GATED + 4 * 64),
        ("InternLM2ForCausalLM", {"bias": True}, MAPS + GATED + 128),
        ("ApertusForCausalLM", {}, MAPS + 2 * 64 * 96 + 2 + 128 + 32),
    ],
)
def test_what_tells_architectures_apart_changes_the_layer(
    architecture: str, changes: dict[str, object], expected: int
) -> None:
    assert elements(read(architecture, **changes).layers[0]) == expected


def test_norms_of_each_head_are_divided_as_the_heads_are() -> None:
    found = read("CohereForCausalLM", use_qk_norm=True)
    norms = [piece for piece in found.layers[0].weights if "_norm.weight" in piece.name and "self_attn" in piece.name]

    assert [size(each, Ranks(tensor=4), Dtype.BF16) for each in norms] == [2 * 16, 2 * 16]


def test_a_checkpoint_that_fuses_already_has_no_other_names() -> None:
    into = read("Phi3ForCausalLM").layers[0].weights[0]

    assert isinstance(into, Matrix)
    assert into.sources == ()


def test_full_precision_is_served_in_half() -> None:
    assert total(read(torch_dtype="float32"), Ranks()) == total(read(), Ranks())


def test_what_is_unstable_in_float16_is_served_in_bfloat16() -> None:
    whole = read("Glm4ForCausalLM", torch_dtype="float16")

    assert total(whole, Ranks()) == total(read("Glm4ForCausalLM"), Ranks())


def test_one_window_holds_in_all_layers() -> None:
    assert windows(read(sliding_window=32)) == [32, 32]
    assert windows(read(sliding_window=0)) == [None, None]


def test_a_list_of_kinds_says_which_layers_have_the_window() -> None:
    kinds = ["full_attention", "sliding_attention"]

    assert windows(read(sliding_window=32, layer_types=kinds)) == [None, 32]


def test_mistral_has_a_window_unless_it_says_none() -> None:
    assert windows(read("MistralForCausalLM", model_type="mistral")) == [4096, 4096]
    assert windows(read("MistralForCausalLM", model_type="mistral", sliding_window=None)) == [None, None]


def test_qwen_has_a_window_only_where_it_is_switched_on() -> None:
    assert windows(read("Qwen2ForCausalLM", sliding_window=32)) == [None, None]
    asked = {"sliding_window": 32, "use_sliding_window": True}
    assert windows(read("Qwen2ForCausalLM", max_window_layers=0, **asked)) == [32, 32]
    assert windows(read("Qwen2ForCausalLM", max_window_layers=2, **asked)) == [None, None]


def test_every_fourth_layer_of_olmo_3_looks_at_everything() -> None:
    found = read("Olmo3ForCausalLM", num_hidden_layers=5, sliding_window=32)

    assert windows(found) == [32, 32, 32, None, 32]


def test_cohere_2_sees_one_token_besides_its_window() -> None:
    found = read("Cohere2ForCausalLM", num_hidden_layers=4, sliding_window=32)

    assert windows(found) == [33, 33, 33, None]


def test_gpt_2_has_positions_and_names_of_its_own() -> None:
    found = geometry(
        {
            "architectures": ["GPT2LMHeadModel"],
            "n_embd": 64,
            "n_layer": 2,
            "n_head": 4,
            "n_positions": 32,
            "vocab_size": 128,
        }
    )

    layer = 64 * 3 * 64 + 3 * 64 + 64 * 64 + 64 + 2 * 64 * 256 + 256 + 64 + 4 * 64
    assert total(found, Ranks()) == 2 * (2 * layer + WORDS + 32 * 64 + 2 * 64)
    assert found.prefix == "transformer.h"
    assert names(found.layers[0])[:2] == ["attn.c_attn", "attn.c_proj"]


def test_phi_reads_either_set_of_names() -> None:
    older = {"n_embd": 64, "n_head": 4, "n_layer": 2, "n_inner": None, "n_positions": 512, "vocab_size": 128}
    newer = SMALL | {"architectures": ["PhiForCausalLM"], "intermediate_size": 256, "num_key_value_heads": 4}
    found = geometry({"architectures": ["PhiForCausalLM"], "model_type": "phi-msft", **older})

    assert total(found, Ranks()) == total(geometry(newer), Ranks())


@pytest.mark.parametrize(
    ("changes", "kv_heads", "norms"),
    [
        ({}, 1, 1),
        ({"multi_query": False, "parallel_attn": False}, 4, 2),
        ({"new_decoder_architecture": True, "num_kv_heads": 2}, 2, 2),
        ({"new_decoder_architecture": True, "num_kv_heads": 2, "num_ln_in_parallel_attn": 1}, 2, 1),
    ],
)
def test_generations_of_falcon_differ_in_heads_and_norms(changes: dict[str, object], kv_heads: int, norms: int) -> None:
    layer = read("FalconForCausalLM", **changes).layers[0]

    assert attention(layer).kv_heads == kv_heads
    assert sum(name.endswith(".bias") for name in names(layer)) == norms


def test_a_stage_in_the_middle_of_gemma_builds_both_ends_and_one_of_llama_neither() -> None:
    middle = Ranks(pipeline=3, stage=1)
    gemma, llama = (read(name, num_hidden_layers=3) for name in ("GemmaForCausalLM", "LlamaForCausalLM"))

    assert total(llama, middle) == 2 * elements(llama.layers[1])
    assert total(gemma, middle) == 2 * (elements(gemma.layers[1]) + WORDS + 64)


def test_layers_that_guess_ahead_join_a_word_with_a_state() -> None:
    found = read("MiMoForCausalLM", num_nextn_predict_layers=1, tie_word_embeddings=False)

    (ahead,) = found.draft
    assert elements(ahead) == elements(found.layers[0]) + 2 * 64 * 64 + 3 * 64


@pytest.mark.parametrize(
    ("architecture", "changes", "field"),
    [
        ("LlamaForCausalLM", {"hidden_size": None}, "hidden_size"),
        ("LlamaForCausalLM", {"num_hidden_layers": 10**6}, "num_hidden_layers"),
        ("LlamaForCausalLM", {"num_key_value_heads": 8}, "num_key_value_heads"),
        ("LlamaForCausalLM", {"num_attention_heads": 65}, "num_attention_heads"),
        ("LlamaForCausalLM", {"layer_types": ["full_attention"]}, "layer_types"),
        ("LlamaForCausalLM", {"layer_types": ["full_attention", "chunked_attention"]}, "layer_types"),
        ("Qwen2ForCausalLM", {"use_sliding_window": True, "max_window_layers": 1}, "max_window_layers"),
        ("MiMoForCausalLM", {"num_nextn_predict_layers": 5000}, "num_nextn_predict_layers"),
        ("InternLM2ForCausalLM", {"vocab_size": None}, "vocab_size"),
        ("SmolLM3ForCausalLM", {"use_sliding_window": True, "no_rope_layers": [1]}, "no_rope_layers"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_field(architecture: str, changes: dict[str, object], field: str) -> None:
    with pytest.raises(UnreadableError, match=field):
        read(architecture, **changes)


def test_a_field_that_is_left_out_means_what_its_class_says() -> None:
    bare = {name: value for name, value in SMALL.items() if name not in {"vocab_size", "intermediate_size"}}
    found = geometry(bare | {"architectures": ["Phi3ForCausalLM"], "model_type": "phi3"})

    assert found.vocabulary == 32064


def test_a_type_without_a_class_has_no_defaults() -> None:
    bare = {name: value for name, value in SMALL.items() if name != "vocab_size"}

    with pytest.raises(UnreadableError, match="vocab_size"):
        geometry(bare | {"model_type": "house-brand"})
