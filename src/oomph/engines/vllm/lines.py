"""What vLLM says of its memory in its log, by release.

One line per wording: its name, the release that brought it and the first without it, as much of the sentence as tells
it apart and holds its figures, and the file, below `vllm/`, where it can be seen in the release that brought it. The
engine tests hold this against every release.
"""

from typing import Final

from oomph.engines.history import Release, span
from oomph.engines.sentence import Sentence
from oomph.engines.vllm.notation import NOTATIONS


def says(name: str, template: str, since: str, until: str | None = None) -> Sentence:
    """A line of the table."""
    return Sentence(name=name, template=template, span=span(since, until), notations=NOTATIONS)


# One wording, one line.
# fmt: off

LOADING: Final = (
    says("weights", "Loading model weights took {size:gib4} GB", "0.6.0", "0.8.0"),  # worker/model_runner.py
    says("weights", "Model loading took {size:gib4} GB and {seconds:s6} s", "0.8.0", "0.8.3"),  # worker/model_runner.py
    says("weights", "Model loading took {size:gib4} GiB and {seconds:s6} s", "0.8.3", "0.11.1"),  # worker/model_runner.py
    says("weights", "Model loading took {size:gib4} GiB and {seconds:s6} s", "0.12.0", "0.14.0"),  # v1/worker/gpu/model_runner.py
    says("weights", "Model loading took {size:gib4} GiB memory and {seconds:s6} s", "0.11.1", "0.14.0"),  # v1/worker/gpu_model_runner.py
    says("weights", "Model loading took {size:gib} GiB memory and {seconds:s6} s", "0.14.0"),  # v1/worker/gpu_model_runner.py
    says("weights", "Model loading took {size:gib} GiB and {seconds:s6} s", "0.14.0", "0.28.0"),  # v1/worker/gpu/model_runner.py
    says("weights read", "Loading weights took {seconds:s2} seconds", "0.8.0"),  # model_executor/model_loader/loader.py
    says("draft shares embedding", "Detected MTP model. Sharing target model embedding weights", "0.11.1"),  # v1/spec_decode/eagle.py
    says("draft shares head", "Detected MTP model. Sharing target model lm_head weights", "0.11.1"),  # v1/spec_decode/eagle.py
    says("layers split unevenly", "Hidden layers were unevenly partitioned: {layers:rest}", "0.8.0", "0.8.4"),  # distributed/utils.py
    says("layers split unevenly", "Hidden layers were unevenly partitioned: [{layers:words}].", "0.8.4"),  # distributed/utils.py
)

