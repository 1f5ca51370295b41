"""What a change of a flag is called: which lever it moves, and which way.

Knows names, as remedies are counted by. Does not know what a lever does.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from oomph.engines.vllm.levers.startup import RELEASE, Change
from oomph.ledger.settings import Value

_NAMES: Final[Mapping[str, str]] = {
    "max_num_seqs": "max_num_seqs_down",
    "max_num_batched_tokens": "max_num_batched_tokens_down",
    "max_model_len": "max_model_len_down",
    "max_cudagraph_capture_size": "fewer_cudagraph_sizes",
    "cudagraph_capture_sizes": "fewer_cudagraph_sizes",
    "compilation_config": "fewer_cudagraph_sizes",
    "enforce_eager": "enforce_eager",
    "kv_cache_memory_bytes": "kv_cache_memory_bytes",
    "kv_cache_dtype": "kv_cache_dtype_fp8",
    "limit_mm_per_prompt": "mm_limits",
    "mm_processor_kwargs": "mm_limits",
    "language_model_only": "language_model_only",
    "speculative_config": "less_speculation",
    "quantization": "quantised_checkpoint",
    "tensor_parallel_size": "tp_or_more_gpus",
    "pipeline_parallel_size": "tp_or_more_gpus",
    "enable_chunked_prefill": "enable_chunked_prefill",
    "enable_sleep_mode": "disable_sleep_mode",
    "moe_backend": "moe_backend",
    "cpu_offload_gb": "cpu_offload",
    "PYTORCH_CUDA_ALLOC_CONF": "alloc_conf",
    "PYTORCH_ALLOC_CONF": "alloc_conf",
    "CUDA_VISIBLE_DEVICES": "cuda_visible_devices",
    "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS": "env_estimate_cudagraphs_0",
    "VLLM_USE_V2_MODEL_RUNNER": "v1_model_runner",
    RELEASE: "upgrade",
}
SHARE: Final = "gpu_memory_utilization"
SHARE_DOWN: Final = f"{SHARE}_down"
SHARE_UP: Final = f"{SHARE}_up"


def levers(change: Change, now: Value = None) -> Iterator[str]:
    """Every lever that a change moves; `now` is the share as it stands, which tells up from down."""
    for name, value in change.items():
        if name == SHARE:
            yield SHARE_UP if _more(value, than=now) else SHARE_DOWN
        else:
            yield _NAMES.get(name, name)


def _more(value: Value, *, than: Value) -> bool:
    return isinstance(value, int | float) and isinstance(than, int | float) and value > than
