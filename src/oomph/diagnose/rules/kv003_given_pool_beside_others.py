"""A pool of a given size was made, and left too little for everything else.

## What happened

`--kv-cache-memory-bytes` says how large the pool shall be. The engine then measures nothing, and the share is not
respected: whatever the desktop, a neighbour, graphs or a new feature take on this machine, the pool is as large as on
the machine that the number comes from.

```log fires
(EngineCore pid=1) INFO 04-24 10:22:30 [gpu_worker.py:322] Initial free memory 22.15 GiB, reserved 5.50 GiB memory for KV Cache as specified by kv_cache_memory_bytes config and skipped memory profiling. This does not respect the gpu_memory_utilization config.
(EngineCore pid=1) ERROR 04-24 10:22:36 [core.py:1108]   File "/vllm/v1/worker/gpu_model_runner.py", line 5766, in capture_model
(EngineCore pid=1) ERROR 04-24 10:22:36 [core.py:1108] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 136.00 MiB. GPU 0 has a total capacity of 23.56 GiB of which 81.37 MiB is free.
```

```log silent
(EngineCore pid=1) INFO 04-24 10:22:30 [gpu_worker.py:322] Initial free memory 22.15 GiB, reserved 5.50 GiB memory for KV Cache as specified by kv_cache_memory_bytes config and skipped memory profiling.
(EngineCore pid=1) INFO 04-24 10:22:36 [core.py:138] init engine (profile, create kv cache, warmup model) took 61.02 seconds
```

## Why

Only the start check still looks at the share. The number that the engine suggests in its summary holds for the free
memory of that run: with 1.5 GiB less free at the start, the pool must be 1.5 GiB smaller.

## What to do

Make the given pool smaller by the difference of `Initial free memory` between the two machines, or by what is missing
now. Or leave the flag out once, and let the engine measure.
"""

import re
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.serving import device_overflow, lacking, serving, told
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity
from oomph.units import GIB, MIB, Bytes

CAUSE: Final = "kv_bytes_pinned_ignores_other_users"
HINTS: Final = (b"kv_cache_memory_bytes", b"skipped memory profiling")

_GIVEN: Final = re.compile(
    r"memory for KV Cache as specified by kv_cache_memory|skipped memory profiling\. This does not respect"
)
_BEFORE: Final = frozenset({Phase.LOAD, Phase.PROFILE, Phase.HOST})
_MARGIN: Final = 256 * MIB


def check(case: Case) -> Finding | None:
    """The engine said that the pool was given, or the flag is there, and it ran out after that pool was made."""
    said, failed = case.spoken("pool given") or case.line(_GIVEN), device_overflow(case)
    given = _size(case)
    if failed is None or case.phase in _BEFORE or (said is None and given is None):
        return None
    up = serving(case) or case.served
    return Finding(
        code="KV003",
        name="given-pool-beside-others",
        cause=CAUSE,
        confidence=(0.8 if up else 0.88) if said is not None else (0.5 if up else 0.75),
        summary=f"the pool has the size that was given, and what is left for the rest is too little{told(case)}",
        lines=tuple(line for line in (said, failed) if line is not None),
        arithmetic=_arithmetic(case, said),
        remedies=advised(case, Step.CAPTURE, _remedies(case, given)),
        unhelpful={"--gpu-memory-utilization": "with a given pool only the start check still looks at the share"},
        missing=("`Initial free memory` of the machine, or the run, that the size of the pool comes from",),
    )


def _size(case: Case) -> Bytes | None:
    """The pool that was given: as a flag, or as it was said."""
    flag = case.flags.positive("kv_cache_memory_bytes") or case.flags.positive("kv_cache_memory")
    said = case.size(Quantity.POOL_GIVEN)
    return Bytes(flag) if flag is not None else None if said is None else said.likely


def _arithmetic(case: Case, said: Said | None) -> tuple[str, ...]:
    free, pool = case.size(Quantity.FREE), case.size(Quantity.POOL_GIVEN)
    if said is None or free is None or pool is None:
        return ()
    return (
        f"{free.likely} free at the start − {pool.likely} of pool = {Bytes(free.likely - pool.likely)} for all else",
    )


def _remedies(case: Case, given: Bytes | None) -> tuple[Remedy, ...]:
    short = lacking(case)
    less = _MARGIN * 2 if short is None else int(short.high) + _MARGIN
    measured = Remedy(
        change={"kv_cache_memory_bytes": None},
        lever="kv_cache_memory_bytes",
        act="leave --kv-cache-memory-bytes out once, and take the size that the engine then suggests",
        price="one start that measures",
    )
    if given is None or given <= less + GIB // 4:
        return (measured,)
    smaller = (int(given) - less) // MIB * MIB
    return (
        Remedy(
            change={"kv_cache_memory_bytes": smaller},
            lever="kv_cache_memory_bytes",
            price=f"the pool shrinks by {Bytes(int(given) - smaller)}: fewer requests run at once",
        ),
        measured,
    )
