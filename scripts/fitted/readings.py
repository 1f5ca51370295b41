"""What a person reads in each record that can be asked: checkpoint, device, release, length, and what worked.

Knows the records of the corpus by their ids. Nothing here is tuned: where a record leaves something open, the table
says what was put in its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from oomph.ledger.settings import Value

_AWQ, _INT4, _INT8 = "AWQ in groups of 128", "4 bits in groups of 128", "8 bits in groups of 128"
_FP8: Final = "8-bit floats in blocks of 128"
_SEES: Final = "AWQ in groups of 128, but for what sees"

Given = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """A configuration that is known to have started."""

    flags: Given
    at_once: int | None = None  # requests of full length that the engine printed; else they are forecast
    tokens: int | None = None  # of the whole pool, where that was printed instead
    source: str  # who says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One start-up that failed, as it is asked again."""

    config: str  # of the models at hand
    gpu: str  # as on the command line
    release: str
    length: int | None = None  # that was asked for; None: the model's whole context
    kept: Given = field(default_factory=dict)  # flags that say what is served, not how much memory it has
    failing: Given = field(default_factory=dict)  # the other flags with which it failed
    starved: bool = False  # it failed because the pool was too small: a larger share would have been easier
    recipe: str | None = None  # how the weights are stored, where the config at hand does not say
    context: int | None = None  # of the model, where the config at hand is of a sibling
    told: tuple[float, float] | None = None  # GiB of weights, where only they are known
    total: float | None = None  # GiB of the device, where it was printed
    free: float | None = None  # GiB at the start
    working: Working | None = None
    assumed: tuple[str, ...] = ()  # what stands in for what the record leaves open
    remark: str = ""  # why an answer is less than one could wish


_DAY: Final = "the newest release of its day"
_THREAD: Final = "the thread"

