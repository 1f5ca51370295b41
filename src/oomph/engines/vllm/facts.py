"""What changed when: every default and every formula of vLLM that moves bytes, one line per change.

Each line names the release and the file, below `vllm/`, in which the fact can be seen. The engine tests hold these
lines against the published source of every release; nowhere else is a release compared.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, Protocol

from oomph.engines.history import Since
from oomph.engines.vllm.formulas import batches, budget, captures, profiling, runners
from oomph.units import MIB


class Core(StrEnum):
    """The two engines that vLLM has had."""

    V0 = "V0"
    V1 = "V1"


class Sampler(StrEnum):
    """How the first runner finds the likeliest words."""

    SORTS = "sorts"  # the whole vocabulary, for every sequence
    SELECTS = "selects"  # by a kernel, without sorting
    DEPENDS = "depends"  # on whether FlashInfer is installed


class Requested(Protocol):
    """What the engine may use of a device."""

    def __call__(self, *, total: int, share: float) -> float:
        """In bytes."""


class ProfilePool(Protocol):
    """Blocks of the throw-away pool; None where there is none."""

    def __call__(self, *, sequences: int, largest_capture: int) -> int | None:
        """How many."""


class InFlight(Protocol):
    """Steps whose tokens may be under way at once."""

    def __call__(self, *, ranks: int, overlapped: bool, second_runner: bool) -> int:
        """How many."""


class Limited(Protocol):
    """The limits of one step from what is given and what is not."""

    def __call__(
        self,
        default: batches.Batch,
        *,
        sequences: int | None,
        tokens: int | None,
        context_tokens: int,
        chunked: bool = ...,
    ) -> batches.Batch:
        """Both limits."""


# The engine that runs when the user does not choose.
core: Final = Since(
    {
        "0.6.0": Core.V0,  # worker/worker.py
        "0.8.0": Core.V1,  # envs.py
    }
)

# --gpu-memory-utilization: the share of the device's total that the engine may use.
share: Final = Since(
    {
        "0.6.0": 0.90,  # engine/arg_utils.py
        "0.20.0": 0.92,  # config/cache.py
    }
)

# What the share comes to.
requested: Final[Since[Requested]] = Since(
    {
        "0.6.0": budget.requested_exactly,  # worker/worker.py
        "0.14.0": budget.requested_rounded_up,  # v1/worker/utils.py
    }
)

# Whether the engine refuses to start when less is free than it may use.
start_check: Final = Since(
    {
        "0.6.0": False,  # worker/worker.py
        "0.9.1": True,  # v1/worker/gpu_worker.py
    }
)

# Whether the first snapshot is taken after the ranks have connected, so that NCCL is outside the budget.
snapshot_after_connecting: Final = Since(
    {
        "0.6.0": False,  # worker/worker.py
        "0.11.0": True,  # v1/worker/gpu_worker.py
    }
)

# What profiling found to be taken by everything but the KV pool.
non_kv: Final[Since[Callable[[budget.Profile], int]]] = Since(
    {
        "0.6.0": budget.everything_taken_since_start,  # worker/worker.py
        "0.6.4": budget.peak_and_all_else_on_device,  # worker/worker.py
        "0.6.5": budget.growth_and_peak,  # utils.py
        "0.7.0": budget.weights_peak_and_non_torch,  # utils.py
        "0.8.0": budget.peak_and_all_else_on_device,  # v1/worker/gpu_worker.py
        "0.9.1": budget.weights_peak_and_non_torch,  # v1/worker/gpu_worker.py
        "0.27.0": budget.consumed_and_transient_peak,  # utils/mem_utils.py
    }
)

# Whether the engine estimates what CUDA graphs will take, and if so, whether the estimate is charged to the budget
# unless VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS says otherwise. None: there is no estimate.
graphs_charged: Final[Since[bool | None]] = Since(
    {
        "0.6.0": None,  # worker/worker.py
        "0.18.0": False,  # envs.py
        "0.20.0": True,  # envs.py
    }
)

# Blocks of the throw-away pool of that estimate, where the V1 model runner runs.
graph_profile_blocks: Final[Since[ProfilePool]] = Since(
    {
        "0.6.0": profiling.no_pool,  # worker/worker.py
        "0.18.0": profiling.one_block_per_token,  # v1/worker/gpu_model_runner.py
        "0.26.0": profiling.one_block_per_sequence,  # v1/worker/gpu_model_runner.py
    }
)

# The same where the V2 model runner runs.
graph_profile_blocks_v2: Final[Since[ProfilePool]] = Since(
    {
        "0.6.0": profiling.no_pool,  # worker/worker.py
        "0.29.0": profiling.one_block_per_sequence,  # v1/worker/gpu/cudagraph_utils.py
    }
)

# Sequences and tokens of one step by device class, when neither is given.
batch: Final[Since[batches.Defaults]] = Since(
    {
        "0.6.0": batches.one_for_all,  # engine/arg_utils.py
        "0.8.0": batches.by_name,  # engine/arg_utils.py
        "0.8.4": batches.by_name_with_fewer,  # engine/arg_utils.py
        "0.8.5": batches.by_memory,  # engine/arg_utils.py
        "0.9.0": batches.by_memory_and_name,  # engine/arg_utils.py
        "0.28.0": batches.by_memory_in_three,  # engine/arg_utils.py
    }
)

# How the two limit each other.
batch_limits: Final[Since[Limited]] = Since(
    {
        "0.6.0": batches.whole_prompts_or_512,  # config.py
        "0.6.5": batches.whole_prompts_or_2048,  # config.py
        "0.8.0": batches.taken_apart,  # engine/arg_utils.py
        "0.10.1": batches.limited_by_tokens,  # engine/arg_utils.py
        "0.11.1": batches.limited,  # engine/arg_utils.py
    }
)

# The batch sizes that CUDA graphs are captured for.
capture_sizes: Final[Since[Callable[[captures.Wish], captures.Sizes]]] = Since(
    {
        "0.6.0": captures.every_eighth_to_cover,  # worker/model_runner.py
        "0.8.0": captures.every_eighth_to_512,  # config.py
        "0.10.0": captures.every_eighth,  # config.py
        "0.11.1": captures.coarser_above_256,  # config/vllm.py
        "0.13.0": captures.with_speculation,  # config/vllm.py
        "0.20.1": captures.with_full_step,  # config/vllm.py
        "0.28.0": captures.by_generation,  # config/vllm.py
        "0.29.0": captures.with_decode_steps,  # config/vllm.py
        "0.31.0": captures.with_all_sequences,  # config/vllm.py
    }
)

# Tokens of a block, where neither the user, the attention kernel nor a recurrent layer asks for more.
block_tokens: Final = Since(
    {
        "0.6.0": 16,  # engine/arg_utils.py
        "0.18.0": 16,  # config/cache.py
    }
)

# How much larger the largest kind of layer may be than the smallest, for groups to be padded up to it.
group_padding: Final = Since(
    {
        "0.9.1": 1.0,  # v1/core/kv_cache_utils.py
        "0.12.0": 1.25,  # v1/core/kv_cache_utils.py
        "0.18.0": 1.5,  # v1/core/kv_cache_utils.py
    }
)

# --swap-space, host memory for swapped sequences, in GiB. None: the flag is gone.
swap_space: Final[Since[int | None]] = Since(
    {
        "0.6.0": 4,  # engine/arg_utils.py
        "0.18.0": None,  # engine/arg_utils.py
    }
)

# The workspace that FlashInfer takes when it is first used, which is after the budget was made.
flashinfer_workspace: Final = Since(
    {
        "0.6.0": 256 * MIB,  # attention/backends/flashinfer.py
        "0.11.1": 394 * MIB,  # envs.py
    }
)

# Tokens that one call of a fused mixture-of-experts kernel takes. None: all of them.
moe_chunk_tokens: Final[Since[int | None]] = Since(
    {
        "0.6.0": 32768,  # envs.py
        "0.12.0": 16384,  # envs.py
        "0.18.0": None,  # model_executor/layers/fused_moe/fused_moe.py
    }
)

# Whether the next step is scheduled while one runs, when the user does not say.
async_scheduling: Final = Since(
    {
        "0.6.0": False,  # core/scheduler.py
        "0.14.0": True,  # config/vllm.py
    }
)

# Whether `--max-model-len -1` asks for the longest that fits.
auto_length: Final = Since(
    {
        "0.6.0": False,  # engine/arg_utils.py
        "0.14.0": True,  # engine/arg_utils.py
    }
)

# Whether the second model runner runs a model.
second_runner: Final[Since[Callable[[runners.Kind], bool]]] = Since(
    {
        "0.6.0": runners.first,  # worker/worker.py
        "0.22.0": runners.plain_qwen,  # config/vllm.py
        "0.23.0": runners.plain_listed,  # config/vllm.py
        "0.24.0": runners.listed,  # config/vllm.py
        "0.25.0": runners.dense,  # config/vllm.py
        "0.26.0": runners.dense_026,  # config/vllm.py
        "0.27.0": runners.dense_027,  # config/vllm.py
        "0.28.0": runners.dense_028,  # config/vllm.py
        "0.29.0": runners.second,  # config/vllm.py
    }
)

# How many steps' tokens a sliding window must have room for.
batches_in_flight: Final[Since[InFlight]] = Since(
    {
        "0.6.0": runners.one_batch,  # config.py
        "0.26.0": runners.batches_in_flight,  # config/vllm.py
    }
)

# Whether prefixes are cached when the user does not say; the first engine of old did not.
prefix_caching: Final = Since(
    {
        "0.6.0": False,  # engine/arg_utils.py
        "0.8.0": True,  # engine/arg_utils.py
    }
)

# The same for a model with states beside attention.
prefix_caching_of_hybrids: Final = Since(
    {
        "0.6.0": False,  # engine/arg_utils.py
        "0.28.0": True,  # engine/arg_utils.py
    }
)

# Whether a request is as long as the context was before LongRoPE stretched it, unless the user asks for more.
unstretched: Final = Since(
    {
        "0.6.0": False,  # config.py
        "0.11.1": True,  # config/model.py
    }
)

# How the likeliest words are found among all, unless VLLM_USE_FLASHINFER_SAMPLER says otherwise.
sampler: Final = Since(
    {
        "0.6.0": Sampler.SORTS,  # model_executor/layers/sampler.py
        "0.8.0": Sampler.DEPENDS,  # v1/sample/ops/topk_topp_sampler.py
        "0.11.1": Sampler.SORTS,  # v1/sample/ops/topk_topp_sampler.py
        "0.17.0": Sampler.SELECTS,  # v1/sample/ops/topk_topp_triton.py
    }
)

# Whether each sequence of a captured decode step must have a block for its state.
block_for_each_state: Final = Since(
    {
        "0.6.0": False,  # worker/worker.py
        "0.20.0": True,  # config/compilation.py
    }
)
