"""The judges themselves: they repeat numbers that are known, and fail in a way that can be read.

The plans were computed once with each release's own planner; a row holds from the release it names.
"""

import json
import os
import signal
from typing import Any, Final, TypeVar

import pytest

from engine.pipe import RELEASES, Bench, Judge, JudgeError, Refusal

GIB: Final = 2**30
MIB: Final = 2**20

Fields = dict[str, object]
Row = TypeVar("Row")

every_release = pytest.mark.parametrize("release", RELEASES)


def _since(rows: dict[str, Row], release: str) -> Row:
    """The row that holds for this release: the newest that is not newer."""

    def number(name: str) -> list[int]:
        return [int(part) for part in name.split(".")]

    return [row for since, row in rows.items() if number(since) <= number(release)][-1]


FULL: Final[Fields] = {"kind": "full", "block_tokens": 16, "kv_heads": 8, "head_dim": 128, "dtype": "bfloat16"}
NARROW: Final = FULL | {"head_dim": 64}
WIDE: Final = FULL | {"kv_heads": 16}
GATED: Final[Fields] = {
    "kind": "mamba",
    "block_tokens": 65536,
    "shapes": [[5, 10240], [48, 128, 128]],
    "dtypes": ["bfloat16", "float32"],
    "padded": 3276800,
    "speculative_blocks": 2,
}
SPARSE: Final[Fields] = {
    "kind": "mla",
    "block_tokens": 64,
    "head_dim": 576,
    "dtype": "uint8",
    "cache_dtype": "fp8_ds_mla",
}


def _layers(**counts: tuple[int, Fields]) -> dict[str, Fields]:
    return {f"{name}.{index}": spec for name, (count, spec) in counts.items() for index in range(count)}


DENSE: Final = _layers(full=(32, FULL))
HYBRID: Final = _layers(
    full=(17, {"kind": "full", "block_tokens": 1600, "kv_heads": 4, "head_dim": 256, "dtype": "fp8"}),
    gated=(48, GATED),
)
SETTINGS: Final[Fields] = {"max_model_len": 32768, "max_num_batched_tokens": 2048, "max_num_seqs": 256}

QUESTIONS: Final[dict[str, Fields]] = {
    "dense": {"layers": DENSE, "available": [10 * GIB], "settings": SETTINGS},
    "gpt-oss-20b": {
        "layers": _layers(sliding=(12, NARROW | {"kind": "sliding", "window": 128}), full=(12, NARROW)),
        "available": [4 * GIB],
        "settings": SETTINGS | {"max_model_len": 131072},
    },
    "gemma-3-27b": {
        "layers": _layers(full=(10, WIDE), sliding=(52, WIDE | {"kind": "sliding", "window": 1024})),
        "available": [20 * GIB],
        "settings": SETTINGS | {"max_model_len": 131072},
    },
    "qwen-3.6-27b": {
        "layers": HYBRID,
        "available": [8 * GIB],
        "settings": SETTINGS | {"max_model_len": 65536},
    },
    "qwen-3.6-27b-override": {
        "layers": HYBRID,
        "available": [8 * GIB],
        "settings": SETTINGS | {"max_model_len": 65536, "override": 512},
    },
    "deepseek-v3.2": {
        "layers": _layers(mla=(61, SPARSE), indexer=(61, SPARSE | {"head_dim": 132, "cache_dtype": None})),
        "available": [30 * GIB],
        "settings": SETTINGS | {"max_model_len": 163840, "max_num_batched_tokens": 8192},
    },
}

