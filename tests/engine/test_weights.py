"""What flags and configs do to the weights, asked of vLLM: tables for positions, lengths, formats, adapters, graphs."""

import json
import math
from collections.abc import Mapping
from typing import Final, cast

import pytest

from engine.pipe import Bench
from oomph.architectures.registry import geometry, quantization
from oomph.engines.history import release
from oomph.engines.vllm.context import overridden, too_long, usual_tokens
from oomph.engines.vllm.resolve import resolve
from oomph.engines.vllm.weights import adapters
from oomph.engines.vllm.weights.loading import loading
from oomph.engines.vllm.weights.parts import Case, parts
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.served import served
from oomph.engines.vllm.weights.tables import tables
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Device
from oomph.ledger.same import Same
from oomph.ledger.settings import Flags, Value

GPU: Final = CATALOGUE["h100-80gb"]
TINY: Final[dict[str, object]] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 256,
    "max_position_embeddings": 8192,
    "torch_dtype": "float16",
}
SIZES: Final = {"bfloat16": 2, "float16": 2, "float32": 4}
RELEASES: Final = ("0.19.1", "0.28.0", "0.32.0")
LONG: Final = {"short_factor": [1.0] * 8, "long_factor": [2.0] * 8}
ROPES: Final[Mapping[str, Mapping[str, object]]] = {
    "plain": {},
    "llama3": {
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 2048,
        }
    },
    "linear": {"rope_scaling": {"rope_type": "linear", "factor": 2.0}},
    "dynamic": {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}},
    "yarn": {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}},
    "yarn beyond": {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}},
}
MODELS: Final[Mapping[str, dict[str, object]]] = {
    **{f"Llama, {name}": {**TINY, "rope_theta": 10000.0, **rope} for name, rope in ROPES.items()},
    "Phi 3, longrope": {
        **TINY,
        "architectures": ["Phi3ForCausalLM"],
        "model_type": "phi3",
        "original_max_position_embeddings": 2048,
        "rope_theta": 10000.0,
        "rope_scaling": {"type": "longrope", **LONG},
        "pad_token_id": 0,
    },
    "GLM 4": {**TINY, "architectures": ["Glm4ForCausalLM"], "model_type": "glm4", "head_dim": 16, "pad_token_id": 0},
    "StableLM": {**TINY, "architectures": ["StableLmForCausalLM"], "model_type": "stablelm"},
    "Cohere": {**TINY, "architectures": ["CohereForCausalLM"], "model_type": "cohere", "model_max_length": 16384},
    "Exaone 4": {**TINY, "architectures": ["Exaone4ForCausalLM"], "model_type": "exaone4", "sliding_window": 64},
    "Falcon H1": {
        **TINY,
        "architectures": ["FalconH1ForCausalLM"],
        "model_type": "falcon_h1",
        "mamba_d_ssm": 64,
        "mamba_n_heads": 4,
        "mamba_d_head": 16,
        "mamba_n_groups": 1,
        "mamba_d_state": 16,
        "mamba_d_conv": 4,
        "mamba_expand": 1,
    },
    "Gemma 3": {
        **TINY,
        "architectures": ["Gemma3ForCausalLM"],
        "model_type": "gemma3_text",
        "head_dim": 16,
        "sliding_window": 64,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        "num_hidden_layers": 6,
        "torch_dtype": "bfloat16",
    },
}


def told(device: Device) -> Mapping[str, object]:
    """A device in the judge's words."""
    assert device.capability is not None
    capability = [device.capability.major, device.capability.minor]
    return {"name": device.name, "capability": capability, "total": int(device.total)}