BUDGET: Final = (
    says("profile", "Memory profiling results: total_gpu_memory={total:gib2}GiB initial_memory_usage={initial:gib2}GiB peak_torch_memory={peak:gib2}GiB memory_usage_post_profile={after:gib2}Gib non_torch_memory={non_torch:gib2}GiB kv_cache_size={pool:gib2}GiB gpu_memory_utilization={share:f2}", "0.6.4", "0.6.5"),  # worker/worker.py
    says("budget", "can use total_gpu_memory ({total:gib2}GiB) x gpu_memory_utilization ({share:f2}) = {budget:gib2}GiB", "0.6.5", "0.11.0"),  # worker/worker.py
    says("profile", "model weights take {weights:gib2}GiB; non_torch_memory takes {non_torch:gib2}GiB; PyTorch activation peak memory takes {activations:gib2}GiB; the rest of the memory reserved for KV Cache is {pool:gib2}GiB.", "0.6.5", "0.11.0"),  # worker/worker.py
    says("profile", "Total non KV cache memory: {spoken_for:gib2}GiB; torch peak memory increase: {activations:gib2}GiB; non-torch forward increase memory: {non_torch:gib2}GiB; weights memory: {weights:gib2}GiB.", "0.9.1", "0.14.0"),  # utils.py
    says("profile", "Total non KV cache memory: {spoken_for:gib}GiB; torch peak memory increase: {activations:gib}GiB; non-torch forward increase memory: {non_torch:gib}GiB; weights memory: {weights:gib}GiB.", "0.14.0", "0.27.0"),  # utils/mem_utils.py
    says("profile", "Total non KV cache memory: {spoken_for:gib}GiB; torch peak memory increase: {activations:gib}GiB; total consumed (from mem_get_info): {consumed:gib}GiB; weights memory: {weights:gib}GiB.", "0.27.0"),  # utils/mem_utils.py
    says("pool", "Available KV cache memory: {size:gib2} GiB", "0.9.1", "0.14.0"),  # v1/worker/gpu_worker.py
    says("pool", "Available KV cache memory: {size:gib} GiB", "0.14.0"),  # v1/worker/gpu_worker.py
    says("pool given", "Initial free memory {free:raw_gib} GiB, reserved {size:gib2}GiB memory for KV Cache", "0.10.2", "0.11.1"),  # v1/worker/gpu_worker.py
    says("pool given", "Initial free memory {free:gib2} GiB, reserved {size:gib2} GiB memory for KV Cache", "0.11.1", "0.14.0"),  # v1/worker/gpu_worker.py
    says("pool given", "Initial free memory {free:gib} GiB, reserved {size:gib} GiB memory for KV Cache", "0.14.0"),  # v1/worker/gpu_worker.py
    says("usage", "Free memory on device ({free:gib2}/{total:gib2} GiB) on startup. Desired GPU memory utilization is ({share:share}, {budget:gib2} GiB). Actual usage is {weights:gib2} GiB for weight, {activations:gib2} GiB for peak activation, {non_torch:gib2} GiB for non-torch memory, and {graphs:gib2} GiB for CUDAGraph memory.", "0.10.2", "0.14.0"),  # v1/worker/gpu_worker.py
    says("usage", "Free memory on device ({free:gib}/{total:gib} GiB) on startup. Desired GPU memory utilization is ({share:share}, {budget:gib} GiB). Actual usage is {weights:gib} GiB for weight, {activations:gib} GiB for peak activation, {non_torch:gib} GiB for non-torch memory, and {graphs:gib} GiB for CUDAGraph memory.", "0.14.0", "0.27.0"),  # v1/worker/gpu_worker.py
    says("usage", "Free memory on device ({free:gib}/{total:gib} GiB) on startup. Desired GPU memory utilization is ({share:share}, {budget:gib} GiB). Actual usage is {consumed:gib} GiB for consumed memory (weights + non-torch), {activations:gib} GiB for peak activation, and {graphs:gib} GiB for CUDAGraph memory.", "0.27.0"),  # v1/worker/gpu_worker.py
    says("pool", "Auto set ({size:gib}/{total:gib}) GiB for KV cache on node {node:whole}, with {budget:gib} GiB requested memory for the worker. {consumed:gib} GiB memory was consumed by non-kv usages.", "0.20.0"),  # v1/worker/cpu_worker.py
    says("pool given", "Explicitly set ({size:gib}/{total:gib}) GiB for KV cache on node {node:whole}.", "0.20.0"),  # v1/worker/cpu_worker.py
    says("plan applied", "Applying persisted startup plan (fingerprint {key:word}): kv_cache_memory_bytes={size:bytes} ", "0.26.0"),  # v1/worker/startup_plan.py
    says("plan refused", "Startup plan not applied: current free memory ({free:gib2} GiB) is below the recorded baseline ({baseline:gib2} GiB)", "0.26.0"),  # v1/worker/startup_plan.py
)