# (layers per group, blocks, (tensors, bytes of the largest), tokens, concurrency as printed)
Plan = tuple[list[int], int, tuple[int, int], int, str]
PLANS: Final[dict[str, dict[str, Plan]]] = {
    "dense": {
        "0.11.0": ([32], 5120, (32, 335544320), 81920, "2.50"),
        "0.29.0": ([32], 5120, (1, 10737418240), 81920, "2.50"),
    },
    "gpt-oss-20b": {
        "0.11.0": ([12, 12], 10922, (12, 357892096), 87376, "1.31"),
        "0.20.2": ([12, 12], 10922, (12, 357892096), 171877, "1.31"),
        "0.26.0": ([12, 12], 10922, (12, 357892096), 169276, "1.29"),
        "0.29.0": ([12, 12], 10922, (2, 4294705152), 169276, "1.29"),
    },
    "gemma-3-27b": {
        "0.11.0": ([10, 9, 9, 9, 9, 8, 8], 16384, (10, 2147483648), 37440, "1.75"),
        "0.20.2": ([10, 9, 9, 9, 9, 8, 8], 16384, (10, 2147483648), 229677, "1.75"),
        "0.26.0": ([10, 9, 9, 9, 9, 8, 8], 16384, (10, 2147483648), 212243, "1.62"),
        "0.29.0": ([10, 9, 9, 9, 9, 8, 8], 16384, (7, 21474836480), 212243, "1.62"),
    },
    "qwen-3.6-27b": {
        "0.11.0": ([17, 16, 16, 16], 154, (17, 504627200), 60800, "3.50"),
        "0.15.0": ([17, 16, 16, 16], 154, (17, 504627200), 60800, "3.08"),
        "0.20.2": ([17, 16, 16, 16], 154, (17, 504627200), 201850, "3.08"),
        "0.29.0": ([17, 16, 16, 16], 154, (4, 8578662400), 201850, "3.08"),
    },
    "qwen-3.6-27b-override": {
        "0.11.0": ([17, 16, 16, 16], 512, (17, 1677721600), 204800, "11.64"),
        "0.15.0": ([17, 16, 16, 16], 512, (17, 1677721600), 204800, "10.24"),
        "0.20.2": ([17, 16, 16, 16], 512, (17, 1677721600), 671088, "10.24"),
        "0.29.0": ([17, 16, 16, 16], 512, (4, 28521267200), 671088, "10.24"),
    },
    "deepseek-v3.2": {
        "0.11.0": ([122], 10470, (122, 439572480), 670080, "4.09"),
        "0.29.0": ([122], 10470, (2, 32209405440), 670080, "4.09"),
    },
}


def _as_told(asked: Fields, release: str) -> Any:  # noqa: ANN401 - JSON
    """The question in the words of this release: from 0.28 on a layer says what a token of fp8_ds_mla holds."""
    told = json.loads(json.dumps(asked))
    for spec in told["layers"].values():
        if spec.get("cache_dtype") == "fp8_ds_mla":
            spec["state"] = _since({"0.11.0": None, "0.28.0": 656}, release)
    return told


@every_release
@pytest.mark.parametrize("case", QUESTIONS)
def test_a_plan_repeats_the_known_numbers(judges: Bench, release: str, case: str) -> None:
    groups, blocks, (tensors, largest), tokens, concurrency = _since(PLANS[case], release)

    plan: Any = judges[release].ask("plan", **_as_told(QUESTIONS[case], release))

    assert [len(group) for group in plan["groups"]] == groups
    assert plan["blocks"] == blocks
    assert (len(plan["tensors"]), max(plan["tensors"])) == (tensors, largest)
    assert plan["tokens"] == tokens
    assert f"{plan['concurrency']:.2f}" == concurrency
    assert f"{concurrency}x" in plan["printed"][-1]


@every_release
def test_a_pool_below_one_request_is_refused_in_the_engines_words(judges: Bench, release: str) -> None:
    longer = SETTINGS | {"max_model_len": 131072}
    length = _since({"0.11.0": 81920, "0.29.0": 81904}, release)

    with pytest.raises(Refusal, match=f"estimated maximum model length is {length}") as caught:
        judges[release].ask("plan", layers=DENSE, available=[10 * GIB], settings=longer)

    assert caught.value.type == "ValueError"


@pytest.mark.parametrize("release", RELEASES[RELEASES.index("0.14.1") :])
def test_the_longest_length_that_fits_is_found(judges: Bench, release: str) -> None:
    unset = SETTINGS | {"max_model_len": 131072, "original_max_model_len": -1}

    plan: Any = judges[release].ask("plan", layers=DENSE, available=[10 * GIB], settings=unset)

    assert plan["max_model_len"] == _since({"0.14.0": 81920, "0.29.0": 81904}, release)
    assert f"{plan['concurrency']:.2f}" == "1.00"


