"""What the scout looks at, and where each thing has lived since 0.6.0: the table to extend when a release moves a file.

Knows paths and names inside the `vllm` package, newest home first. Does not read anything.
"""

from typing import Final

from scouting.defaults import Attribute, Chosen, Constant, Entry, Numbers, Options, Parameter, Place

_ARGS: Final = ("engine/arg_utils.py",)
_OLD_CONFIG: Final = ("config/__init__.py", "config.py")
_CACHE: Final = ("config/cache.py", *_OLD_CONFIG)
_SCHEDULER: Final = ("config/scheduler.py", *_OLD_CONFIG)
_COMPILATION: Final = ("config/compilation.py", *_OLD_CONFIG)
_VLLM: Final = ("config/vllm.py", *_OLD_CONFIG)
_KV: Final = ("v1/core/kv_cache_utils.py",)
_WORKER: Final = ("v1/worker/gpu_worker.py",)
_BATCH: Final = ("get_batch_defaults", "_set_default_args_v1", "_set_default_args", "_override_v1_engine_args")


def _field(name: str, *homes: str, argument: str | None = None) -> tuple[Place, ...]:
    """A config field, and the engine argument that carried the default before configs were dataclasses."""
    places = [Attribute(home, files) for home, files in zip(homes, (_home(each) for each in homes), strict=True)]
    return (*places, Attribute(f"EngineArgs.{argument or name}", _ARGS))


def _home(path: str) -> tuple[str, ...]:
    return {
        "CacheConfig": _CACHE,
        "SchedulerConfig": _SCHEDULER,
        "CompilationConfig": _COMPILATION,
        "VllmConfig": _VLLM,
        "MultiModalConfig": ("config/multimodal.py", *_OLD_CONFIG),
        "UVAOffloadConfig": ("config/offload.py",),
    }[path.partition(".")[0]]


def _batch(variable: str) -> tuple[Place, ...]:
    return tuple(Chosen(f"EngineArgs.{function}", variable, _ARGS) for function in _BATCH)


