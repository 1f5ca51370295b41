"""A kernel was tuned at the first request, when the pool had already taken the memory that tuning needs.

## What happened

The engine was up and healthy, and died at its first request. A Triton kernel that no warm-up had touched was tuned
then: its tuner runs every variant on scratch of its own, and there was no room for it. The error may be one of Triton
or CUDA and not speak of memory first.

```log fires
(EngineCore_DP0 pid=272) ERROR 03-09 02:13:42 [core.py:1102]   File "/vllm/v1/worker/gpu_model_runner.py", line 3406, in execute_model
(EngineCore_DP0 pid=272) ERROR 03-09 02:13:42 [core.py:1102]   File "/triton/runtime/autotuner.py", line 143, in _bench
(EngineCore_DP0 pid=272) ERROR 03-09 02:13:42 [core.py:1102]   File "/triton/testing.py", line 149, in do_bench
(EngineCore_DP0 pid=272) ERROR 03-09 02:13:42 [core.py:1102] RuntimeError: Triton Error [CUDA]: out of memory
```

```log silent
(EngineCore_DP0 pid=272) ERROR 03-09 02:13:42 [core.py:1102]   File "/vllm/v1/worker/gpu_model_runner.py", line 3406, in execute_model
(EngineCore_DP0 pid=272) ERROR 03-09 02:13:42 [core.py:1102] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 31.36 GiB of which 58.88 MiB is free.
```

## Why

Tuned variants are kept in a cache on disk, so that it happens once per machine, model shape and Triton version, and on
another machine seems not to happen at all. From 0.18.0 on (0.19.0 for Qwen3.5) these kernels are tuned in the profile
run, where there is room.

## What to do

A newer release; or start once with a smaller share, send one request, and keep the cache of Triton.
"""

from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.serving import ENGINE, VAIN, device_overflow, smaller_share, starting, through
from oomph.diagnose.grounds.usual import newer
from oomph.ledger.gate import Step

CAUSE: Final = "triton_autotune_first_request"

HINTS: Final = (b"autotuner", b"do_bench")


def check(case: Case) -> Finding | None:
    """Frames of Triton's tuner, after the start."""
    frame = through(case, "triton/runtime/autotuner.py", "triton/testing.py", "do_bench", "_bench")
    if frame is None or case.engine not in ENGINE or starting(case):
        return None
    overflow = device_overflow(case)
    said = overflow or (None if case.failure is None else case.failure.said)
    return Finding(
        code="SV003",
        name="autotuning-above-rest",
        cause=CAUSE,
        confidence=0.94 if overflow is not None else 0.8,
        summary="a kernel was tuned at the first request, and the pool had left no room for that",
        lines=tuple(line for line in (frame, said) if line is not None),
        remedies=advised(case, Step.SERVING, (_NEWER, smaller_share(case), _ONCE)),
        unhelpful=VAIN,
        missing=() if overflow is not None else ("the last line of the traceback: what the tuner failed with",),
    )


_NEWER: Final = newer("0.19.0", "it tunes these kernels in the profile run")
_ONCE: Final = Remedy(
    change={},
    act="start once with --gpu-memory-utilization lower by 0.05, send one long request, and keep TRITON_CACHE_DIR",
    lever="warm_cache",
    price="one more start; the cache has to be kept with the machine",
)
