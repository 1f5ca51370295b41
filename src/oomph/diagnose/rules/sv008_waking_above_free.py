"""The engine could not wake up: what it had given back while asleep was not free any more.

## What happened

With sleep mode the engine gives its weights and its pool back, so that a trainer can use the device. `wake_up` maps
all of it again at once, and somebody, most often the trainer, still held memory.

```log fires
  File "/vllm/v1/worker/gpu_worker.py", line 184, in wake_up
  File "/vllm/device_allocator/cumem.py", line 221, in wake_up
  File "/vllm/device_allocator/cumem.py", line 58, in create_and_map
RuntimeError: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62
```

```log silent
  File "/vllm/v1/worker/gpu_worker.py", line 300, in load_model
  File "/vllm/device_allocator/cumem.py", line 58, in create_and_map
RuntimeError: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:137
```

## Why

The allocator of sleep mode asks the driver for its old addresses back, whole. PyTorch's cache in the same process, and
in the trainer's, is not asked to give anything back first.

## What to do

Let the trainer give back first; then wake in two steps, weights before the pool.
"""

import re
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.serving import ENGINE, device_overflow, starting, through, told

CAUSE: Final = "sleep_wake_no_room"

HINTS: Final = (b"wake_up", b"cumem")

_REFUSED: Final = re.compile(r"CUDA Error: out of memory at \S{0,200}cumem_allocator\.cpp")  # csrc/cumem_allocator.cpp
_WAKING: Final = re.compile(r"\bwake_up\(|/wake_up\b|[Ww]aking up")


def check(case: Case) -> Finding | None:
    """Out of memory in the allocator of sleep mode, while it wakes up."""
    overflow = case.line(_REFUSED) or device_overflow(case)
    frame = through(case, "wake_up") or case.line(_WAKING)
    if overflow is None or case.engine not in ENGINE or (frame is None and not _REFUSED.search(overflow.text)):
        return None
    if frame is None and starting(case):
        return None
    mapped = through(case, "create_and_map", "device_allocator/cumem.py") or _REFUSED.search(overflow.text)
    return Finding(
        code="SV008",
        name="waking-above-free",
        cause=CAUSE,
        confidence=0.5 if frame is None else 0.95 if mapped is not None else 0.85,
        summary=f"what the engine gave back while it slept is not free when it wakes up{told(case)}",
        lines=tuple(line for line in (frame, overflow) if line is not None),
        remedies=(_FREE, _STEPS, _SMALLER),
        unhelpful={
            "PYTORCH_CUDA_ALLOC_CONF": "the allocator of sleep mode is not PyTorch's, and asks the driver itself",
            "--gpu-memory-utilization up": "more would have to be mapped again",
        },
        missing=("what was free just before wake_up, against weights and pool together",),
    )


_FREE: Final = Remedy(
    change={},
    act="let the trainer give its memory back before wake_up: offload its weights and optimizer, then empty_cache()",
    lever="kill_or_free_other_process",
    price="the time of moving the trainer's state to the host and back, at every turn",
)
_STEPS: Final = Remedy(
    change={},
    act='wake in two steps: wake_up(tags=["weights"]), update them, then wake_up(tags=["kv_cache"])',
    lever="wait_or_start_sequentially",
    price="one call more at every turn",
)
_SMALLER: Final = Remedy(
    change={},
    act="lower --gpu-memory-utilization, or set --kv-cache-memory-bytes, so that less is mapped again",
    lever="gpu_memory_utilization_down",
    price="a smaller pool: fewer requests run at once",
)