@every_release
def test_the_smallest_worker_decides_the_blocks(judges: Bench, release: str) -> None:
    stages = [{name: DENSE[name] for name in list(DENSE)[part]} for part in (slice(20), slice(20, 32))]

    plan: Any = judges[release].ask("plan", layers=stages, available=[10 * GIB, 5 * GIB], settings=SETTINGS)

    assert [worker["blocks"] for worker in plan["workers"]] == [
        5 * GIB // (12 * 65536)
    ] * 2  # 10 GiB for 20 layers would be 8192
    assert [len(worker["groups"][0]) for worker in plan["workers"]] == [20, 12]


@every_release
def test_one_start_answers_thousands_of_questions(judges: Bench, release: str) -> None:
    cases = [{"spec": FULL | {"block_tokens": tokens}} for tokens in range(1, 2001)]

    answers = judges[release].ask_many("page", cases)

    assert [answer.value for answer in answers] == [2 * 8 * 128 * 2 * tokens for tokens in range(1, 2001)]


@every_release
def test_a_page_and_a_request_are_weighed_for_every_kind(judges: Bench, release: str) -> None:
    attention = 2 * 16 * 8 * 128 * 2
    pages: list[tuple[Fields, int, int]] = [
        (FULL, attention, 2048),
        (FULL | {"kind": "sliding", "window": 128}, attention, _since({"0.11.0": 137, "0.26.0": 265}, release)),
        (FULL | {"kind": "chunked", "chunk": 512}, attention, _since({"0.11.0": 160, "0.26.0": 288}, release)),
        (FULL | {"kind": "cross"}, attention, 128),
        (SPARSE | {"state": _since({"0.11.0": None, "0.28.0": 656}, release)}, 64 * 656, 512),
        (GATED, 3276800, _since({"0.11.0": 1, "0.15.0": 3}, release)),
    ]
    judge = judges[release]

    assert [judge.ask("page", spec=spec) for spec, _, _ in pages] == [page for _, page, _ in pages]
    needs = [judge.ask("need", spec=spec, settings=SETTINGS) for spec, _, _ in pages]
    assert needs == [page * count for _, page, count in pages]


@every_release
def test_what_is_asked_of_the_device_is_rounded_up_since_0_14(judges: Bench, release: str) -> None:
    asked: Any = judges[release].ask("request_memory", total=80 * GIB + 7, free=79 * GIB, utilization=0.9)

    assert asked["requested"] == _since({"0.11.0": (80 * GIB + 7) * 0.9, "0.14.0": 77309411335}, release)


@every_release
def test_too_little_free_memory_is_refused_in_the_engines_words(judges: Bench, release: str) -> None:
    with pytest.raises(Refusal, match=r"^ValueError: Free memory on device .*\(70\.0/80\.0 GiB\) on startup"):
        judges[release].ask("request_memory", total=80 * GIB, free=70 * GIB, utilization=0.9)


SCENARIO: Final[Fields] = {
    "total": 80 * GIB,
    "initial_free": 79 * GIB,
    "utilization": 0.9,
    "weights": 15 * GIB,
    "torch_before": 15 * GIB + 300 * MIB,
    "torch_peak": 18 * GIB,
    "torch_after": 15 * GIB + 400 * MIB,
    "reserved_after": 16 * GIB,
    "nontorch_growth": 200 * MIB,
    "graph_estimate": 1 * GIB,
}


@every_release
def test_the_budget_subtracts_what_this_release_counts(judges: Bench, release: str) -> None:
    summed = 15 * GIB + (18 * GIB - 15 * GIB - 300 * MIB) + 200 * MIB  # weights, activations, not torch's
    measured = (16 * GIB + 200 * MIB) + (18 * GIB - 15 * GIB - 400 * MIB)  # gone from free memory, and the peak above
    used = _since({"0.11.0": summed, "0.27.0": measured}, release)
    graphs = _since({"0.11.0": 0, "0.18.0": 1 * GIB}, release)
    usual = _since({"0.11.0": 0, "0.20.0": 1 * GIB}, release)

    answers = judges[release].ask_many(
        "available_memory",
        [
            SCENARIO,
            SCENARIO | {"charge_graphs": True},
            SCENARIO | {"charge_graphs": False},
            SCENARIO | {"charge_graphs": True, "eager": True},
            SCENARIO | {"kv_cache_memory_bytes": 5 * GIB},
        ],
    )

    values: list[Any] = [answer.value for answer in answers]
    left = 72 * GIB - used
    assert [value["available"] for value in values] == [left - usual, left - graphs, left, left, 5 * GIB]


