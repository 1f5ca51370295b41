"""What changed when in the KV pool: one line per change, with the file below `vllm/` in which it can be seen."""

from collections.abc import Callable
from functools import cache
from typing import Final, Protocol

from oomph.engines.history import Release, Since
from oomph.engines.vllm import facts as vllm_facts
from oomph.engines.vllm.pool import (
    blocks,
    capacity,
    dealing,
    fitting,
    formats,
    graphs,
    grouping,
    hidden,
    hybrid,
    merging,
    needs,
    packing,
    planning,
    promotion,
    requests,
)
from oomph.engines.vllm.pool.caches import Keeps
from oomph.engines.vllm.pool.limits import StateMode
from oomph.engines.vllm.pool.rules import Rules


class StateSize(Protocol):
    """Bytes of one state in a format."""

    def __call__(self, kept: formats.KvFormat, *, key_dim: int, value_dim: int) -> int:
        """In bytes."""


class HybridBlock(Protocol):
    """Tokens of a block whose page holds a state."""

    def __call__(
        self, pages: hybrid.Pages, alignment: int, mode: StateMode, chunk_tokens: int, kernels: hybrid.Kernels
    ) -> int:
        """How many."""


# What one KV head keeps of one token, where a layer keeps every token.
full_state: Final[Since[StateSize]] = Since(
    {
        "0.8.0": formats.twice_keys,  # v1/kv_cache_interface.py
        "0.14.0": formats.keys_and_values,  # v1/kv_cache_interface.py
        "0.20.0": formats.packed,  # v1/kv_cache_interface.py
    }
)

# The same where a layer keeps a window.
window_state: Final[Since[StateSize]] = Since(
    {
        "0.8.0": formats.twice_keys,  # v1/kv_cache_interface.py
        "0.20.0": formats.keys_and_values_scaled,  # v1/kv_cache_interface.py
        "0.21.0": formats.nvfp4_packed,  # v1/kv_cache_interface.py
        "0.28.0": formats.packed,  # v1/attention/backend.py
    }
)

# The same where a layer keeps a chunk, what an encoder was fed, or a ring.
other_state: Final[Since[StateSize]] = Since(
    {
        "0.8.0": formats.twice_keys,  # v1/kv_cache_interface.py
        "0.20.0": formats.twice_keys_scaled,  # v1/kv_cache_interface.py
        "0.21.0": formats.twice_keys_packed,  # v1/kv_cache_interface.py
        "0.28.0": formats.packed,  # v1/attention/backend.py
    }
)

# The same where one vector serves for keys and values.
latent_state: Final[Since[StateSize]] = Since(
    {
        "0.8.0": formats.latent,  # v1/kv_cache_interface.py
        "0.20.0": formats.latent_scaled,  # v1/kv_cache_interface.py
    }
)

# What layers can say of the tokens they keep; before, a local layer kept every token.
told_apart: Final = Since(
    {
        "0.8.0": frozenset({Keeps.ALL}),  # v1/worker/gpu_model_runner.py
        "0.8.3": frozenset({Keeps.ALL, Keeps.WINDOW}),  # v1/worker/gpu_model_runner.py
        "0.10.0": frozenset({Keeps.ALL, Keeps.WINDOW, Keeps.CHUNK}),  # v1/worker/gpu_model_runner.py
        "0.10.2": frozenset({Keeps.ALL, Keeps.WINDOW, Keeps.CHUNK, Keeps.ENCODER}),  # v1/kv_cache_interface.py
        "0.29.0": frozenset(Keeps),  # v1/kv_cache_interface.py
    }
)

# The order that groups are brought into where each worker has its own.
ordered: Final = Since(
    {
        "0.8.0": dealing.by_kind_as_text,  # v1/core/kv_cache_utils.py
        "0.10.1": dealing.by_kind_and_shape,  # v1/core/kv_cache_utils.py
    }
)

# Ranks over which the tokens of a request are split, where a layer keeps every token.
ranks: Final = Since(
    {
        "0.8.0": requests.one_rank,  # v1/kv_cache_interface.py
        "0.10.2": requests.decode_ranks,  # v1/kv_cache_interface.py
        "0.12.0": requests.all_context_ranks,  # v1/kv_cache_interface.py
        "0.26.0": requests.decode_ranks,  # v1/kv_cache_interface.py
    }
)

