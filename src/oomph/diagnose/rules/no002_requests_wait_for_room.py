"""The pool is full and requests wait: a lack of capacity, not a failure of memory.

## What happened

The pool of keys and values was full, and the engine set requests back to make room for others: vLLM preempts them,
SGLang retracts them. They go on later. The engine did not fail.

```log fires
WARNING 03-01 10:00:00 [scheduler.py:1057] Sequence group 12 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. This can affect the end-to-end performance.
INFO 03-01 10:00:05 [metrics.py:455] Avg prompt throughput: 200.1 tokens/s, GPU KV cache usage: 99.8%
```

```log silent
WARNING 03-01 10:00:00 [scheduler.py:1057] Sequence group 12 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. This can affect the end-to-end performance.
ERROR 03-01 10:00:05 [engine.py:160] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 79.10 GiB of which 0.91 GiB is free.
```

## Why

The pool is allocated once, when the engine starts. It cannot run the device out of memory later. Blocks that only keep
a prefix for later count as free, so a usage near 100 % is requests: no request can grow unless another is set back.

## What to do

A larger pool, or fewer requests at once, if waiting hurts.
"""

import re
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.causes import NO_MEMORY_FAILURE
from oomph.diagnose.finding import Finding, Remedy
from oomph.engines import sglang_refusals as sglang

CAUSE: Final = NO_MEMORY_FAILURE

HINTS: Final = (b"preempted by", b"Retract requests")

_PREEMPTED: Final = re.compile(r"is preempted by .{0,60}because there is not enough KV cache")


def check(case: Case) -> Finding | None:
    """Requests were set back, and nothing failed."""
    said = case.line(_PREEMPTED) or case.line(sglang.RETRACTED)
    if said is None or case.failures:
        return None
    return Finding(
        code="NO002",
        name="requests-wait-for-room",
        cause=CAUSE,
        confidence=0.9,
        summary="the pool is full and requests are set back for a while: a lack of capacity, not of memory",
        lines=(said,),
        remedies=(_FEWER, _LARGER),
        missing=("if the engine did fail: the lines of its error",),
    )


_FEWER: Final = Remedy(
    change={},
    act="run fewer requests at once (--max-num-seqs, --max-running-requests), so that none is set back",
    lever="max_num_seqs_down",
    price="the others wait before they begin, instead of in between",
)
_LARGER: Final = Remedy(
    change={},
    act="enlarge the pool: a larger share, a cache of 8 bits, more devices",
    lever="gpu_memory_utilization_up",
    price="less is left for steps; answers differ slightly with 8 bits",
)
