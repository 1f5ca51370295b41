"""Gemma 2 to 4, text models behind towers, and pruned Llamas on small configs, weighed by hand."""

import pytest

from oomph.architectures.registry import geometry
from oomph.engines.vllm.weights.plain import size
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import total
from oomph.errors import UnreadableError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Layer

TEXT: dict[str, object] = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "vocab_size": 128,
    "sliding_window": 32,
    "hidden_size_per_layer_input": 0,
    "global_head_dim": 32,
}
MAPS = 64 * 128 + 64 * 64
WIDE = 64 * (128 + 2 * 64) + 128 * 64  # with heads of twice the width
GATED = 3 * 64 * 96


def read(architecture: str, **changes: object) -> Geometry:
    return geometry(TEXT | {"architectures": [architecture]} | changes)


def attention(layer: Layer) -> Attention:
    (mixer,) = layer.mixers
    assert isinstance(mixer, Attention)
    return mixer


def windows(found: Geometry) -> list[int | None]:
    return [attention(layer).window for layer in found.layers]


def elements(layer: Layer) -> int:
    return sum(size(piece, Ranks(), Dtype.BF16) for piece in layer.weights) // 2


def test_every_second_layer_of_gemma_2_looks_at_everything() -> None:
    found = read("Gemma2ForCausalLM")

    assert windows(found) == [32, None, 32, None, 32, None]
    assert elements(found.layers[0]) == MAPS + GATED + 4 * 64


def test_gemma_2_has_no_head_whatever_its_config_says() -> None:
    assert total(read("Gemma2ForCausalLM"), Ranks()) == total(
        read("Gemma2ForCausalLM", tie_word_embeddings=False), Ranks()
    )


def test_every_sixth_layer_of_gemma_3_looks_at_everything_unless_told_otherwise() -> None:
    assert windows(read("Gemma3ForCausalLM")) == [32, 32, 32, 32, 32, None]
    assert windows(read("Gemma3ForCausalLM", sliding_window_pattern=3)) == [32, 32, None, 32, 32, None]


def test_half_of_a_window_that_sees_both_ways_lies_ahead() -> None:
    assert windows(read("Gemma3ForCausalLM", use_bidirectional_attention=True))[0] == 17


def test_gemma_3_norms_queries_and_keys() -> None:
    assert elements(read("Gemma3ForCausalLM").layers[0]) == MAPS + GATED + 4 * 64 + 2 * 16


def test_layers_of_gemma_4_that_look_at_everything_have_wider_heads() -> None:
    found = read("Gemma4ForCausalLM")
    near, far = found.layers[0], found.layers[5]

    assert (attention(near).head_dim, attention(far).head_dim) == (16, 32)
    assert elements(near) == MAPS + GATED + 4 * 64 + 2 * 16
    assert elements(far) == WIDE + GATED + 4 * 64 + 2 * 32


def test_fewer_keys_serve_as_values_only_where_they_are_the_same() -> None:
    one = {"num_global_key_value_heads": 1}

    assert attention(read("Gemma4ForCausalLM", **one).layers[5]).kv_heads == 2
    assert attention(read("Gemma4ForCausalLM", attention_k_eq_v=True, **one).layers[5]).kv_heads == 1


def test_late_layers_of_gemma_4_read_the_cache_of_the_last_of_their_kind_and_make_queries_alone() -> None:
    kinds = ["sliding_attention", "full_attention"] * 3
    found = read("Gemma4ForCausalLM", layer_types=kinds, num_kv_shared_layers=3, use_double_wide_mlp=True)

    assert [layer.shares for layer in found.layers] == [None, None, None, 1, 2, 1]
    assert len(found.keeping) == 3
    assert elements(found.layers[4]) == 2 * 64 * 64 + 2 * GATED + 4 * 64 + 16


def test_experts_of_gemma_4_stand_beside_the_feed_forward() -> None:
    found = read("Gemma4ForCausalLM", num_experts=8, moe_intermediate_size=32)

    experts = 8 * 3 * 64 * 32
    router = 64 * 8 + 64 + 8
    assert elements(found.layers[0]) == MAPS + GATED + 4 * 64 + 2 * 16 + experts + router + 3 * 64


