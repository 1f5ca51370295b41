"""The causes that memory failures of serving engines are counted by, each in a few words.

Knows their names, and which of them show up as others. Does not know how any is recognised: that is a rule's.
"""

from collections.abc import Mapping
from typing import Final

CAUSES: Final[Mapping[str, str]] = {
    "orphan_engine_process": "an engine that was killed left processes behind that hold the memory",
    "previous_process_memory_not_yet_reclaimed": "the driver has not yet taken back what the last process held",
    "other_process_on_gpu": "somebody else holds memory on the device",
    "util_exceeds_free_at_start": "the share that is asked for is above what is free",
    "unified_memory_pool_shared_with_host": "device and host share one memory",
    "weights_exceed_gpu": "the weights do not fit",
    "load_quant_or_repack_peak": "the weights fit, but not while they are converted",
    "load_sleep_mode_pool_strands_memory": "the pool of sleep mode keeps what loading freed",
    "wsl2_alloc_fails_with_free_vram": "WSL2 refuses mapped memory although enough is free",
    "weights_replicated_per_rank": "ranks hold weights whole instead of sharing them",
    "mig_nvml_assert_masks_oom": "an assertion on a slice of a card hides that it ran out",
    "expandable_segments_incompatible": "expandable segments break what shares memory",
    "profiled_wrong_device": "another device was measured than the one that is used",
    "sampler_logits_max_num_seqs": "the sampler takes a row of the vocabulary for every sequence",
    "mm_profile_max_num_seqs": "the profile encodes pictures for every sequence at once",
    "mm_profile_item_size": "the profile encodes the largest picture or video there may be",
    "profile_full_context_no_chunked_prefill": "the profile reads the longest prompt in one step",
    "moe_workspace_backend": "the kernels of the experts take a workspace of their own",
    "budget_below_weights_plus_activations": "the share is below what weights and activations take",
    "multi_instance_accounting": "what another engine takes is charged to this one",
    "profiling_assert_free_memory_increased": "memory became free while the engine measured",
    "nccl_buffers_after_snapshot": "buffers of collectives came after the first look",
    "uneven_ranks_min_rank_binds": "the poorest rank decides for all",
    "graph_profile_minimal_kv": "the graph profile's throw-away pool is larger than the rest of the device",
    "cudagraph_estimate_overcharge": "graphs are charged with more than they take",
    "kv_below_one_max_len_request": "the pool is smaller than one request of full length",
    "mamba_blocks_below_max_num_seqs": "fewer blocks for states than sequences",
    "kv_bytes_pinned_ignores_other_users": "a given pool size leaves too little for the others",
    "cudagraph_capture_unbudgeted": "graphs are captured in what the pool has left over",
    "cudagraph_estimate_underreserve": "graphs take more than was set aside for them",
    "cudagraph_driver_or_nccl_overhead": "driver or collectives take memory that nobody budgets",
    "v2_runner_unprofiled_component": "the second model runner does not profile everything",
    "gdn_prefill_activation_underprofiled": "linear attention takes more than its profile did",
    "prefill_activation_underprofiled": "a real prompt takes more than the profile did",
    "triton_autotune_first_request": "kernels are tuned at the first request, in what is left",
    "logprobs_full_vocab_logits": "log probabilities of a prompt take the whole vocabulary for every token",
    "mm_encoder_runtime_memory": "encoding pictures takes more than was profiled",
    "spec_decode_draft_not_budgeted": "the draft model is in nobody's budget",
    "no_headroom_after_boot": "nothing was left once the engine was up",
    "sleep_wake_no_room": "there is no room to wake up into",
    "sleep_residual_growth": "what stays during sleep grows",
    "allocator_fragmentation": "enough is held, but in pieces",
    "host_shm_exhausted": "shared memory of the host is full",
    "host_ram_load_peak": "the host runs out while weights are read",
    "host_offload_pinned_memory": "pinned memory of the host runs out",
    "host_rss_growth": "the host's memory grows over time",
    "llamacpp_kv_default_context": "the context that is taken by default is too long",
    "llamacpp_compute_buffer": "the compute buffer does not fit",
    "llamacpp_runtime_pool": "buffers that grow while serving find no room",
    "sglang_memory_pool": "the static share is too high or too low, or tokens are counted wrong",
}

NO_MEMORY_FAILURE: Final = "no_memory_failure"  # what a rule says that recognises something else

# A cause shows up as these where nobody looks further: they are listed after it, not as rivals.
ENTAILS: Final[Mapping[str, frozenset[str]]] = {
    "orphan_engine_process": frozenset({"other_process_on_gpu", "util_exceeds_free_at_start"}),
    "previous_process_memory_not_yet_reclaimed": frozenset({"other_process_on_gpu", "util_exceeds_free_at_start"}),
    "other_process_on_gpu": frozenset({"util_exceeds_free_at_start", "weights_exceed_gpu"}),
    "unified_memory_pool_shared_with_host": frozenset({"other_process_on_gpu", "util_exceeds_free_at_start"}),
    "wsl2_alloc_fails_with_free_vram": frozenset({"weights_exceed_gpu", "load_quant_or_repack_peak"}),
    "multi_instance_accounting": frozenset({"budget_below_weights_plus_activations"}),
    "cudagraph_capture_unbudgeted": frozenset({"sampler_logits_max_num_seqs"}),
    "cudagraph_driver_or_nccl_overhead": frozenset({"cudagraph_capture_unbudgeted", "sampler_logits_max_num_seqs"}),
    "mig_nvml_assert_masks_oom": frozenset(CAUSES),
}