DEFAULTS: Final[dict[str, tuple[Place, ...]]] = {
    "gpu_memory_utilization": _field("gpu_memory_utilization", "CacheConfig.gpu_memory_utilization"),
    "LLM(gpu_memory_utilization)": (Parameter("LLM.__init__", "gpu_memory_utilization", ("entrypoints/llm.py",)),),
    "swap_space": _field("swap_space", "CacheConfig.swap_space"),
    "cpu_offload_gb": _field("cpu_offload_gb", "UVAOffloadConfig.cpu_offload_gb", "CacheConfig.cpu_offload_gb"),
    "block_size": _field("block_size", "CacheConfig.block_size"),
    "DEFAULT_BLOCK_SIZE": (Attribute("CacheConfig.DEFAULT_BLOCK_SIZE", _CACHE),),
    "block_size choices": (Options("--block-size", ()),),
    "kv_cache_dtype": _field("kv_cache_dtype", "CacheConfig.cache_dtype"),
    "kv_cache_dtype choices": (Options("CacheDType", _CACHE), Options("--kv-cache-dtype", ())),
    "kv_cache_memory_bytes": _field("kv_cache_memory_bytes", "CacheConfig.kv_cache_memory_bytes"),
    "num_gpu_blocks_override": _field("num_gpu_blocks_override", "CacheConfig.num_gpu_blocks_override"),
    "enable_prefix_caching": _field("enable_prefix_caching", "CacheConfig.enable_prefix_caching"),
    "EngineArgs.enable_prefix_caching": (Attribute("EngineArgs.enable_prefix_caching", _ARGS),),
    "prefix_caching_hash_algo": _field("prefix_caching_hash_algo", "CacheConfig.prefix_caching_hash_algo"),
    "kv_offloading_size": _field("kv_offloading_size", "CacheConfig.kv_offloading_size"),
    "kv_offloading_backend": _field("kv_offloading_backend", "CacheConfig.kv_offloading_backend"),
    "mamba_cache_dtype choices": (Options("MambaDType", _CACHE), Options("--mamba-cache-dtype", ())),
    "mamba_cache_mode": _field("mamba_cache_mode", "CacheConfig.mamba_cache_mode"),
    "mamba_cache_mode choices": (Options("MambaCacheMode", _CACHE), Options("--mamba-cache-mode", ())),
    "mamba_block_size": _field("mamba_block_size", "CacheConfig.mamba_block_size"),
    "replayssm_buffer_len": _field("replayssm_buffer_len", "CacheConfig.replayssm_buffer_len"),
    "watermark": (
        Attribute("SchedulerConfig.watermark", _SCHEDULER),
        Parameter("SelfAttnBlockSpaceManager.__init__", "watermark", ("core/block_manager.py",)),
        Parameter("BlockSpaceManagerV2.__init__", "watermark", ("core/block_manager_v2.py",)),
    ),
    "max_num_seqs": _field("max_num_seqs", "SchedulerConfig.max_num_seqs"),
    "max_num_batched_tokens": _field("max_num_batched_tokens", "SchedulerConfig.max_num_batched_tokens"),
    "max_num_seqs, V0": (
        Chosen("EngineArgs._set_default_args_v0", "self.max_num_seqs", _ARGS),
        Chosen("EngineArgs.__post_init__", "self.max_num_seqs", _ARGS),
        Attribute("EngineArgs.max_num_seqs", _ARGS),
    ),
    "max_num_active_seqs": _field("max_num_active_seqs", "SchedulerConfig.max_num_active_seqs"),
    "DEFAULT_MAX_NUM_SEQS": (
        Attribute("SchedulerConfig.DEFAULT_MAX_NUM_SEQS", _SCHEDULER),
        Constant("_DEFAULT_MAX_NUM_SEQS", _OLD_CONFIG),
    ),
    "DEFAULT_MAX_NUM_BATCHED_TOKENS": (
        Attribute("SchedulerConfig.DEFAULT_MAX_NUM_BATCHED_TOKENS", _SCHEDULER),
        Constant("DEFAULT_MAX_NUM_BATCHED_TOKENS", ("utils/__init__.py", "utils.py")),
        Constant("_DEFAULT_MAX_NUM_BATCHED_TOKENS", _OLD_CONFIG),
    ),
    "DEFAULT_MAX_NUM_BATCHED_TOKENS_FOR_BATCHED_DP": (
        Attribute("SchedulerConfig.DEFAULT_MAX_NUM_BATCHED_TOKENS_FOR_BATCHED_DP", _SCHEDULER),
    ),
    "batch default: max_num_batched_tokens": _batch("default_max_num_batched_tokens"),
    "batch default: max_num_seqs": _batch("default_max_num_seqs"),
    "max_num_batched_tokens, old scheduler": (
        Chosen("SchedulerConfig.__post_init__", "self.max_num_batched_tokens", _SCHEDULER),
        Chosen("SchedulerConfig.__init__", "max_num_batched_tokens", _SCHEDULER),
        Chosen("SchedulerConfig.__init__", "self.max_num_batched_tokens", _SCHEDULER),
    ),
    "async_scheduling": _field("async_scheduling", "SchedulerConfig.async_scheduling"),
    "disable_hybrid_kv_cache_manager": _field(
        "disable_hybrid_kv_cache_manager", "SchedulerConfig.disable_hybrid_kv_cache_manager"
    ),
    "scheduler_reserve_full_isl": _field("scheduler_reserve_full_isl", "SchedulerConfig.scheduler_reserve_full_isl"),
    "max_seq_len_to_capture": (Attribute("EngineArgs.max_seq_len_to_capture", _ARGS),),
    "cuda_graph_sizes": _field("cuda_graph_sizes", "SchedulerConfig.cuda_graph_sizes"),
    "cuda_graph_sizes, resolved": (Chosen("SchedulerConfig.__post_init__", "self.cuda_graph_sizes", _SCHEDULER),),
    "capture ceiling": (
        Chosen("VllmConfig._set_cudagraph_sizes", "max_cudagraph_capture_size", _VLLM),
        Chosen("VllmConfig._set_cudagraph_sizes", "max_graph_size", _VLLM),
    ),
    "capture ceiling, by device": (Chosen("VllmConfig._set_cudagraph_sizes", "default_max_graph_size", _VLLM),),
    "capture grid": (
        Chosen("VllmConfig._set_cudagraph_sizes", "cudagraph_capture_sizes", _VLLM),
        Chosen("VllmConfig._set_cudagraph_sizes", "batch_size_capture_list", _VLLM),
        Chosen("VllmConfig._set_cudagraph_sizes", "possible_sizes", _VLLM),
    ),
    "capture grid, V0": (Constant("_BATCH_SIZES_TO_CAPTURE", ("worker/model_runner.py",)),),
    "cudagraph_mode": (Attribute("CompilationConfig.cudagraph_mode", _COMPILATION),),
    "cudagraph_mode, resolved": (Chosen("VllmConfig.__post_init__", "self.compilation_config.cudagraph_mode", _VLLM),),
    "cudagraph_mode at -O2": (Entry("OPTIMIZATION_LEVEL_02", "cudagraph_mode", _VLLM),),
    "optimization_level": (Attribute("VllmConfig.optimization_level", _VLLM),),
    "performance_mode": (Attribute("VllmConfig.performance_mode", _VLLM),),
    "performance_mode choices": (Options("PerformanceMode", _VLLM), Options("--performance-mode", ())),
    "group padding ratio": (Numbers("_get_kv_cache_groups_uniform_page_size", _KV),),
    "suggestion margin": (Chosen("Worker.compile_or_warm_up_model", "redundancy_buffer_memory", _WORKER),),
    "graph profiling runs": (Chosen("Worker.determine_available_memory", "cudagraph_memory_estimate", _WORKER),),
    "profiling blocks": (
        Chosen("GPUModelRunner._init_minimal_kv_cache_for_profiling", "min_blocks", ("v1/worker/gpu_model_runner.py",)),
    ),
    "profiling blocks, V2": (
        Chosen("_init_minimal_kv_cache_for_profiling", "min_blocks", ("v1/worker/gpu/cudagraph_utils.py",)),
    ),
    "V2 runner architectures": (Constant("DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES", _VLLM),),
    "FlashInfer workspace": (
        Constant(
            "FLASHINFER_WORKSPACE_BUFFER_SIZE",
            ("v1/attention/backends/flashinfer.py", "attention/backends/flashinfer.py"),
        ),
    ),
    "custom all-reduce sizes": (
        Constant("CUSTOM_ALL_REDUCE_MAX_SIZES", ("distributed/device_communicators/all_reduce_utils.py",)),
    ),
    "symmetric memory sizes": (
        Constant("SYMM_MEM_ALL_REDUCE_MAX_SIZES", ("distributed/device_communicators/all_reduce_utils.py",)),
    ),
    "vocabulary padding": (
        Constant("DEFAULT_VOCAB_PADDING_SIZE", ("model_executor/layers/vocab_parallel_embedding.py",)),
    ),
    "mm_processor_cache_gb": _field("mm_processor_cache_gb", "MultiModalConfig.mm_processor_cache_gb"),
    "mm_ipc_gpu_memory_gb": _field("mm_ipc_gpu_memory_gb", "MultiModalConfig.mm_ipc_gpu_memory_gb"),
    "skip_mm_profiling": _field("skip_mm_profiling", "MultiModalConfig.skip_mm_profiling"),
}

# The words that make a sentence worth reading here; the others are shown with --all.
MEMORY_WORDS: Final = (
    "memory",
    "kv",
    "cache",
    "gib",
    "block",
    "captur",
    "graph",
    "profil",
    "preempt",
    "max_model_len",
    "max_num_seqs",
    "max_num_batched_tokens",
    "max seq len",
    "model len",
    "offload",
    "mamba",
    "oom",
    "padding layers",
    "model runner",
    "loading took",
    "partitioned",
    "free",
)