# Tokens that a local layer keeps beyond its window or chunk, because steps are under way.
in_flight: Final = Since(
    {
        "0.8.0": requests.one_step,  # v1/kv_cache_interface.py
        "0.26.0": requests.steps_in_flight,  # v1/kv_cache_interface.py
    }
)

# Tokens that a window keeps below it for a draft of several modules.
retained: Final = Since(
    {
        "0.8.0": requests.none_retained,  # v1/kv_cache_interface.py
        "0.28.0": requests.lookahead_retained,  # v1/core/kv_cache_utils.py
    }
)

# Pages that one request takes of a recurrent layer.
state_pages: Final = Since(
    {
        "0.8.0": requests.one_state,  # v1/kv_cache_interface.py
        "0.11.1": requests.state_per_block,  # v1/kv_cache_interface.py
        "0.15.0": requests.states_by_mode,  # v1/kv_cache_interface.py
        "0.22.0": requests.states_and_drafts,  # v1/kv_cache_interface.py
        "0.29.0": requests.states_and_checkpoints,  # v1/kv_cache_interface.py
        "0.32.0": requests.last_states_and_checkpoints,  # v1/kv_cache_interface.py
    }
)

# What stands for layers of one kind, and which layers are one.
merged: Final = Since(
    {
        "0.8.0": merging.by_page,  # v1/kv_cache_interface.py
        "0.8.2": merging.by_page_then_equal,  # v1/core/kv_cache_utils.py
        "0.9.0": merging.by_page_and_window,  # v1/kv_cache_interface.py
        "0.10.1": merging.by_fields,  # v1/kv_cache_interface.py
        "0.27.0": merging.latents_by_fields,  # v1/kv_cache_interface.py
        "0.28.0": merging.with_values,  # v1/kv_cache_interface.py
    }
)

# Which layers share a table of blocks although their pages differ.
alike: Final = Since(
    {
        "0.8.0": merging.never_alike,  # v1/core/kv_cache_utils.py
        "0.11.0": merging.alike,  # v1/kv_cache_interface.py
        "0.29.0": merging.alike_states_of_one_page,  # v1/kv_cache_interface.py
    }
)

# Kinds of layers in a model that has more than one.
kinds: Final = Since(
    {
        "0.8.0": dealing.kinds_by_page,  # v1/core/kv_cache_utils.py
        "0.10.1": dealing.kinds_by_cache,  # v1/core/kv_cache_utils.py
        "0.27.0": dealing.kinds_by_merging,  # v1/core/kv_cache_utils.py
    }
)

# How pages of different size are made equal.
fitted: Final = Since(
    {
        "0.8.0": fitting.one_kind_only,  # v1/core/kv_cache_utils.py
        "0.9.1": fitting.equal_already,  # v1/core/kv_cache_utils.py
        "0.12.0": fitting.longer_blocks,  # v1/core/kv_cache_utils.py
        "0.24.0": fitting.padded_if_strided,  # v1/core/kv_cache_utils.py
        "0.26.0": fitting.states_padded,  # v1/core/kv_cache_utils.py
        "0.29.0": fitting.all_but_latents_padded,  # v1/core/kv_cache_utils.py
    }
)

# Whether latent layers beside windows are all kept whole where pages cannot be made equal.
fitted_or_whole: Final = Since(
    {
        "0.8.0": False,  # v1/core/kv_cache_utils.py
        "0.27.0": True,  # v1/core/kv_cache_utils.py
    }
)

# Which layers of a kind each group gets.
dealt: Final = Since(
    {
        "0.8.0": dealing.in_slices,  # v1/core/kv_cache_utils.py
        "0.11.0": dealing.round_robin,  # v1/core/kv_cache_utils.py
    }
)

# How local layers are kept whole.
promoted: Final = Since(
    {
        "0.8.0": promotion.windows_forgotten,  # v1/core/kv_cache_utils.py
        "0.9.0": promotion.windows_beside_full,  # v1/core/kv_cache_utils.py
        "0.9.1": promotion.or_refused,  # v1/core/kv_cache_utils.py
        "0.20.0": promotion.latents_at_full_block,  # v1/core/kv_cache_utils.py
        "0.27.0": promotion.at_full_block,  # v1/core/kv_cache_utils.py
        "0.28.0": promotion.at_full_block_as_they_are,  # v1/core/kv_cache_utils.py
        "0.31.0": promotion.apart_if_replicated,  # v1/core/kv_cache_utils.py
    }
)

