"""Whose code the scout watches: the functions that decide bytes, and the files whose sentences are collected.

Knows paths and names inside the `vllm` package, newest home first; `watched.py` is the same for defaults. Does not read
anything.
"""

from typing import Final

from scouting.functions import Watch

_OLD_CONFIG: Final = ("config/__init__.py", "config.py")
_CACHE: Final = ("config/cache.py", *_OLD_CONFIG)
_SCHEDULER: Final = ("config/scheduler.py", *_OLD_CONFIG)
_COMPILATION: Final = ("config/compilation.py", *_OLD_CONFIG)
_VLLM: Final = ("config/vllm.py", *_OLD_CONFIG)

FUNCTIONS: Final = (
    Watch(
        files=("v1/worker/gpu_worker.py",),
        names=(
            "Worker.determine_available_memory",
            "Worker.init_device",
            "Worker.load_model",
            "Worker.compile_or_warm_up_model",
            "Worker._scoped_allocator_max_split",
        ),
    ),
    Watch(
        files=("worker/worker.py",),
        names=("Worker.determine_num_available_blocks", "Worker.init_device", "raise_if_cache_size_invalid"),
        prefix="V0 ",
    ),
    Watch(
        files=("utils/mem_utils.py", "utils/__init__.py", "utils.py"),
        names=("memory_profiling", "MemorySnapshot.measure", "MemorySnapshot.__sub__", "DeviceMemoryProfiler.*"),
    ),
    Watch(
        files=("v1/worker/utils.py",),
        names=("request_memory", "allocate_kv_cache", "select_common_block_size", "prepare_kernel_block_sizes"),
    ),
    Watch(
        files=("v1/core/kv_cache_utils.py",),
        names=(
            "*kv_cache_group*",
            "*kv_cache_config*",
            "*kv_cache_memory",
            "*max_model_len*",
            "*memory_usage_bytes*",
            "*page_size*",
            "*bytes_per_block",
            "*num_blocks*",
            "*concurrency*",
            "*capacity*",
            "unify_*",
            "is_kv_cache_*",
            "create_kv_cache_group_specs",
            "_promote_local_kv_cache_specs",
            "_try_get_full_allocation_fallback_groups",
            "resolve_kv_cache_block_sizes",
            "resolve_dcp_kv_*",
            "_approximate_gcd",
        ),
    ),
    Watch(
        files=("v1/kv_cache_interface.py",),
        names=(
            "*Spec*.*page_size_bytes",
            "*Spec*.*memory_usage*",
            "*Spec*.max_admission_blocks_per_request",
            "*Spec*.max_num_blocks_per_req",
            "*Spec*.state_content_size_bytes",
            "*Spec*.num_states",
            "*Spec*.is_uniform*",
            "*Spec*.get_block_stride_alignment",
        ),
    ),
    Watch(
        files=("model_executor/layers/mamba/mamba_utils.py",),
        names=("MambaStateShapeCalculator.*", "MambaStateDtypeCalculator.*"),
    ),
    Watch(
        files=("v1/worker/gpu_model_runner.py",),
        names=(
            "GPUModelRunner._init_minimal_kv_cache_for_profiling",
            "GPUModelRunner.profile_cudagraph_memory",
            "GPUModelRunner.profile_run",
            "GPUModelRunner.capture_model",
            "GPUModelRunner._dummy_sampler_run",
            "GPUModelRunner.get_kv_cache_spec",
            "GPUModelRunner.initialize_kv_cache",
            "GPUModelRunner._allocate_kv_cache_tensors",
        ),
    ),
    Watch(
        files=("v1/worker/gpu/model_runner.py", "v1/worker/gpu/cudagraph_utils.py"),
        names=(
            "GPUModelRunner.profile_cudagraph_memory",
            "GPUModelRunner.profile_run",
            "GPUModelRunner.capture_model",
            "GPUModelRunner.initialize_kv_cache",
            "profile_cudagraph_memory",
            "_init_minimal_kv_cache_for_profiling",
            "_extrapolate_full_graph_memory",
        ),
        prefix="V2 ",
    ),
    Watch(
        files=_VLLM,
        names=(
            "VllmConfig._set_cudagraph_sizes",
            "VllmConfig.use_v2_model_runner",
            "VllmConfig._is_default_v2_model_runner_model",
            "VllmConfig._get_v2_model_runner_unsupported_features",
            "VllmConfig.max_in_flight_tokens",
            "VllmConfig.max_concurrent_batches",
            "VllmConfig.validate_block_size",
        ),
    ),
    Watch(files=_SCHEDULER, names=("SchedulerConfig.__post_init__",)),
    Watch(files=_CACHE, names=("CacheConfig.*",)),
    Watch(
        files=_COMPILATION,
        names=(
            "CompilationConfig.adjust_cudagraph_sizes*",
            "CompilationConfig.init_with_cudagraph_sizes",
            "CompilationConfig.post_init_cudagraph_sizes",
            "CompilationConfig.*mamba*",
        ),
    ),
    Watch(
        files=("platforms/interface.py",),
        names=("Platform.update_block_size_for_backend", "Platform._align_*", "Platform.*block_size*"),
    ),
    Watch(files=("platforms/cuda.py",), names=("CudaPlatformBase.check_and_update_config",)),
    Watch(
        files=("model_executor/models/config.py",),
        names=("HybridAttentionMambaModelConfig.*", "MambaModelConfig.*", "Qwen3_5*Config.*"),
    ),
    Watch(files=("distributed/utils.py",), names=("get_pp_indices",)),
    Watch(
        files=("engine/arg_utils.py",),
        names=(
            "EngineArgs.get_batch_defaults",
            "EngineArgs._set_default_args*",
            "EngineArgs._override_v1_engine_args",
            "EngineArgs._set_default_max_num_seqs_and_batched_tokens_args",
            "EngineArgs._set_default_chunked_prefill_and_prefix_caching_args",
            "EngineArgs._get_min_mm_batched_tokens",
        ),
    ),
    Watch(
        files=("v1/attention/backends/utils.py", "v1/attention/backend.py"),
        names=("resolve_kv_cache_layout", "*.get_preferred_block_size", "*.customize_spec"),
    ),
    Watch(files=("v1/worker/startup_plan.py",), names=("*",)),
    Watch(files=("multimodal/gpu_ipc_memory.py",), names=("reserve_mm_ipc_gpu_memory",)),
    Watch(
        files=("model_executor/layers/attention/mla_attention.py", "v1/attention/backends/mla/common.py"),
        names=("*.determine_chunked_prefill_workspace_size",),
    ),
)