GRAPHS: Final = (
    says("graphs profiled", "Profiling CUDA graph memory: {modes:rest}", "0.18.0"),  # v1/worker/gpu_model_runner.py
    says("graphs estimated", "Estimated CUDA graph memory: {size:gib2} GiB total", "0.18.0"),  # v1/worker/gpu_model_runner.py
    says("graphs not charged", "In v0.19, CUDA graph memory profiling will be enabled by default", "0.18.0", "0.20.0"),  # v1/worker/gpu_worker.py
    says("graphs charged", "CUDA graph memory profiling is enabled (VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=1)", "0.18.0", "0.20.0"),  # v1/worker/gpu_worker.py
    says("graphs charged", "CUDA graph memory profiling is enabled (default since v0.21.0). The current --gpu-memory-utilization={share:f4} is equivalent to --gpu-memory-utilization={without:f4} without", "0.20.0"),  # v1/worker/gpu_worker.py
    says("graphs not charged", "CUDA graph memory profiling is disabled (VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0)", "0.20.0"),  # v1/worker/gpu_worker.py
    says("graphs taken", "CUDA graph pool memory: {actual:gib} GiB (actual), {estimated:gib} GiB (estimated)", "0.18.0"),  # v1/worker/gpu_worker.py
    says("graphs captured", "Graph capturing finished in {seconds:s0} secs.", "0.6.0", "0.6.4"),  # worker/model_runner.py
    says("graphs captured", "Graph capturing finished in {seconds:s0} secs, took {size:gib2} GiB", "0.6.4"),  # worker/model_runner.py
    says("graphs begun", "Capturing CUDA graph shapes", "0.6.6", "0.11.0"),  # worker/model_runner.py
    says("graphs begun", "Capturing CUDA graphs ({kind:words}, {mode:word})", "0.10.1"),  # v1/worker/gpu_model_runner.py
    says("captures truncated", "Truncating max_cudagraph_capture_size to {largest:whole}", "0.11.1"),  # config/vllm.py
    says("captures capped", "Capping cudagraph capture sizes from max {before:whole} to {largest:whole} to fit Mamba cache blocks ({blocks:whole} blocks available)", "0.18.0", "0.20.0"),  # config/compilation.py
)

POOL: Final = (
    says("blocks", "# GPU blocks: {blocks:whole}, # CPU blocks: {swapped:whole}", "0.6.0", "0.7.0"),  # executor/gpu_executor.py
    says("blocks", "# {device:word} blocks: {blocks:whole}, # CPU blocks: {swapped:whole}", "0.7.0", "0.11.1"),  # executor/executor_base.py
    says("tokens", "GPU KV cache size: {tokens:count} tokens", "0.8.0", "0.28.0"),  # v1/core/kv_cache_utils.py
    says("concurrency", "Maximum concurrency for {length:whole} tokens per request: {times:f2}x", "0.6.3", "0.8.0"),  # executor/gpu_executor.py
    says("concurrency", "Maximum concurrency for {length:count} tokens per request: {times:f2}x", "0.8.0", "0.28.0"),  # v1/core/kv_cache_utils.py
    says("tokens", "GPU KV cache size: {tokens:count} tokens, Maximum concurrency for {length:count} tokens per request: {times:f2}x", "0.28.0", "0.30.0"),  # v1/core/kv_cache_utils.py
    says("tokens", "{device:words} KV cache size: {tokens:count} tokens, Maximum concurrency for {length:count} tokens per request: {times:f2}x", "0.30.0"),  # v1/core/kv_cache_utils.py
    says("blocks overridden", "Overriding num_gpu_blocks={blocks:whole} with num_gpu_blocks_override={override:whole}", "0.6.0"),  # engine/llm_engine.py
    says("groups padded", "Add {layers:whole} padding layers, may waste at most {percent:f2}% KV cache memory", "0.9.1"),  # v1/core/kv_cache_utils.py
    says("block raised", "Setting attention block size to {block_tokens:whole} tokens to ensure that attention page size is >= mamba page size.", "0.10.0"),  # model_executor/models/config.py
    says("state padded", "Padding mamba page size by {percent:f2}% to ensure that mamba page size and attention page size are exactly equal.", "0.10.0"),  # model_executor/models/config.py
    says("block chosen", "Setting kv cache block size to {block_tokens:whole} for {backends:words} backend", "0.18.0"),  # platforms/interface.py
    says("length fitted", "Auto-fit max_model_len: reduced from {before:whole} to {length:whole} to fit in available ", "0.14.0"),  # v1/core/kv_cache_utils.py
    says("length kept", "Auto-fit max_model_len: full model context length {length:whole} fits in available ", "0.14.0"),  # v1/core/kv_cache_utils.py
    says("state kept", "Mamba cache mode is set to '{mode:word}' for {model:word} by default", "0.15.0"),  # model_executor/models/config.py
    says("windows kept whole", "Hybrid KV cache manager is disabled for this hybrid model", "0.9.1"),  # v1/core/kv_cache_utils.py
    says("windows kept whole", "KV cache page sizes cannot be unified; treating sliding-window layers as full attention", "0.27.0"),  # v1/core/kv_cache_utils.py
    says("encoder budget", "Encoder cache will be initialized with a budget of {tokens:whole} tokens, and profiled with {items:whole} {modality:word} items", "0.7.0"),  # v1/worker/gpu_model_runner.py
)

