"""Which sentence, function and file belongs to which phase.

Knows names of vLLM since 0.2, of SGLang and of llama.cpp, as their sources have them. Does not know in which order to
ask: `phase_of`.
"""

import re
from typing import Final, TypeAlias

from oomph.diagnose.case import Phase

_P: Final = Phase
Table: TypeAlias = tuple[tuple[re.Pattern[str], Phase], ...]


def _table(*rows: tuple[str, Phase]) -> Table:
    return tuple((re.compile(words), phase) for words, phase in rows)


HOST: Final = re.compile(
    r"oom-kill:|Out of memory: Kill|memory cgroup out of memory|Memory cgroup out of memory|invoked oom-killer"
    r"|memory[ _]usage[ _]threshold|ray-oom-prevention"
    r"|running low on memory|OOMKilled|systemd-oomd|earlyoom"
    r"|[Nn]o space left on device.{0,200}/dev/shm|/dev/shm.{0,200}(?:[Nn]o space left|full)"
    r"|(?:creat|extend|attach|open|map|truncat)\w{0,4}\b[^/]{0,60}/dev/shm"
    r"|shared memory segment|nsufficient shared memory|unable to \w{2,12} shared memory"
    r"|DefaultCPUAllocator|std::bad_alloc|cudaHostAlloc|Bus error"
    r"|(?:[Ff]ail|[Uu]nable|[Cc]annot|[Cc]ould not|[Ee]rror).{0,80}pinned memory"
    r"|pinned memory.{0,80}(?:fail|refus|out of)"
)
# Whatever else the line names: a path, a kind of memory.
ON_DEVICE: Final = re.compile(r"(?:CUDA|HIP|XPU|NPU|HPU|MUSA) out of memory\.? \(?Tried to allocate")

# Whether it was up, in its own words and by the loops that it then is in: they tell more than a number.
UP: Final = re.compile(r"EngineCore encountered a fatal error")  # v1/engine/core.py
NOT_UP: Final = re.compile(r"EngineCore failed to start|WorkerProc failed to start")
LOOPS: Final = frozenset({"run_busy_loop", "_process_engine_step", "step_with_batch_queue"})

# What it fails with, and says in that phase only.
SENTENCES: Final = _table(
    (r"on startup is less than desired|Externally held weights", _P.LOAD),  # v1/worker/utils.py request_memory
    (r"warming up (?:sampler|pooler)", _P.WARM_UP),  # v1/worker/gpu_model_runner.py _dummy_sampler_run
    (r"Error in memory profiling|No available memory for the cache blocks", _P.PROFILE),
    (r"To serve at least one request|the maximum number of tokens that can be stored", _P.KV_ALLOC),
    (r"Cannot auto-fit max_model_len|exceeds available Mamba cache blocks|on kv cache allocation", _P.KV_ALLOC),
    (r"Failed to load model|Failed to create unquantized|unable to mmap", _P.LOAD),
    (r"Prefill out of memory", _P.SERVING_PREFILL),  # SGLang: managers/schedule_batch.py
    (r"Decode out of memory", _P.SERVING_DECODE),
    (r"Capture (?:cuda|CUDA|hip) ?graph failed", _P.GRAPH_CAPTURE),  # SGLang: cuda_graph_runner.py
    (r"Not enough memory\. Please try|--mem-fraction-static", _P.KV_ALLOC),  # SGLang: model_runner.py
    (r"Engine loop is not running|background loop has errored", _P.SERVING_PREFILL),
    (r"ggml_cuda_pool_malloc", _P.SERVING_DECODE),
)

# That an engine is gone, as those who waited for it say.
REPORTED: Final = re.compile(
    r"EngineDeadError|exited unexpectedly|died unexpectedly|Engine (?:process|background task) failed"
)

# The line of source under a frame, where a paste has kept no more of the traceback than that.
GRAPHS_PROFILED: Final = re.compile(r"= self\.model_runner\.profile_cudagraph_memory\(\)")

# llama.cpp refuses to start where a buffer is missing, and aborts where it needs one while it computes.
ABORTED: Final = re.compile(
    r"ggml-backend\.cpp:[0-9]+: GGML_ASSERT|kv_cache_update\w*: failed|\bdecode: failed"
    r"|failed to (?:decode|process image)"
)