@every_release
def test_memory_given_back_while_profiling_is_refused(judges: Bench, release: str) -> None:
    with pytest.raises(Refusal, match="Error in memory profiling"):
        judges[release].ask("available_memory", **SCENARIO | {"nontorch_growth": -20 * GIB})


@every_release
def test_the_pool_for_measuring_graphs_follows_the_runner(judges: Bench, release: str) -> None:
    asked: Fields = {"layers": DENSE, "settings": SETTINGS, "capture_size": 512}
    blocks = _since({"0.11.0": None, "0.18.0": 512, "0.26.0": 256}, release)

    v1: Any = judges[release].ask("minimal_pool", **asked, runner="v1")
    v2: Any = judges[release].ask("minimal_pool", **asked, runner="v2")

    assert (v1 and v1["blocks"]) == blocks
    assert (v2 and v2["blocks"]) == _since({"0.11.0": None, "0.29.0": 256}, release)


@every_release
def test_numbers_are_read_as_this_release_reads_them(judges: Bench, release: str) -> None:
    answers = judges[release].ask_many("human_readable_int", [{"text": text} for text in ("32k", "32K", "2.5k", "32X")])

    assert [answer.value for answer in answers] == [32000, 32768, 2500, None]
    assert answers[-1].refusal is not None


@every_release
def test_the_options_of_a_release_are_listed(judges: Bench, release: str) -> None:
    flags: Any = judges[release].ask("flags")

    named = {name: flag for flag in flags for name in flag["names"]}
    assert len(flags) > 150
    assert named["--gpu-memory-utilization"]["default"] == _since({"0.11.0": "0.9", "0.20.0": "0.92"}, release)
    assert ("--swap-space" in named) == _since({"0.11.0": True, "0.18.0": False}, release)


LLAMA: Final[Fields] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 128256,
    "hidden_act": "silu",
    "max_position_embeddings": 131072,
    "rms_norm_eps": 1e-5,
    "rope_theta": 500000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
MOE: Final[Fields] = LLAMA | {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "num_hidden_layers": 48,
    "num_key_value_heads": 4,
    "vocab_size": 151936,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "norm_topk_prob": True,
    "max_position_embeddings": 40960,
}
QWEN36: Final[Fields] = {
    "architectures": ["Qwen3_5ForConditionalGeneration"],
    "model_type": "qwen3_5",
    "dtype": "bfloat16",
    "image_token_id": 248056,
    "video_token_id": 248057,
    "vision_start_token_id": 248053,
    "vision_end_token_id": 248054,
    "tie_word_embeddings": False,
    "text_config": {
        "model_type": "qwen3_5_text",
        "attn_output_gate": True,
        "dtype": "bfloat16",
        "head_dim": 256,
        "full_attention_interval": 4,
        "hidden_act": "silu",
        "hidden_size": 5120,
        "intermediate_size": 17408,
        "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 16,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 48,
        "linear_value_head_dim": 128,
        "max_position_embeddings": 262144,
        "mtp_num_hidden_layers": 1,
        "num_attention_heads": 24,
        "num_hidden_layers": 64,
        "num_key_value_heads": 4,
        "rms_norm_eps": 1e-6,
        "tie_word_embeddings": False,
        "vocab_size": 248320,
        "mamba_ssm_dtype": "float32",
        "partial_rotary_factor": 0.25,
        "rope_parameters": {
            "mrope_interleaved": True,
            "mrope_section": [11, 11, 10],
            "rope_type": "default",
            "rope_theta": 10000000,
            "partial_rotary_factor": 0.25,
        },
    },
    "vision_config": {
        "model_type": "qwen3_5",
        "deepstack_visual_indexes": [],
        "depth": 27,
        "hidden_act": "gelu_pytorch_tanh",
        "hidden_size": 1152,
        "in_channels": 3,
        "intermediate_size": 4304,
        "num_heads": 16,
        "num_position_embeddings": 2304,
        "out_hidden_size": 5120,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    },
}


def _device(name: str, capability: tuple[int, int], gib: float) -> Fields:
    return {"name": name, "capability": list(capability), "total": int(gib * GIB)}