def built(judges: Bench, name: str, config: Mapping[str, object], flags: Mapping[str, object]) -> Mapping[str, object]:
    answer = judges[name].ask("model", device=told(GPU), config=config, flags=flags, per_tensor=True)
    return cast("Mapping[str, object]", answer)


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("model", MODELS)
def test_tables_and_the_longest_request_are_vllms(model: str, name: str, judges: Bench) -> None:
    config, asked = MODELS[model], release(name)
    found = geometry(config)
    theirs = built(judges, name, config, {})
    named = cast("Mapping[str, tuple[list[int], str]]", theirs["tables"])
    rows = [math.prod(shape) * SIZES[dtype] for key, (shape, dtype) in named.items() if "cos_sin_cache" in key]

    assert sorted(rows) == sorted(int(each) for each in tables(found, served(found), asked))
    chosen = cast("Mapping[str, object]", theirs["defaults"])["max_model_len"]
    assert chosen == usual_tokens(found, asked)


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("rope", ["plain", "yarn beyond", "linear", "llama3"])
def test_a_request_that_is_too_long_is_refused_as_vllm_refuses_it(rope: str, name: str, judges: Bench) -> None:
    config, asked = MODELS[f"Llama, {rope}"], release(name)
    found = geometry(config)
    lengths = [4096, 8192, 8193, 16384, 16385]
    cases = [{"device": told(GPU), "config": config, "flags": {"max_model_len": length}} for length in lengths]
    refused = [answer.refusal is not None for answer in judges[name].ask_many("defaults", cases)]

    assert refused == [too_long(Flags({"max_model_len": length}), found, asked) is not None for length in lengths]


@pytest.mark.parametrize("name", RELEASES)
def test_positions_can_be_overridden(name: str, judges: Bench) -> None:
    rope = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192, "rope_theta": 10000.0}
    fields = {"max_position_embeddings": 32768, "rope_parameters": rope}
    theirs = built(judges, name, TINY, {"hf_overrides": fields})
    text = '{"max_position_embeddings": 32768, "rope_parameters": {"rope_type": "yarn", "factor": 4.0, '
    text += '"original_max_position_embeddings": 8192}}'
    found = overridden(geometry(TINY), Flags({"hf_overrides": text}))
    named = cast("Mapping[str, tuple[list[int], str]]", theirs["tables"])
    (rows,) = (math.prod(shape) * SIZES[dtype] for key, (shape, dtype) in named.items() if "cos_sin_cache" in key)

    assert rows == sum(tables(found, served(found), release(name)))
    assert cast("Mapping[str, object]", theirs["defaults"])["max_model_len"] == usual_tokens(found, release(name))


@pytest.mark.parametrize("dtype", ["auto", "half", "bfloat16", "float32"])
def test_parameters_in_the_format_that_is_asked_for_are_vllms(dtype: str, judges: Bench) -> None:
    flags: dict[str, Value] = {"dtype": dtype}
    theirs = built(judges, "0.32.0", TINY, flags)
    case = Case(
        geometry=Same(geometry(TINY)),
        stored=Same(None),
        asked=loading(Flags(flags)),
        capability=GPU.capability,
        release=release("0.32.0"),
        ranks=Ranks(),
    )
    tensors = cast("Mapping[str, object]", theirs["tensors"])
    held = parts(case).model.likely

    # The allocator rounds each of them up to 512 bytes.
    assert 0 <= held - cast("int", theirs["parameters"]) < 512 * len(tensors)


@pytest.mark.parametrize("tp", [1, 2])
@pytest.mark.parametrize("name", ["0.19.1", "0.32.0"])
@pytest.mark.parametrize("architecture", ["LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"])
def test_room_for_adapters_is_vllms(architecture: str, name: str, tp: int, judges: Bench) -> None:
    config = {**TINY, "architectures": [architecture], "model_type": architecture.removesuffix("ForCausalLM").lower()}
    config |= {"hidden_size": 512, "vocab_size": 512, "head_dim": 128}
    flags: dict[str, Value] = {"enable_lora": True, "max_loras": 2, "max_lora_rank": 32}
    theirs = judges[name].ask("adapters", device=told(GPU), config=config, flags=flags, tp=tp)
    found, asked = geometry(config), loading(Flags(flags)).adapters
    assert asked is not None
    ours = adapters.room(found, Ranks(tensor=tp), asked, dtype=served(found), release=release(name))

    assert ours.likely == sum(cast("Mapping[str, int]", theirs).values())