# By the end of `file:function`, the first that is anywhere on the way decides.
FUNCTIONS: Final[tuple[tuple[str, Phase], ...]] = tuple(
    (name, phase)
    for phase, names in (
        (_P.SERVING_PREFILL, (":wake_up",)),
        (_P.GRAPH_PROFILE, (":profile_cudagraph_memory", ":_init_minimal_kv_cache_for_profiling")),
        (_P.GRAPH_CAPTURE, (":capture_model", ":_capture_cudagraphs", ":_warmup_and_capture", ":capture_graph")),
        (_P.GRAPH_CAPTURE, (":capture_end", ":capture_begin", "cuda/graphs.py:__exit__", "cuda/graphs.py:__enter__")),
        (_P.GRAPH_CAPTURE, ("model_runner.py:capture", ":warm_up_model", ":_warm_up_model", ":register_graph_buffers")),
        (_P.GRAPH_CAPTURE, (":init_cuda_graphs", ":init_device_graphs", ":capture_one_batch_size")),
        (_P.PROFILE, (":determine_available_memory", ":determine_num_available_blocks", ":profile_run")),
        (_P.PROFILE, (":profile_num_available_blocks", ":_assert_memory_footprint_increased_during_profiling")),
        (_P.WARM_UP, (":kernel_warmup", ":flashinfer_autotune", ":warmup_kernels", ":compile_or_warm_up_model")),
        (_P.LOAD, (":load_model", ":create_weights", ":process_weights_after_loading", ":load_weights")),
        (_P.LOAD, (":init_device", ":request_memory", ":init_worker_distributed_environment", ":initialize_model")),
        (_P.KV_ALLOC, (":initialize_kv_cache_tensors", ":_allocate_kv_cache_tensors", ":_allocate_kv_cache")),
        (_P.KV_ALLOC, (":allocate_kv_cache", ":initialize_kv_cache", ":_init_cache_engine", ":init_cache_engine")),
        (_P.KV_ALLOC, (":initialize_cache", ":_init_cache", ":get_kv_cache_configs", ":get_kv_cache_config")),
        (_P.KV_ALLOC, (":check_enough_kv_cache_memory", ":_check_enough_kv_cache_memory", ":init_memory_pool")),
        (_P.PROFILE, (":raise_if_cache_size_invalid",)),
        (_P.KV_ALLOC, (":initialize_from_config",)),
        (_P.SERVING_DECODE, (":eplb_step",)),
        (_P.KV_ALLOC, (":profile_max_num_token", ":_profile_available_bytes")),
        (_P.SERVING_DECODE, (":prepare_for_decode", ":update_running_batch")),
        (_P.SERVING_PREFILL, (":event_loop_overlap", ":event_loop_normal", ":run_event_loop", ":run_busy_loop")),
        (_P.SERVING_PREFILL, (":_execute_mm_encoder", ":_process_engine_step", ":step_with_batch_queue")),
        (_P.SERVING_PREFILL, (":output_handler", "llm.py:generate", "llm.py:chat", ":_run_engine", ":engine_step")),
        (_P.SERVING_PREFILL, (":execute_model", ":sample_tokens", ":_get_prompt_logprobs_dict", ":run_engine_loop")),
        (_P.PROFILE, (":_initialize_kv_caches", ":_dummy_sampler_run", ":_dummy_run", ":_dummy_pooler_run")),
        (_P.SERVING_PREFILL, ("fla/ops/chunk.py:forward", ":forward_extend")),
        (_P.SERVING_DECODE, (":forward_decode",)),
        (_P.GRAPH_CAPTURE, ("cuda_graph.py:__call__",)),
        (
            _P.LOAD,
            (":make_layers", ":init_model_worker", ":_init_executor", ":_init_workers_ray", ":_init_non_spec_worker"),
        ),
    )
    for name in names
)

# Files that log errors only while requests are served.
FILES: Final = ("serving", "async_llm.py:", "async_llm_engine.py:")

# After this sentence of the table comes this phase.
NEXT: Final = {
    "server": _P.LOAD,
    "engine": _P.LOAD,
    "arguments": _P.LOAD,
    "weights": _P.PROFILE,
    "encoder budget": _P.PROFILE,
    "graphs profiled": _P.GRAPH_PROFILE,
    "graphs estimated": _P.PROFILE,
    "budget": _P.KV_ALLOC,
    "profile": _P.KV_ALLOC,
    "pool": _P.KV_ALLOC,
    "pool given": _P.KV_ALLOC,
    "blocks": _P.KV_ALLOC,
    "tokens": _P.KV_ALLOC,
    "concurrency": _P.KV_ALLOC,
    "graphs begun": _P.GRAPH_CAPTURE,
    "graphs captured": _P.WARM_UP,
    "graphs taken": _P.WARM_UP,
    "usage": _P.WARM_UP,
    "started": _P.SERVING_PREFILL,
}
# Of sentences that are in no table.
SAID_BEFORE: Final = _table(
    (r"processing method determine_(?:num_)?available_", _P.PROFILE),  # V0: executor/multiproc_worker_utils.py
    (r"processing method (?:load_model|init_device|init_worker)", _P.LOAD),
    (r"processing method initialize_cache", _P.KV_ALLOC),
    (r"Starting to load model|Loading (?:safetensors|pt) checkpoint|Starting to load|Load weight begin", _P.LOAD),
    (r"Loading weights took|Starting profile run|torch\.compile|Dynamo bytecode|Compiling a graph for", _P.PROFILE),
    (
        r"CUDA graphs can take additional|Capturing (?:the model for|cudagraphs for)|Capturing CUDA graph",
        _P.GRAPH_CAPTURE,
    ),
    (r"Registering [0-9]+ cuda graph addresses|Capture cuda graph begin", _P.GRAPH_CAPTURE),
    (r"FlashInfer autotune|Autotuning process|Compile and warming up model", _P.WARM_UP),
    (r"Load weight end", _P.KV_ALLOC),
    (r"KV Cache is allocated|Memory pool end", _P.GRAPH_CAPTURE),
    (r"Capture cuda graph end|max_total_num_tokens=", _P.WARM_UP),
    (r"main: model loaded|server is listening", _P.SERVING_PREFILL),
    (r"\bllama_\w+:|\bload_tensors:|\bllm_load_", _P.LOAD),
)

# Where nothing else tells: where such a failure is met most often.
BARE: Final = _table(
    (r"memory (?:mapping|allocation) failed with OOM", _P.SERVING_PREFILL),
    (r"GGML_ASSERT", _P.SERVING_PREFILL),
    (r"\bggml_|\bllama_", _P.LOAD),
    (r"device not ready|AcceleratorError|Tried to allocate|out of memory|OutOfMemoryError", _P.LOAD),
    (r"\b(?:Killed|killed|137|SIGKILL|MemoryError)\b|-9\b|allocate memory|No space left", _P.HOST),
)