REFUSALS: Final = (
    says("too little free", "Free memory on device ({free:gib2}/{total:gib2} GiB) on startup is less than desired GPU memory utilization ({share:share}, {budget:gib2} GiB)", "0.9.1", "0.14.0"),  # v1/worker/gpu_worker.py
    says("too little free", "Free memory on device {device:word} ({free:gib}/{total:gib} GiB) on startup is less than desired GPU memory utilization ({share:share}, {budget:gib} GiB)", "0.14.0"),  # v1/worker/utils.py
    says("too little free", "Available memory on node {node:whole} ({free:gib}/{total:gib} GiB) on startup is less than desired CPU memory utilization ({share:share}, {budget:gib} GiB)", "0.20.0"),  # v1/worker/cpu_worker.py
    says("pool above free", "Available memory on node {node:whole} ({free:gib}/{total:gib} GiB) on kv cache allocation is less than requested memory for kv ({size:gib} GiB)", "0.20.0"),  # v1/worker/cpu_worker.py
    says("pool above free", "Available memory on node {node:whole} ({free:gib}/{total:gib} GiB) on kv cache allocation is less than requested memory for kv ({size:gib}/{budget:gib} GiB)", "0.20.0"),  # v1/worker/cpu_worker.py
    says("weights held elsewhere", "Externally held weights on device {device:word} ({held:gib}/{total:gib} GiB)", "0.32.0"),  # v1/worker/utils.py
    says("memory came back", "Error in memory profiling. Initial free memory {free:bytes}, current free memory {now:bytes}", "0.6.0", "0.9.1"),  # worker/worker.py
    says("memory came back", "Error in memory profiling. Initial free memory {free:raw_gib} GiB, current free memory {now:raw_gib} GiB", "0.9.1", "0.14.0"),  # v1/worker/gpu_worker.py
    says("memory came back", "Error in memory profiling. Initial free memory {free:gib} GiB, current free memory {now:gib} GiB", "0.14.0"),  # v1/worker/gpu_worker.py
    says("no pool", "No available memory for the cache blocks.", "0.6.0"),  # worker/worker.py
    says("pool below length", "The model's max seq len ({length:whole}) is larger than the maximum number of tokens that can be stored in KV cache ({tokens:whole})", "0.6.0", "0.11.0"),  # worker/worker.py
    says("pool below request", "To serve at least one request with the models's max seq len ({length:whole}), ({needed:gib2} GB KV cache is needed, which is larger than the available KV cache memory ({size:gib2} GB).", "0.7.0", "0.8.3"),  # v1/core/kv_cache_utils.py
    says("pool below request", "To serve at least one request with the models's max seq len ({length:whole}), ({needed:gib2} GiB KV cache is needed, which is larger than the available KV cache memory ({size:gib2} GiB).", "0.8.3", "0.14.0"),  # v1/core/kv_cache_utils.py
    says("pool below request", "To serve at least one request with the models's max seq len ({length:whole}), ({needed:gib} GiB KV cache is needed, which is larger than the available KV cache memory ({size:gib} GiB).", "0.14.0", "0.22.0"),  # v1/core/kv_cache_utils.py
    says("pool below request", "To serve at least one request with the model's max seq len ({length:whole}), ({needed:gib} GiB KV cache is needed, which is larger than the available KV cache memory ({size:gib} GiB).", "0.22.0"),  # v1/core/kv_cache_utils.py
    says("length that fits", "the estimated maximum model length is {length:whole}", "0.9.1"),  # v1/core/kv_cache_utils.py
    says("no length fits", "Cannot auto-fit max_model_len: not enough GPU memory available to serve even a single token", "0.14.0"),  # v1/core/kv_cache_utils.py
    says("sequences above states", "max_num_seqs ({sequences:whole}) exceeds available Mamba cache blocks ({blocks:whole})", "0.20.0"),  # config/compilation.py
    says("block above step", "In Mamba cache align mode, block_size ({block_tokens:whole}) must be <= max_num_batched_tokens ({tokens:whole})", "0.17.0", "0.27.0"),  # config/vllm.py
    says("sampler overflowed", "CUDA out of memory occurred when warming up sampler with {sequences:whole} dummy requests", "0.8.0"),  # v1/worker/gpu_model_runner.py
    says("pooler overflowed", "CUDA out of memory occurred when warming up pooler (task={task:word}) with {sequences:whole} dummy requests", "0.10.0"),  # v1/worker/gpu_model_runner.py
    says("load overflowed", "Failed to load model - not enough GPU memory.", "0.13.0"),  # v1/worker/gpu_model_runner.py
    says("engine gone", "Engine core initialization failed. See root cause above.", "0.8.4"),  # v1/engine/core_client.py
)

