"""The pool that was asked for is larger than what the host has free, and the engine on the processor refused it.

## What happened

Without a GPU the pool lies in the memory of the host. Where its size is given, by `--kv-cache-memory-bytes` or by
`VLLM_CPU_KVCACHE_SPACE`, the engine compares it with what the node has available before it allocates, and refuses a
larger one. Nothing has run out yet.

```log fires
(EngineCore pid=9) ERROR 11-14 23:20:01 [core.py:1210] ValueError: Available memory on node 0 (22.42/23.54 GiB) on kv cache allocation is less than requested memory for kv (200.0 GiB). Decrease --kv-cache-memory-bytes, VLLM_CPU_KVCACHE_SPACE, or reduce CPU memory used by other processes.
```

```log silent
(EngineCore pid=9) INFO 11-14 23:20:01 [cpu_worker.py:260] Explicitly set (4.0/23.09) GiB for KV cache on node 0.
```

## Why

The size is taken as it is given: it is not a share of anything, and `--gpu-memory-utilization` is not looked at.

## What to do

Give less than the node has available, with room for activations; or leave the size out, and let the engine take its share.
"""

from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.ledger.observation import Observation
from oomph.units import GIB, Bounds, Bytes

CAUSE: Final = "kv_bytes_pinned_ignores_other_users"
HINTS: Final = (b"on kv cache allocation",)

_ROOM: Final = 2 * GIB  # beside the pool, for a step and for the host itself


def check(case: Case) -> Finding | None:
    """The engine says so, with both sizes."""
    said = case.spoken("pool above free")
    free, asked = (_figure(case.observation, gap) for gap in ("free", "size"))
    if said is None or free is None or asked is None:
        return None
    fitting = max(GIB, (int(free.low) - _ROOM) // GIB * GIB)
    return Finding(
        code="KV004",
        name="given-pool-above-free",
        cause=CAUSE,
        confidence=0.95,
        summary=f"a pool of {asked.likely} was asked for, and the node has {free.likely} available",
        lines=(said,),
        arithmetic=(f"{asked.likely} − {free.likely} = {Bytes(asked.likely - free.likely)} too much",),
        remedies=(
            Remedy(
                change={"kv_cache_memory_bytes": fitting},
                lever="kv_cache_memory_bytes",
                price=f"a pool of {Bytes(fitting)}: fewer requests run at once",
            ),
            Remedy(
                change={},
                act="add memory to the host, or stop what else runs on it",
                lever="host_memory",
                price="memory, or the others' work",
            ),
        ),
        unhelpful={"--gpu-memory-utilization": "the size is given, so no share of anything is taken"},
    )


def _figure(observation: Observation | None, gap: str) -> Bounds | None:
    for line in () if observation is None else observation.lines:
        if line.name == "pool above free" and isinstance(size := line.figures.get(gap), Bounds):
            return size
    return None