def test_every_layer_of_a_small_gemma_4_has_words_of_its_own() -> None:
    bare, more = (read("Gemma4ForCausalLM", hidden_size_per_layer_input=width) for width in (0, 8))

    by_layer = 2 * 64 * 8 + 64
    table = 262144 * 6 * 8 + 64 * 6 * 8 + 8
    assert total(more, Ranks()) - total(bare, Ranks()) == 2 * (6 * by_layer + table)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"num_kv_shared_layers": 6}, "num_kv_shared_layers"),
        ({"num_kv_shared_layers": 1}, "num_kv_shared_layers"),
        ({"num_experts": 8}, "moe_intermediate_size"),
        ({"per_layer_config": {"0": {}}}, "per_layer_config"),
        ({"layer_types": ["sliding_attention"]}, "layer_types"),
    ],
)
def test_what_cannot_be_read_of_gemma_4_is_refused_by_its_field(changes: dict[str, object], field: str) -> None:
    with pytest.raises(UnreadableError, match=field):
        read("Gemma4ForCausalLM", **changes)


@pytest.mark.parametrize(
    ("outer", "inner", "kind"),
    [
        ("Gemma3ForConditionalGeneration", "Gemma3ForCausalLM", "gemma3_text"),
        ("Gemma4ForConditionalGeneration", "Gemma4ForCausalLM", "gemma4_text"),
    ],
)
def test_a_text_model_behind_towers_is_the_one_that_stands_alone(outer: str, inner: str, kind: str) -> None:
    nested = {"architectures": [outer], "torch_dtype": "bfloat16", "text_config": TEXT | {"model_type": kind}}
    found = geometry(nested)

    assert total(found, Ranks(), towers=False) == total(read(inner), Ranks())
    assert found.prefix == "language_model.model.layers"


def test_the_outer_config_says_whether_the_head_is_tied() -> None:
    nested = {"architectures": ["Mistral3ForConditionalGeneration"], "text_config": TEXT | {"model_type": "mistral"}}

    assert geometry(nested).tied
    assert not geometry(nested | {"tie_word_embeddings": False}).tied


def test_a_nested_config_may_leave_everything_to_its_class() -> None:
    found = geometry({"architectures": ["LlavaForConditionalGeneration"], "text_config": {"model_type": "llama"}})

    assert (found.hidden, len(found.layers), found.vocabulary) == (4096, 32, 32000)


def test_an_unknown_text_model_behind_towers_is_refused() -> None:
    with pytest.raises(UnreadableError, match="model_type"):
        geometry({"architectures": ["LlavaForConditionalGeneration"], "text_config": {"model_type": "house-brand"}})


def pruned(attention_block: dict[str, object], feed_block: dict[str, object]) -> Geometry:
    block = {"attention": attention_block, "ffn": feed_block}
    fields = TEXT | {"architectures": ["DeciLMForCausalLM"], "num_hidden_layers": 1, "sliding_window": None}
    return geometry(fields | {"max_position_embeddings": 512, "block_configs": [block]})


def test_a_pruned_block_has_groups_and_a_width_of_its_own() -> None:
    (layer,) = pruned({"n_heads_in_group": 4}, {"ffn_mult": 2.0}).layers

    inner = 256  # 2 * 2.0 * 64 / 3 = 85, rounded up
    assert attention(layer).kv_heads == 1
    assert elements(layer) == 64 * (64 + 2 * 16) + 64 * 64 + 3 * 64 * inner + 2 * 64


def test_a_block_without_attention_keeps_nothing() -> None:
    found = pruned({"no_op": True}, {"intermediate_size": 96})

    assert found.keeping == ()
    assert elements(found.layers[0]) == GATED + 64


@pytest.mark.parametrize(
    ("attention_block", "feed_block", "field"),
    [
        ({"n_heads_in_group": 4}, {"ffn_mult": 1e30}, "ffn_mult"),
        ({"n_heads_in_group": 3}, {"no_op": True}, "block_configs"),
        ({"replace_with_linear": True}, {"no_op": True}, "replace_with_linear"),
        ({}, {"no_op": True}, "n_heads_in_group"),
        ({"no_op": True}, {}, "intermediate_size"),
    ],
)
def test_what_cannot_be_read_of_a_block_is_refused_by_its_field(
    attention_block: dict[str, object], feed_block: dict[str, object], field: str
) -> None:
    with pytest.raises(UnreadableError, match=field):
        pruned(attention_block, feed_block)