H100: Final = _device("NVIDIA H100 80GB HBM3", (9, 0), 79.19)
A100: Final = _device("NVIDIA A100-SXM4-80GB", (8, 0), 79.25)
T4: Final = _device("Tesla T4", (7, 5), 14.56)


@pytest.mark.parametrize(
    ("device", "seqs", "tokens", "capture"),
    [
        (T4, 256, 2048, 512),
        (_device("NVIDIA GeForce RTX 3090", (8, 6), 23.57), 256, 2048, 512),
        (_device("NVIDIA GeForce RTX 5090", (12, 0), 31.36), 256, 2048, 512),
        (A100, 256, 2048, 512),
        (H100, 1024, 8192, 512),
        (_device("NVIDIA B200", (10, 0), 178.35), 1024, 16384, 1024),
    ],
    ids=lambda value: value["name"] if isinstance(value, dict) else None,
)
def test_the_defaults_depend_on_the_device(judges: Bench, device: Fields, seqs: int, tokens: int, capture: int) -> None:
    flags = {"dtype": "half", "max_model_len": 8192}

    chosen: Any = judges["0.32.0"].ask("defaults", device=device, config=LLAMA, flags=flags)

    assert (chosen["max_num_seqs"], chosen["max_num_batched_tokens"]) == (seqs, tokens)
    assert (chosen["max_capture_size"], chosen["capture_sizes"][-1]) == (capture, capture)
    assert (chosen["runner"], chosen["cudagraph_mode"]) == ("v2", "FULL_AND_PIECEWISE")


@every_release
def test_every_release_resolves_its_defaults(judges: Bench, release: str) -> None:
    flags = {"max_model_len": 8192}

    chosen: Any = judges[release].ask("defaults", device=H100, config=LLAMA, flags=flags)
    offline: Any = judges[release].ask("defaults", device=H100, config=LLAMA, flags=flags, usage="offline")

    assert chosen["gpu_memory_utilization"] == _since({"0.11.0": 0.9, "0.20.0": 0.92}, release)
    assert (chosen["max_num_seqs"], chosen["max_num_batched_tokens"]) == (1024, 8192)
    assert offline["max_num_batched_tokens"] == 16384
    assert chosen["async_scheduling"] == _since({"0.11.0": False, "0.14.0": True}, release)
    assert chosen["runner"] == _since({"0.11.0": "v1", "0.23.0": "v2"}, release)
    assert chosen["block_size"] == 16


def test_no_device_leaks_into_the_next_question(judges: Bench) -> None:
    judge, asked = judges["0.32.0"], {"config": LLAMA, "flags": {"max_model_len": 8192, "dtype": "half"}}

    before: Any = judge.ask("defaults", device=H100, **asked)
    between: Any = judge.ask("defaults", device=T4, **asked)
    after: Any = judge.ask("defaults", device=H100, **asked)

    assert (before["max_num_seqs"], between["max_num_seqs"]) == (1024, 256)
    assert before == after


def test_no_model_leaks_into_the_next_question(judges: Bench) -> None:
    judge, asked = judges["0.32.0"], {"device": H100, "flags": {"max_model_len": 8192}}

    before = judge.ask("model", config=LLAMA, **asked)
    judge.ask("model", config=MOE, tp=2, **asked)
    after = judge.ask("model", config=LLAMA, **asked)

    assert before == after


AWQ: Final = LLAMA | {
    "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"}
}
GPTQ: Final = LLAMA | {
    "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}
}
FP8: Final = LLAMA | {
    "quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
}