# Groups whose pages lie side by side.
packed: Final = Since(
    {
        "0.8.0": packing.never,  # v1/core/kv_cache_utils.py
        "0.20.0": packing.tuples_padded,  # v1/core/kv_cache_utils.py
        "0.26.0": packing.tuples_padded_if_pages_differ,  # v1/core/kv_cache_utils.py
        "0.27.0": packing.tuples,  # v1/core/kv_cache_utils.py
        "0.29.0": packing.by_layout,  # v1/core/kv_cache_utils.py
        "0.30.0": packing.but_for_pooled_keys,  # v1/core/kv_cache_utils.py
        "0.32.0": packing.by_layout_windows_as_states,  # v1/core/kv_cache_utils.py
    }
)

# Groups of layers that keep hidden states.
hidden_states: Final = Since(
    {
        "0.8.0": hidden.not_known,  # v1/core/kv_cache_utils.py
        "0.22.0": hidden.as_many_as_fit,  # v1/core/kv_cache_utils.py
        "0.28.0": hidden.dividing,  # v1/core/kv_cache_utils.py
        "0.30.0": hidden.dividing_after_growth,  # v1/core/kv_cache_utils.py
    }
)

# The groups of the model on one worker.
projected: Final = Since(
    {
        "0.8.0": grouping.projected_whole,  # v1/core/kv_cache_utils.py
        "0.17.0": grouping.projected,  # v1/core/kv_cache_utils.py
    }
)

# Bytes of one block in all layers of a worker.
bytes_per_block: Final = Since(
    {
        "0.8.0": blocks.in_slots,  # v1/core/kv_cache_utils.py
        "0.20.0": blocks.in_slots_or_tuples,  # v1/core/kv_cache_utils.py
        "0.23.0": blocks.in_slots_or_sizes,  # v1/core/kv_cache_utils.py
        "0.27.0": blocks.in_slots_or_side_by_side,  # v1/core/kv_cache_utils.py
        "0.29.0": blocks.side_by_side,  # v1/core/kv_cache_utils.py
        "0.31.0": blocks.side_by_side_in_step,  # v1/core/kv_cache_utils.py
        "0.32.0": blocks.by_layout,  # v1/core/kv_cache_utils.py
    }
)

# Tensors that hold the blocks.
tensors: Final = Since(
    {
        "0.8.0": blocks.per_slot,  # v1/core/kv_cache_utils.py
        "0.20.0": blocks.per_slot_or_tuple,  # v1/core/kv_cache_utils.py
        "0.23.0": blocks.per_slot_or_size,  # v1/core/kv_cache_utils.py
        "0.24.0": blocks.per_slot_or_one,  # v1/core/kv_cache_utils.py
        "0.29.0": blocks.one_buffer,  # v1/core/kv_cache_utils.py
        "0.32.0": blocks.one_buffer_in_step,  # v1/core/kv_cache_utils.py
    }
)

# Blocks that the check takes off because they are never given out.
reserved_blocks: Final = Since(
    {
        "0.8.0": 0,  # v1/core/kv_cache_utils.py
        "0.29.0": 1,  # v1/core/kv_cache_utils.py
    }
)

# --num-gpu-blocks-override: what it does to the number of blocks.
override: Final = Since(
    {
        "0.8.0": blocks.fitting_or_overridden,  # v1/core/kv_cache_utils.py
        "0.9.1": blocks.fitting,  # v1/core/kv_cache_utils.py
        "0.9.2": blocks.fitting_or_overridden,  # v1/core/kv_cache_utils.py
    }
)

# Whether the check, too, holds a request against those blocks instead of what is available.
override_counts: Final = Since(
    {
        "0.8.0": False,  # v1/core/kv_cache_utils.py
        "0.20.1": True,  # v1/core/kv_cache_utils.py
    }
)

# What one request takes, where groups are counted; before, the check counts layers.
need: Final = Since(
    {
        "0.8.0": needs.of_every_group,  # v1/core/kv_cache_utils.py
        "0.14.0": needs.of_first_group,  # v1/core/kv_cache_utils.py
        "0.19.0": needs.of_every_group,  # v1/core/kv_cache_utils.py
        "0.20.0": needs.of_every_group_or_tuple,  # v1/core/kv_cache_utils.py
        "0.29.0": needs.of_blocks,  # v1/core/kv_cache_utils.py
    }
)

