"""What a start-up printed of its memory, each figure as what it may have been before it was rounded.

Knows the columns of the corpus and the figures that its remarks hold. Does not know what was started.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from oomph.units import Bounds
from scored import gpus
from scored.prints import around, gib, noted


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of one start-up; None where it printed none."""

    total: Bounds | None = None
    free: Bounds | None = None  # before the engine began
    weights: Bounds | None = None
    activation: Bounds | None = None
    non_torch: Bounds | None = None
    consumed: Bounds | None = None  # weights and what is not PyTorch's, of releases that print them as one
    graph_estimate: Bounds | None = None
    graph_actual: Bounds | None = None
    available: Bounds | None = None  # for keys, values and states
    needed: Bounds | None = None  # for one request, where that was refused
    fitting: int | None = None  # tokens of the longest request that would have fit
    tokens: int | None = None
    blocks: int | None = None
    block_tokens: int | None = None
    concurrency: float | None = None
    tried: Bounds | None = None  # by the allocation that failed
    left: Bounds | None = None  # free when it failed
    in_use: Bounds | None = None
    allocated: Bounds | None = None
    slack: Bounds | None = None


def measured(said: Mapping[str, object]) -> Measured:
    """All figures of one line of the corpus."""
    notes = str(said.get("notes"))
    exact = noted(notes, "kv_bytes_exact=") or noted(notes, "exact KV bytes")

    def size(column: str) -> Bounds | None:
        return gib(_number(said, column))

    return Measured(
        total=gpus.total_of(said),
        free=gpus.free_of(said),
        weights=size("weights_gib"),
        activation=size("activation_peak_gib") or _above_weights(said, notes),
        non_torch=size("non_torch_gib"),
        consumed=size("consumed_gib"),
        graph_estimate=size("cudagraph_estimate_gib"),
        graph_actual=size("cudagraph_actual_gib"),
        available=size("available_kv_gib") if exact is None else around(int(exact), 0),
        needed=size("kv_needed_gib"),
        fitting=whole(said, "estimated_max_model_len"),
        tokens=whole(said, "kv_cache_tokens"),
        blocks=whole(said, "num_gpu_blocks"),
        block_tokens=whole(said, "block_size"),
        concurrency=_number(said, "max_concurrency"),
        tried=size("oom_tried_gib"),
        left=size("oom_free_gib"),
        in_use=size("oom_in_use_gib"),
        allocated=size("oom_allocated_gib"),
        slack=size("oom_reserved_unallocated_gib"),
    )


def _above_weights(said: Mapping[str, object], notes: str) -> Bounds | None:
    """The peak of releases that printed it with the weights in it."""
    peak, weights = gib(noted(notes, "peak_torch_memory=")), gib(_number(said, "weights_gib"))
    return None if peak is None or weights is None else peak - weights


def _number(said: Mapping[str, object], name: str) -> float | None:
    value = said.get(name)
    return float(value) if isinstance(value, int | float) else None


def whole(said: Mapping[str, object], name: str) -> int | None:
    """A column that holds a whole number; None where it is empty."""
    value = said.get(name)
    return value if isinstance(value, int) else None
