"""An allocation was refused, the engine asked again for less, and went on. Nothing failed.

## What happened

A line speaks of memory that ran out, and right after it the engine says what it does instead: llama.cpp goes on without
pipeline parallelism, a tuner leaves out a variant that is too large, PyTorch gives back what it holds and asks again.
What follows shows that it started, or goes on serving.

```log fires
llama_context: pipeline parallelism enabled (n_copies=4)
ggml_backend_cuda_buffer_type_alloc_buffer: allocating 51748.72 MiB on device 1: cudaMalloc failed: out of memory
ggml_gallocr_reserve_n_impl: failed to allocate CUDA1 buffer of size 54262464512
sched_reserve: compute buffer allocation failed, retrying without pipeline parallelism
sched_reserve:      CUDA1 compute buffer size =  4120.01 MiB
```

```log silent
llama_context: pipeline parallelism enabled (n_copies=4)
ggml_backend_cuda_buffer_type_alloc_buffer: allocating 51748.72 MiB on device 1: cudaMalloc failed: out of memory
sched_reserve: compute buffer allocation failed, retrying without pipeline parallelism
ggml_backend_cuda_buffer_type_alloc_buffer: allocating 12937.18 MiB on device 1: cudaMalloc failed: out of memory
llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers
```

## Why

These are attempts. They are logged as errors by whoever was refused, and not by whoever asked.

## What to do

Nothing has to be done. If it ran slower than before: what was given up is named in the line.
"""

import re
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.causes import NO_MEMORY_FAILURE
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.buffers import refusal, retried
from oomph.diagnose.grounds.serving import warned

CAUSE: Final = NO_MEMORY_FAILURE

HINTS: Final = (b"retrying without", b"OOM detected", b"failed with OOM on device")

_LEFT_OUT: Final = re.compile(
    r"OOM detected, falling back|falling back to default tactic|OutOfResources.{0,80}skipping"
)
_ENDED: Final = re.compile(
    r"OutOfMemoryError|[Ee]rror: .{0,60}out of memory|out of memory\. Tried|EngineDeadError|fatal error"
)
_ALIVE: Final = re.compile(
    r"Application startup complete|Avg prompt throughput|server is listening|model loaded|all slots are idle"
    r"|Graph capturing finished|compute buffer size =|init engine \(profile|\"(?:POST|GET) /\S* HTTP/1\.[01]\" 200"
)


def check(case: Case) -> Finding | None:
    """Refused, done otherwise, and alive afterwards; no failure that is any other."""
    again = _again(case)
    if again is None:
        return None
    alive = next((said for said, _ in case.lines(_ALIVE) if said.line > again.line), None)
    ended = any(said.line > again.line for said, _ in case.lines(_ENDED))
    if ended or refusal(case) is not None or (alive is None and retried(case) is None):
        return None
    return Finding(
        code="NO001",
        name="refused-then-went-on",
        cause=CAUSE,
        confidence=0.97 if alive is not None else 0.7,
        summary="an allocation was refused, the engine did without it, and went on: nothing failed",
        lines=tuple(line for line in (again, alive) if line is not None),
        remedies=(_NOTHING,),
        missing=() if alive is not None else ("the lines after the retry: they show whether it started",),
    )


def _again(case: Case) -> Said | None:
    """The last line in which it says what it does instead, or that it was refused and will ask again."""
    gave_up = [said for said, _ in case.lines(_LEFT_OUT)]
    alone = warned(case)
    found = [retried(case), *gave_up, alone]
    return max((said for said in found if said is not None), key=lambda said: said.line, default=None)


_NOTHING: Final = Remedy(
    change={},
    act="nothing; with llama.cpp, -ub 512 or -DGGML_SCHED_MAX_COPIES=1 avoids the attempt",
    lever="llamacpp_fa_or_ub",
    price="none",
)