READINGS: Final[Mapping[str, Reading]] = {
    "s0002": Reading(
        config="openai__gpt-oss-120b.json",
        gpu="h100-80gb",
        release="0.10.1.1",
        starved=True,
        assumed=(_DAY, "the H100 of 80 GB, as the negative pool shows"),
    ),
    "s0025": Reading(
        config="MiniMaxAI__MiniMax-M2.7.json",
        gpu="gb10 x2",
        release="0.29.1rc1.dev17",
        starved=True,
        failing={"tensor_parallel_size": 2, "gpu_memory_utilization": 0.8, "max_model_len": 196_608},
        length=196_608,
        recipe=_AWQ,
        working=Working(
            flags={"tensor_parallel_size": 2, "gpu_memory_utilization": 0.85, "max_model_len": 196_608},
            at_once=1,
            source="s0026, which served",
        ),
        assumed=(_AWQ,),
        remark="the weights assumed are too small: 22.5 GiB of pool were printed",
    ),
    "s0027": Reading(
        config="Qwen__Qwen3-30B-A3B-Instruct-2507.json",
        gpu="rtx-5070-ti + rtx-5090-d",
        release="0.15.2rc1.dev93",
        starved=True,
        failing={"pipeline_parallel_size": 2, "gpu_memory_utilization": 0.9},
        length=262_144,
        recipe=_FP8,
        remark="layers are split evenly; the forecast does not know VLLM_PP_LAYER_PARTITION",
    ),
    "s0028": Reading(
        config="nvidia__Qwen3.6-27B-NVFP4.json",
        gpu="rtx-5090-laptop",
        release="0.29.1rc1.dev339",
        failing={
            "gpu_memory_utilization": 0.98,
            "max_model_len": 124_000,
            "max_num_seqs": 1,
            "max_num_batched_tokens": 2_048,
        },
        length=124_000,
        kept={"kv_cache_dtype": "nvfp4", "dtype": "bfloat16"},
        working=Working(
            flags={
                "gpu_memory_utilization": 0.97,
                "max_model_len": 124_000,
                "max_num_seqs": 1,
                "max_num_batched_tokens": 2048,
            },
            at_once=1,
            source=_THREAD,
        ),
        assumed=("stored as NVIDIA's checkpoint of the same shapes",),
        remark="the weights assumed are too large: of a budget of 21.91 GiB the engine had 2.97 GiB left for the pool",
    ),
    "s0037": Reading(
        config="openai__gpt-oss-120b.json",
        gpu="rtx-pro-4500 x8",
        release="0.28.0",
        failing={"tensor_parallel_size": 8, "gpu_memory_utilization": 0.95, "max_num_seqs": 256},
    ),
    "s0040": Reading(
        config="deepseek-ai__DeepSeek-V4-Pro.json",
        gpu="b200 x8",
        release="0.20.1",
        failing={"tensor_parallel_size": 8, "block_size": 256},
        kept={"kv_cache_dtype": "fp8"},
        assumed=(_DAY, "without LMCache"),
        remark="178.31 GiB were in use, more than any budget; LMCache was attached",
    ),
    "s0050": Reading(
        config="nvidia__Gemma-4-31B-IT-NVFP4.json",
        gpu="rtx-5090",
        release="0.19.1",
        failing={"max_model_len": 8_192},
        length=8192,
        assumed=(_DAY,),
    ),
    "s0056": Reading(
        config="Qwen__Qwen2.5-32B.json",
        gpu="rtx-3090 x2",
        release="0.8.0",
        failing={"tensor_parallel_size": 2},
        recipe=_INT4,
        context=40_960,
        assumed=("the shapes of Qwen2.5-32B", _INT4),
    ),
    "s0071": Reading(
        config="Qwen__Qwen3-32B.json",
        gpu="44GiB x2",
        release="0.8.4",
        failing={"tensor_parallel_size": 2},
        length=16_384,
        assumed=("44 GiB for an L20",),
        remark="what its graphs took beside the pool is not forecast",
    ),
    "s0081": Reading(
        config="Qwen__Qwen2.5-VL-7B-Instruct.json",
        gpu="rtx-3090",
        release="0.8.5.post1",
        recipe=_SEES,
        total=23.69,
        free=15.09,
        assumed=(_DAY, _SEES, "a card of 23.69 GiB"),
    ),
    "s0149": Reading(
        config="llava-hf__llava-1.5-7b-hf.json",
        gpu="rtx-4080",
        release="0.10.2",
        failing={"gpu_memory_utilization": 0.85, "max_model_len": 4_096},
        length=4096,
        recipe=_SEES,
        free=13.58,
        working=Working(
            flags={"gpu_memory_utilization": 0.85, "max_model_len": 4096},
            at_once=4,
            source="s0150, which served, on a card with more free memory",
        ),
        assumed=(_AWQ,),
    ),
    "s0163": Reading(
        config="Qwen__Qwen3-14B.json",
        gpu="h100-nvl",
        release="0.10.2",
        failing={"gpu_memory_utilization": 0.8, "max_model_len": 4_096},
        length=4096,
        kept={"enable_lora": True, "max_lora_rank": 64, "dtype": "bfloat16"},
        free=16.01,
    ),
    "llmd-787": Reading(
        config="Qwen__Qwen3-32B.json",
        gpu="h100-80gb x2",
        release="0.11.0",
        failing={"tensor_parallel_size": 2, "gpu_memory_utilization": 0.95},
        assumed=("H100 of 80 GB",),
    ),
    "vllm-49476": Reading(
        config="nvidia__Qwen3.6-35B-A3B-NVFP4.json",
        gpu="rtx-5090",
        release="0.25.1",
        assumed=("the RTX 5090 of the two devices",),
        remark="what the MoE backend of that release takes is not forecast; the thread cured it with --moe-backend",
    ),
    "vllm-17469": Reading(
        config="Qwen__Qwen3-30B-A3B.json",
        gpu="a10 x4",
        release="0.8.5",
        failing={"tensor_parallel_size": 4, "max_model_len": 1_024, "max_num_seqs": 1},
        length=1024,
        working=Working(
            flags={"tensor_parallel_size": 4, "max_model_len": 1024, "max_num_seqs": 1, "enforce_eager": True},
            source=_THREAD,
        ),
    ),
    "vllm-18114-c": Reading(
        config="Qwen__Qwen3-235B-A22B.json",
        gpu="a10 x4",
        release="0.8.5",
        failing={"tensor_parallel_size": 4, "max_model_len": 8_192, "gpu_memory_utilization": 0.95},
        length=8192,
        recipe=_AWQ,
        assumed=(_AWQ, "the engine of its release, not the older one"),
    ),
    "vllm-49224": Reading(
        config="nvidia__Llama-3.1-70B-Instruct-FP8.json",
        gpu="l40s x8",
        release="0.25.1",
        failing={"tensor_parallel_size": 8},
        working=Working(
            flags={"tensor_parallel_size": 8, "VLLM_USE_V2_MODEL_RUNNER": "0"},
            source=_THREAD,
        ),
    ),
    "vllm-16199": Reading(
        config="google__gemma-3-27b-it.json",
        gpu="a10g",
        release="0.8.3",
        failing={"max_model_len": 128, "gpu_memory_utilization": 0.98},
        length=128,
        kept={"dtype": "float16"},
        recipe=_SEES,
        assumed=(_SEES, "the engine of its release, not the older one"),
    ),
    "inferencex-1461": Reading(
        config="deepseek-ai__DeepSeek-V4-Pro.json",
        gpu="h200 x8",
        release="0.21.0",
        failing={"tensor_parallel_size": 8, "gpu_memory_utilization": 0.95},
        assumed=("the larger of the two models, as its publisher stores it",),
        remark="that 0.21.0 lays experts out anew as they are loaded is not known to the forecast",
    ),
    "vllm-36861": Reading(
        config="Qwen__Qwen3.5-35B-A3B.json",
        gpu="a10 x4",
        release="0.17.0",
        starved=True,
        failing={
            "pipeline_parallel_size": 4,
            "gpu_memory_utilization": 0.9,
            "max_model_len": 160_000,
            "max_num_batched_tokens": 4_096,
            "max_num_seqs": 32,
        },
        length=160_000,
        working=Working(
            flags={
                "tensor_parallel_size": 4,
                "gpu_memory_utilization": 0.9,
                "max_model_len": 160_000,
                "max_num_batched_tokens": 4096,
                "max_num_seqs": 32,
            },
            source=_THREAD,
        ),
    ),
    "vllm-27508": Reading(config="openai__gpt-oss-120b.json", gpu="h100-80gb", release="0.11.0"),
    "vllm-29049": Reading(
        config="meta-llama__Llama-3.1-8B-Instruct.json",
        gpu="h100-80gb",
        release="0.11.1",
        kept={"enable_lora": True, "max_loras": 2, "max_cpu_loras": 12},
        remark="graphs of adapters take more than is forecast",
    ),
    "vllm-15664": Reading(
        config="nvidia__Llama-3_3-Nemotron-Super-49B-v1.json",
        gpu="l40s",
        release="0.8.2",
        failing={"max_model_len": 32_768},
        length=32_768,
        recipe=_INT4,
        working=Working(flags={"max_model_len": 32_768}, at_once=1, source="the thread, with the older engine"),
        assumed=(_INT4,),
        remark="its graphs took more than is forecast",
    ),
    "vllm-17238": Reading(
        config="Qwen__Qwen2.5-32B.json",
        gpu="rtx-3090 x2",
        release="0.8.1",
        starved=True,
        failing={
            "tensor_parallel_size": 2,
            "gpu_memory_utilization": 0.9,
            "max_model_len": 4_096,
            "enforce_eager": True,
        },
        length=4096,
        recipe=_INT8,
        context=32_768,
        working=Working(
            flags={
                "tensor_parallel_size": 2,
                "gpu_memory_utilization": 0.9,
                "max_model_len": 4096,
                "max_num_seqs": 8,
                "enforce_eager": True,
            },
            source=_THREAD,
        ),
        assumed=(_INT8,),
    ),
    "vllm-27934": Reading(
        config="Qwen__Qwen2.5-7B-Instruct.json",
        gpu="rtx-3060",
        release="0.11.1rc6.dev35",
        free=6.44,
    ),
    "club3090-323": Reading(
        config="Qwen__Qwen3.5-35B-A3B.json",
        gpu="rtx-3090",
        release="0.22.0",
        starved=True,
        failing={"gpu_memory_utilization": 0.92},
        length=31_129,
        told=(18.63, 20.0),
        working=Working(
            flags={"gpu_memory_utilization": 0.95},
            tokens=31_129,
            source=_THREAD,
        ),
        assumed=("20 GB of weights, of either kind of GB", "a request as long as its whole pool"),
    ),
}