SERVING: Final = (
    says("server", "vLLM API server version {release:word}", "0.6.0", "0.15.0"),  # entrypoints/openai/api_server.py
    says("server", "vLLM server version {release:word}, serving model {model:rest}", "0.15.0"),  # entrypoints/utils.py
    says("engine", "Initializing an LLM engine (v{release:word}) with config: ", "0.6.0", "0.7.1"),  # engine/llm_engine.py
    says("engine", "Initializing a V0 LLM engine (v{release:word}) with config: ", "0.7.1", "0.11.0"),  # engine/llm_engine.py
    says("engine", "Initializing a V1 LLM engine (v{release:word}) with config: ", "0.7.1"),  # v1/engine/core.py
    says("arguments", "args: {arguments:rest}", "0.6.0", "0.9.0"),  # entrypoints/openai/api_server.py
    says("arguments", "non-default args: {arguments:rest}", "0.9.0"),  # entrypoints/openai/cli_args.py
    says("length", "Using max model len {length:whole}", "0.9.2"),  # config.py
    says("step", "Chunked prefill is enabled with max_num_batched_tokens={tokens:whole}", "0.6.0"),  # config.py
    says("runner", "Using V2 Model Runner", "0.16.0"),  # v1/worker/gpu_worker.py
    says("started", "init engine (profile, create kv cache, warmup model) took {seconds:s2} s", "0.6.5"),  # engine/llm_engine.py
    says("slept", "Sleep mode freed {freed:gib2} GiB memory, {held:gib2} GiB memory is still in use.", "0.7.0", "0.14.0"),  # worker/worker.py
    says("slept", "Sleep mode freed {freed:gib} GiB memory, {held:gib} GiB memory is still in use.", "0.14.0"),  # v1/worker/gpu_worker.py
    says("preempted", "is preempted by {mode:word} mode because there is not enough KV cache space", "0.6.0", "0.11.0"),  # core/scheduler.py
)
# fmt: on

SENTENCES: Final = (*LOADING, *BUDGET, *GRAPHS, *POOL, *REFUSALS, *SERVING)


def spoken(name: str, release: Release) -> tuple[Sentence, ...]:
    """How this release says it; none where it does not, several where its parts word it differently."""
    return tuple(sentence for sentence in SENTENCES if sentence.name == name and release in sentence.span)