DEEPSEEK: Final[dict[str, object]] = {
    **TINY,
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "num_key_value_heads": 4,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "moe_intermediate_size": 128,
    "num_experts_per_tok": 2,
    "first_k_dense_replace": 1,
    "n_group": 1,
    "topk_group": 1,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "kv_lora_rank": 512,
    "q_lora_rank": 128,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "hidden_size": 256,
    "num_nextn_predict_layers": 1,
    "torch_dtype": "bfloat16",
}
BLOCKS: Final = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}


@pytest.mark.parametrize("stored", [None, BLOCKS], ids=["plain", "fp8"])
def test_a_draft_before_it_shares_is_vllms(stored: dict[str, object] | None, judges: Bench) -> None:
    config = DEEPSEEK if stored is None else {**DEEPSEEK, "quantization_config": stored}
    guesses = {"method": "mtp", "num_speculative_tokens": 1}
    theirs = built(judges, "0.32.0", config, {"speculative_config": guesses})
    case = Case(
        geometry=Same(geometry(config)),
        stored=Same(quantization(config)),
        asked=loading(Flags({"speculative_config": json.dumps(guesses)})),
        capability=GPU.capability,
        release=release("0.32.0"),
        ranks=Ranks(),
    )
    found = parts(case)
    ours = found.guesses.likely + found.transient.low

    # The allocator rounds each tensor up to 512 bytes, and a draft of one layer has some forty of them.
    assert 0 <= ours - cast("int", theirs["draft"]) < 512 * 40


GRAPHS: Final[tuple[dict[str, object], ...]] = (
    {"cudagraph_mode": "NONE"},
    {"cudagraph_mode": "PIECEWISE"},
    {"cudagraph_mode": "FULL"},
    {"cudagraph_mode": "FULL_DECODE_ONLY", "cudagraph_capture_sizes": [1, 2, 4, 7]},
    {"cudagraph_capture_sizes": [16, 1, 8]},
    {"max_cudagraph_capture_size": 48},
    {"mode": 0},
    {"mode": 0, "cudagraph_mode": "FULL"},
    {"mode": 3},
)


@pytest.mark.parametrize("name", ["0.14.1", "0.19.1", "0.32.0"])
@pytest.mark.parametrize("config", GRAPHS, ids=str)
def test_graphs_of_a_compilation_config_are_vllms(config: dict[str, object], name: str, judges: Bench) -> None:
    theirs = judges[name].ask("defaults", device=told(GPU), config=TINY, flags={"compilation_config": config})
    flags = Flags({"compilation_config": json.dumps(config)})
    ours = resolve(flags, device=GPU, release=release(name), context_tokens=8192)

    assert ours["cudagraph_capture_sizes"].value == tuple(cast("Mapping[str, list[int]]", theirs)["capture_sizes"])


@pytest.mark.parametrize("flags", [{"performance_mode": "interactivity"}, {"performance_mode": "throughput"}], ids=str)
@pytest.mark.parametrize("more", [{}, {"max_num_seqs": 24}], ids=str)
@pytest.mark.parametrize("name", ["0.17.1", "0.32.0"])
def test_performance_modes_are_vllms(name: str, more: dict[str, Value], flags: dict[str, Value], judges: Bench) -> None:
    asked: dict[str, Value] = {**flags, **more}
    theirs = cast("Mapping[str, object]", judges[name].ask("defaults", device=told(GPU), config=TINY, flags=asked))
    ours = resolve(Flags(asked), device=GPU, release=release(name), context_tokens=8192)

    assert ours["cudagraph_capture_sizes"].value == tuple(cast("list[int]", theirs["capture_sizes"]))
    assert ours["max_num_seqs"].value == theirs["max_num_seqs"]
    assert ours["max_num_batched_tokens"].value == theirs["max_num_batched_tokens"]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_graphs_of_an_optimization_level_are_vllms(level: int, judges: Bench) -> None:
    asked: dict[str, Value] = {"optimization_level": level}
    theirs = cast("Mapping[str, object]", judges["0.32.0"].ask("defaults", device=told(GPU), config=TINY, flags=asked))
    ours = resolve(Flags(asked), device=GPU, release=release("0.32.0"), context_tokens=8192)

    assert ours["cudagraph_capture_sizes"].value == tuple(cast("list[int]", theirs["capture_sizes"]))
