"""How long a request may be, by release and by flags."""

import json

import pytest

from oomph.architectures.registry import geometry
from oomph.engines.history import release
from oomph.engines.vllm.context import context_tokens, only_positions, overridden, too_long, usual_tokens
from oomph.errors import UsageError
from oomph.ledger.geometry import Geometry
from oomph.ledger.rotary import Stretch
from oomph.ledger.settings import Flags

SMALL: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 128,
    "max_position_embeddings": 40_960,
}
OLD, NEW = release("0.29.0"), release("0.30.0")
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}


def read(**changes: object) -> Geometry:
    return geometry(SMALL | changes)


def test_yarn_multiplied_the_original_context_until_0_30_0() -> None:
    found = read(rope_scaling=YARN)

    assert context_tokens(found, OLD) == 131_072
    assert context_tokens(found, NEW) == 40_960


def test_other_stretches_multiply_what_the_config_names() -> None:
    assert context_tokens(read(rope_scaling={"type": "linear", "factor": 2.0}), NEW) == 81_920
    assert context_tokens(read(rope_scaling={"type": "dynamic", "factor": 1.5}), NEW) == 61_440
    assert context_tokens(read(rope_scaling={"rope_type": "llama3", "factor": 8.0}), OLD) == 40_960


def test_longrope_is_not_used_unless_it_is_asked_for() -> None:
    found = read(
        architectures=["Phi3ForCausalLM"],
        original_max_position_embeddings=4096,
        rope_scaling={"type": "longrope", "short_factor": [1.0], "long_factor": [2.0]},
    )

    assert usual_tokens(found, NEW) == 4096
    assert too_long(Flags({"max_model_len": 40_960}), found, NEW) is None


def test_a_request_beyond_the_context_is_refused_unless_the_user_insists() -> None:
    found = read()
    words = too_long(Flags({"max_model_len": 40_961}), found, NEW)

    assert words is not None
    assert "40,960" in words
    assert too_long(Flags({"max_model_len": 40_960}), found, NEW) is None
    assert too_long(Flags({"max_model_len": -1}), found, NEW) is None
    assert too_long(Flags({"max_model_len": 99_999, "VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"}), found, NEW) is None


def test_overrides_change_positions_and_nothing_else() -> None:
    found = read()
    flags = Flags({"hf_overrides": json.dumps({"max_position_embeddings": 131_072, "rope_scaling": YARN})})
    changed = overridden(found, flags)

    assert (changed.context_tokens, changed.rotary[0].stretch) == (131_072, Stretch.YARN)
    assert changed.layers is found.layers
    assert overridden(found, flags) is changed  # so that what was computed for it is remembered
    assert overridden(found, Flags()) is found
    assert overridden(found, Flags({"rope_scaling": json.dumps(YARN)})).rotary[0].factor == 4.0


@pytest.mark.parametrize(
    ("overrides", "known"),
    [
        ({"max_position_embeddings": 1}, True),
        ({"text_config": {"rope_parameters": {}}}, True),
        ({"num_hidden_layers": 2}, False),
        ({"architectures": ["X"]}, False),
    ],
)
def test_it_is_known_which_overrides_speak_of_positions_alone(overrides: dict[str, object], *, known: bool) -> None:
    assert only_positions(Flags({"hf_overrides": json.dumps(overrides)})) is known


@pytest.mark.parametrize("text", ["x", "[]", '{"max_position_embeddings": "many"}', '{"max_position_embeddings": 0}'])
def test_overrides_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--hf-overrides"):
        overridden(read(), Flags({"hf_overrides": text}))