# Tokens and requests that the pool holds, as printed.
printed: Final = Since(
    {
        "0.8.0": capacity.of_one_group,  # v1/core/kv_cache_utils.py
        "0.9.1": capacity.of_equal_shares,  # v1/core/kv_cache_utils.py
        "0.10.2": capacity.of_one_group_on_ranks,  # v1/core/kv_cache_utils.py
        "0.11.0": capacity.of_equal_shares_on_ranks,  # v1/core/kv_cache_utils.py
        "0.20.1": capacity.of_requests,  # v1/core/kv_cache_utils.py
        "0.27.0": capacity.of_requests_by_blocks,  # v1/core/kv_cache_utils.py
    }
)

# The longest request that fits.
longest: Final = Since(
    {
        "0.8.0": planning.longest_by_layer,  # v1/core/kv_cache_utils.py
        "0.14.0": planning.longest_by_smallest,  # v1/core/kv_cache_utils.py
        "0.17.0": planning.longest_by_worker,  # v1/core/kv_cache_utils.py
    }
)

# The order of grouping, checking and counting.
planned: Final = Since(
    {
        "0.8.0": planning.as_the_smallest,  # v1/core/kv_cache_utils.py
        "0.8.2": planning.each_in_one_kind,  # v1/core/kv_cache_utils.py
        "0.9.1": planning.each_alone,  # v1/core/kv_cache_utils.py
        "0.11.0": planning.together_but_unshrunk,  # v1/core/kv_cache_utils.py
        "0.11.1": planning.checked_by_layer,  # v1/core/kv_cache_utils.py
        "0.14.0": planning.checked_by_smallest,  # v1/core/kv_cache_utils.py
        "0.17.0": planning.checked_by_worker,  # v1/core/kv_cache_utils.py
    }
)

# Tokens of which a block must be a multiple, where attention and recurrent layers share pages.
hybrid_alignment: Final[Since[Callable[[hybrid.Kernels, int], int]]] = Since(
    {
        "0.10.0": hybrid.sixteen,  # model_executor/models/config.py
        "0.11.1": hybrid.by_kind_and_width,  # model_executor/models/config.py
        "0.18.0": hybrid.by_kind,  # model_executor/models/config.py
        "0.20.0": hybrid.by_kernel,  # platforms/interface.py
        "0.27.0": hybrid.by_kernel_or_128,  # platforms/interface.py
    }
)

# Tokens of a block there.
hybrid_block: Final[Since[HybridBlock]] = Since(
    {
        "0.10.0": hybrid.covering,  # model_executor/models/config.py
        "0.11.1": hybrid.covering_chunks,  # model_executor/models/config.py
        "0.20.0": hybrid.covering_chunks,  # platforms/interface.py
        "0.32.0": hybrid.covering_for_every_kernel,  # platforms/interface.py
    }
)


# Sizes of CUDA graphs that are captured beside recurrent layers, where whole decode steps are captured.
captured_beside_states: Final = Since(
    {
        "0.8.0": graphs.as_they_are,  # v1/worker/gpu_model_runner.py
        "0.18.0": graphs.within_blocks,  # config/compilation.py
        "0.20.0": graphs.as_they_are,  # config/compilation.py
    }
)

# Whether the engine refuses to start there, by the sequences of a step and the blocks of the pool.
refused_beside_states: Final = Since(
    {
        "0.8.0": graphs.never_refused,  # v1/worker/gpu_model_runner.py
        "0.20.0": graphs.refused_below_one_each,  # config/compilation.py
    }
)


@cache
def rules(release: Release) -> Rules:
    """Every table of planning as it stands in this release."""
    padding = vllm_facts.group_padding
    first = next(iter(padding))[0]
    return Rules(
        ranks=ranks.at(release),
        in_flight=in_flight.at(release),
        retained=retained.at(release),
        state_pages=state_pages.at(release),
        merged=merged.at(release),
        alike=alike.at(release),
        kinds=kinds.at(release),
        fitted=fitted.at(release),
        fitted_or_whole=fitted_or_whole.at(release),
        group_padding=padding.at(max(release, first)),
        dealt=dealt.at(release),
        ordered=ordered.at(release),
        promoted=promoted.at(release),
        packed=packed.at(release),
        hidden=hidden_states.at(release),
        projected=projected.at(release),
        bytes_per_block=bytes_per_block.at(release),
        tensors=tensors.at(release),
        reserved_blocks=reserved_blocks.at(release),
        override=override.at(release),
        override_counts=override_counts.at(release),
        need=need.at(release),
        capacity=printed.at(release),
        longest=longest.at(release),
        planned=planned.at(release),
    )