@pytest.mark.parametrize(
    ("config", "where", "parameters"),
    [
        pytest.param(LLAMA, {}, 16060522496, id="llama"),
        pytest.param(LLAMA, {"tp": 2}, 8030527488, id="llama-tp2"),
        pytest.param(LLAMA, {"tp": 8}, 2008031232, id="llama-tp8"),
        pytest.param(LLAMA, {"tp": 2, "pp": 2}, 4015259648, id="llama-tp2-pp2"),
        pytest.param(LLAMA, {"pp": 3, "rank": 1}, 4798464000, id="llama-pp3-middle"),
        pytest.param(AWQ, {}, 5727854592, id="llama-awq"),
        pytest.param(GPTQ, {}, 5727854592, id="llama-gptq"),
        pytest.param(FP8, {}, 9082904832, id="llama-fp8"),
        pytest.param(MOE, {}, 61064245248, id="qwen3-moe"),
        pytest.param(MOE, {"tp": 2}, 30544916480, id="qwen3-moe-tp2"),
        pytest.param(MOE, {"tp": 8}, 7680585728, id="qwen3-moe-tp8"),
        pytest.param(QWEN36, {}, 54713461728, id="qwen3.6"),
        pytest.param(QWEN36, {"tp": 2}, 27362024560, id="qwen3.6-tp2"),
        pytest.param(QWEN36, {"flags": {"language_model_only": True}}, 53792001536, id="qwen3.6-text"),
    ],
)
def test_a_model_weighs_what_the_engine_builds(
    judges: Bench, config: Fields, where: dict[str, Any], parameters: int
) -> None:
    flags = {"max_model_len": 32768} | where.get("flags", {})

    built: Any = judges["0.32.0"].ask("model", **where | {"device": H100, "config": config, "flags": flags})

    assert built["parameters"] == parameters
    assert built["draft"] is None


@every_release
def test_every_release_builds_a_model_and_reports_its_specs(judges: Bench, release: str) -> None:
    flags = {"max_model_len": 8192}

    built: Any = judges[release].ask("model", device=H100, config=LLAMA, flags=flags, tp=2, per_tensor=True)

    assert built["parameters"] == 8030527488
    assert built["tensors"]["lm_head.weight"] == [[64128, 4096], "bfloat16"]
    assert {(spec["kind"], spec["page"], spec["block_tokens"]) for spec in built["specs"].values()} == {
        ("full", 32768, 16)
    }
    assert len(built["specs"]) == 32


def test_a_hybrid_with_a_draft_model_has_the_pages_of_the_real_crash(judges: Bench) -> None:
    speculative = {"method": "mtp", "num_speculative_tokens": 2}
    flags = {"max_model_len": 65536, "kv_cache_dtype": "fp8", "speculative_config": speculative}

    built: Any = judges["0.32.0"].ask("model", device=H100, config=QWEN36, flags=flags)

    specs = list(built["specs"].values())
    assert sorted((spec["kind"], spec["page"], spec["block_tokens"]) for spec in specs) == [
        *[("full", 3276800, 1600)] * 17,
        *[("mamba", 3276800, 1600)] * 48,
    ]
    assert built["draft"] == 5934992384


def test_what_a_model_reports_can_be_planned(judges: Bench) -> None:
    judge = judges["0.32.0"]
    built: Any = judge.ask("model", device=H100, config=QWEN36, flags={"max_model_len": 65536})
    known = {"kind", "block_tokens", "kv_heads", "head_dim", "dtype", "padded", "shapes", "dtypes", "mode"}
    layers = {
        name: {field: value for field, value in spec.items() if field in known} for name, spec in built["specs"].items()
    }

    plan: Any = judge.ask("plan", layers=layers, available=[20 * GIB], settings=SETTINGS | {"mamba_mode": "align"})

    assert [len(group) for group in plan["groups"]] == [16, 16, 16, 16]
    assert plan["blocks"] == 20 * GIB // (16 * 3211264)


def test_a_killed_judge_is_reported_with_its_last_words(judges: Bench) -> None:
    with judges.another("0.32.0") as judge:
        with pytest.raises(Refusal):
            judge.ask("plan", layers=DENSE, available=[0], settings=SETTINGS)
        assert judge.pid is not None
        os.kill(judge.pid, signal.SIGKILL)

        with pytest.raises(JudgeError, match=r"(?s)vLLM 0\.32\.0 died; its last words:.*No available memory"):
            judge.ask_many("page", [{"spec": FULL}] * 2000)


def test_a_judge_says_when_it_does_not_understand(judges: Bench) -> None:
    with pytest.raises(JudgeError, match="there is no question 'weather'"):
        judges["0.32.0"].ask("weather")
    with pytest.raises(JudgeError, match="has no head_size_v"):
        judges["0.11.0"].ask("page", spec=FULL | {"value_dim": 64})

    assert judges["0.11.0"].ask("page", spec=FULL) == 65536


def test_a_release_that_was_never_fetched_is_named() -> None:
    with Judge("0.0.1") as judge, pytest.raises(JudgeError, match=r"vLLM 0\.0\.1 is not at"):
        judge.ask("page", spec=FULL)
