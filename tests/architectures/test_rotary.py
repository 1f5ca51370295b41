"""How heads are turned by position, read from configs of every kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.architectures.registry import FILES, geometry
from oomph.architectures.rotary import WITHOUT
from oomph.errors import OomphError
from oomph.ledger.dtype import Dtype
from oomph.ledger.rotary import Rotary, Stretch

SMALL: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "vocab_size": 128,
    "max_position_embeddings": 4096,
}
LATENT: dict[str, object] = {
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "moe_intermediate_size": 64,
    "num_experts_per_tok": 2,
    "first_k_dense_replace": 1,
    "kv_lora_rank": 128,
    "q_lora_rank": 128,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 32,
    "index_n_heads": 4,
    "index_head_dim": 32,
    "index_topk": 64,
}


def read(architecture: str = "LlamaForCausalLM", /, **changes: object) -> tuple[Rotary, ...]:
    return geometry(SMALL | {"architectures": [architecture]} | changes).rotary


def test_a_plain_model_turns_whole_heads_in_one_way() -> None:
    assert read() == (Rotary(width=32, tokens=4096),)


@pytest.mark.parametrize(
    ("said", "stretch", "factor", "original"),
    [
        ({"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 1024}, Stretch.YARN, 4.0, 1024),
        ({"type": "linear", "factor": 2.0}, Stretch.LINEAR, 2.0, None),
        ({"type": "su", "original_max_position_embeddings": 512}, Stretch.LONG, 1.0, 512),
        ({"rope_type": "default"}, Stretch.NOT, 1.0, None),
        ({"rope_type": "of tomorrow", "factor": 3.0}, Stretch.NOT, 1.0, None),
        ({"rope_type": "yarn", "factor": "much"}, Stretch.YARN, 1.0, None),
    ],
)
@pytest.mark.parametrize("field", ["rope_scaling", "rope_parameters"])
def test_a_stretch_is_read_under_either_name(
    field: str, said: dict[str, object], stretch: Stretch, factor: float, original: int | None
) -> None:
    (found,) = read(**{field: said})

    assert (found.stretch, found.factor, found.original) == (stretch, factor, original)


@pytest.mark.parametrize(
    ("architecture", "changes", "width"),
    [
        ("LlamaForCausalLM", {"partial_rotary_factor": 0.5}, 16),
        ("LlamaForCausalLM", {"rope_parameters": {"partial_rotary_factor": 0.25}}, 8),
        ("Glm4ForCausalLM", {"head_dim": 32}, 16),  # its class's default
        ("StableLmForCausalLM", {"rotary_pct": 0.75}, 24),
        ("MiniMaxM2ForCausalLM", {"rotary_dim": 8, "head_dim": 32, "num_local_experts": 4}, 8),
    ],
)
def test_part_of_a_head_may_be_turned(architecture: str, changes: dict[str, object], width: int) -> None:
    assert [each.width for each in read(architecture, **changes)] == [width]


def test_kinds_of_layers_may_be_turned_each_in_its_way() -> None:
    linear = {"rope_type": "linear", "factor": 8.0}
    both = {"sliding_attention": {"rope_theta": 1.0}, "full_attention": {"rope_theta": 2.0, **linear}}
    old = read("Gemma3ForCausalLM", head_dim=32, sliding_window=64, rope_scaling=linear)
    new = read("Gemma3ForCausalLM", head_dim=32, sliding_window=64, rope_parameters=both)

    assert sorted(each.factor for each in old) == [1.0, 8.0]
    assert sorted(old, key=str) == sorted(new, key=str)


def test_kinds_that_turn_alike_share_it() -> None:
    alike = {"sliding_attention": {"rope_theta": 1.0}, "full_attention": {"rope_theta": 1.0}}
    kinds = ["sliding_attention"] * 5 + ["full_attention"]

    assert len(read("GraniteForCausalLM", layer_types=kinds, sliding_window=64, rope_parameters=alike)) == 1


def test_an_indexer_has_its_own_unless_it_turns_neighbours_too() -> None:
    assert len(read("DeepseekV32ForCausalLM", **LATENT)) == 2
    assert len(read("DeepseekV32ForCausalLM", **LATENT, indexer_rope_interleave=True)) == 1
    assert {each.width for each in read("DeepseekV32ForCausalLM", **LATENT)} == {16}


def test_some_tables_are_kept_in_32_bits() -> None:
    found = read("GptOssForCausalLM", head_dim=32, num_local_experts=4, sliding_window=64)

    assert {each.dtype for each in found} == {Dtype.F32}


def test_pictures_give_positions_several_axes() -> None:
    (found,) = read(rope_scaling={"type": "mrope", "mrope_section": [4, 6, 6]})

    assert (found.axes, found.stretch) == (True, Stretch.NOT)


@pytest.mark.parametrize(
    ("changes", "turned"),
    [({"position_embedding_type": "rope"}, 1), ({"position_embedding_type": "nope"}, 0), ({}, 0)],
)
def test_granite_turns_heads_only_where_it_says_so(changes: dict[str, object], turned: int) -> None:
    states = {"mamba_n_heads": 8, "mamba_d_head": 64, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_n_groups": 1}
    mixed = {"layer_types": ["mamba"] * 5 + ["attention"], "num_local_experts": 4, "mamba_expand": 2}
    more = {"shared_intermediate_size": 64, **states, **mixed, **changes}

    assert len(read("GraniteMoeHybridForCausalLM", **more)) == turned


def test_every_architecture_that_turns_nothing_is_one_that_is_read() -> None:
    assert {name for names in FILES.values() for name in names} >= WITHOUT


@given(
    st.dictionaries(
        st.sampled_from(["rope_type", "type", "factor", "original_max_position_embeddings", "partial_rotary_factor"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.lists(st.integers()),
    )
)
def test_nonsense_is_read_as_nothing_special_or_refused(said: dict[str, object]) -> None:
    try:
        found = read(rope_scaling=said)
    except OomphError:
        return
    assert all(0 < each.width <= 32 and each.factor > 0 for each in found)
