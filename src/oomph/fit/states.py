"""The least step of a model whose layers keep states: a block, which is as many tokens as a state is large.

Knows what makes such a block longer: narrower keys, fewer heads on a rank. Does not know which steps are worth trying.
"""

from functools import lru_cache
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import kv
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.pool.caches import AttentionCache
from oomph.engines.vllm.pool.limits import StateMode
from oomph.engines.vllm.resolve import longest, resolve
from oomph.ledger.device import Device
from oomph.ledger.geometry import Geometry
from oomph.ledger.same import Same
from oomph.ledger.settings import Flags, Value

# What changes no block: sizes of batches, lengths, graphs, and how large the pool is.
_APART: Final = frozenset(
    {
        "enforce_eager",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "max_cudagraph_capture_size",
        "max_model_len",
        "max_num_batched_tokens",
        "max_num_seqs",
    }
)


def least_step(start: Startup) -> int:
    """Tokens of one block, where states are kept at the end of each (config/vllm.py); else none."""
    model = start.model
    if model is None or not kv.kind(model.geometry).recurrent:
        return 0
    flags = frozenset((name, value) for name, value in start.flags.items() if name not in _APART)
    narrow = model.quantization is not None and model.quantization.cache_scales
    return _block(Same(model.geometry), start.devices[0], start.release, flags, narrow=narrow)


@lru_cache(maxsize=256)
def _block(
    same: Same[Geometry], device: Device, release: Release, given: frozenset[tuple[str, Value]], *, narrow: bool
) -> int:
    """Remembered, because every setting of a space is asked for it."""
    geometry, flags = same.it, Flags(dict(given))
    settings = resolve(flags, device=device, release=release, context_tokens=longest(geometry, release))
    kept = kv.kept(geometry, flags, settings, device=device, release=release, narrow=narrow)
    if kept.limits.state_mode is not StateMode.ALIGN:
        return 0
    return min((each.block_tokens for each in kept.layers.values() if isinstance(each, AttentionCache)), default=0)