SENTENCES: Final = (
    "worker/*.py",
    "executor/*.py",
    "core/*.py",
    "core/block/*.py",
    "engine/*.py",
    "attention/selector.py",
    "config.py",
    "config/*.py",
    "utils.py",
    "utils/__init__.py",
    "utils/mem_utils.py",
    "utils/gc_utils.py",
    "distributed/utils.py",
    "device_allocator/*.py",
    "model_executor/model_loader/*.py",
    "model_executor/models/config.py",
    "model_executor/layers/mamba/mamba_utils.py",
    "platforms/*.py",
    "entrypoints/utils.py",
    "entrypoints/openai/api_server.py",
    "entrypoints/openai/cli_args.py",
    "entrypoints/launchers/*.py",
    "entrypoints/launchers/api_server/*.py",
    "entrypoints/serve/utils/*.py",
    "multimodal/gpu_ipc_memory.py",
    "multimodal/encoder_budget.py",
    "v1/attention/backends/utils.py",
    "v1/attention/selector.py",
    "v1/core/*.py",
    "v1/core/sched/*.py",
    "v1/cudagraph_dispatcher.py",
    "v1/engine/*.py",
    "v1/executor/*.py",
    "v1/kv_cache_interface.py",
    "v1/metrics/*.py",
    "v1/spec_decode/*.py",
    "v1/utils.py",
    "v1/worker/*.py",
    "v1/worker/gpu/*.py",
    "v1/worker/gpu/spec_decode/*.py",
)
