"""Which flags of vLLM move which bytes, so that two start-ups can be told to be alike.

Knows names only. Flags whose numbers follow from others where nobody states them stand apart: their resolved values
are compared. Does not know what was measured.
"""

import json
from collections.abc import Mapping
from typing import Final

from oomph.ledger.settings import Value

# What decides which tensors are loaded on one rank, and in which format.
LOADED: Final = (
    *("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "enable_expert_parallel"),
    *("dtype", "quantization", "quantization_config", "language_model_only", "limit_mm_per_prompt"),
    *("enable_lora", "max_loras", "max_lora_rank", "lora_dtype", "fully_sharded_loras"),
    *("cpu_offload_gb", "load_format", "hf_overrides", "revision", "model_impl", "mm_encoder_tp_mode"),
    *("enable_eplb", "eplb_config", "num_redundant_experts"),
)
# What decides which kernels and libraries are loaded besides.
RUN: Final = (
    *("kv_cache_dtype", "attention_backend", "attention_config", "enforce_eager", "compilation_config"),
    *("optimization_level", "disable_custom_all_reduce", "all2all_backend", "prefill_context_parallel_size"),
    *("decode_context_parallel_size", "VLLM_ATTENTION_BACKEND", "VLLM_USE_V1", "VLLM_USE_V2_MODEL_RUNNER"),
    *("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"),
)
# What decides what one step holds.
STEP: Final = (
    *("enable_chunked_prefill", "mm_processor_kwargs", "enable_dbo", "num_scheduler_steps", "max_num_partial_prefills"),
    *("max_logprobs", "logprobs_mode", "skip_mm_profiling", "runner", "task"),
)
CAPTURED: Final = (
    *("cudagraph_capture_sizes", "max_cudagraph_capture_size", "cuda_graph_sizes", "max_seq_len_to_capture"),
)
SHARED_OUT: Final = (
    *("kv_cache_memory_bytes", "num_gpu_blocks_override", "block_size"),
    *("VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", "enable_prefix_caching", "mamba_cache_mode"),
)
_NUMBERS: Final = ("max_num_seqs", "max_num_batched_tokens", "max_model_len", "gpu_memory_utilization")
_GUESSING: Final = (
    *("speculative_config", "spec_method", "spec_model", "spec_tokens"),
    *("num_speculative_tokens", "speculative_model"),
)
KEPT: Final = frozenset({*LOADED, *RUN, *STEP, *CAPTURED, *SHARED_OUT, *_NUMBERS, *_GUESSING})  # all else is not


def plain(name: str, value: Value) -> Value:
    """A flag's value; None where it says what is so anyway."""
    usual: Value = 1 if name.endswith("_parallel_size") else 0 if name == "cpu_offload_gb" else None
    if value is False or value in {usual, None, "auto", ""}:
        return None
    if isinstance(value, str) and value[:1] in "{[":
        try:
            return json.dumps(json.loads(value), sort_keys=True)
        except (ValueError, RecursionError):
            return value
    return value


def differing(ours: Mapping[str, Value], theirs: Mapping[str, Value]) -> tuple[str, ...]:
    """Flags that both state, and state differently."""
    return tuple(name for name in ours if name in theirs and plain(name, ours[name]) != plain(name, theirs[name]))
