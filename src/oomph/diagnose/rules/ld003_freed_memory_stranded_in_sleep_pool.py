"""Weights are loaded into the pool for sleeping, and what is freed in it cannot be used again.

## What happened

With `--enable-sleep-mode` weights go into a memory pool of their own, so that they can be put to sleep later. What the
loader frees on the way stays in that pool, and nobody else may have it. PyTorch shows it as memory `in private pools`,
which it takes for CUDA graphs, though no graph has been captured yet.

```log fires
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104]   File "/vllm/v1/worker/gpu_worker.py", line 345, in load_model
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.31 GiB. GPU 0 has a total capacity of 79.19 GiB of which 610.00 MiB is free. Including non-PyTorch memory, this process has 78.55 GiB memory in use. Of the allocated memory 77.90 GiB is allocated by PyTorch, with 64.12 GiB allocated in private pools (e.g., CUDA Graphs), and 13.02 MiB is reserved by PyTorch but unallocated.
```

```log silent
(EngineCore pid=7) INFO 05-11 09:14:02 [gpu_model_runner.py:4820] Model loading took 18.47 GiB memory and 10.912345 seconds
(EngineCore pid=7) INFO 05-11 09:14:42 [gpu_model_runner.py:5930] Graph capturing finished in 12 secs, took 1.20 GiB
(EngineCore pid=7) ERROR 05-11 09:15:02 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.31 GiB. GPU 0 has a total capacity of 79.19 GiB of which 610.00 MiB is free. Of the allocated memory 77.90 GiB is allocated by PyTorch, with 2.12 GiB allocated in private pools (e.g., CUDA Graphs), and 13.02 MiB is reserved by PyTorch but unallocated.
```

## Why

The pool takes memory from the driver block by block and gives it back only whole. Since 0.21.0 blocks are cut small
while weights are loaded (`_scoped_allocator_max_split` in v1/worker/gpu_worker.py), which leaves more such remains.

## What to do

Load without the flag. If the engine must sleep, try another release, or fewer conversions on the way in.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.ledger.observation import Quantity
from oomph.units import GIB, Bounds

CAUSE: Final = "load_sleep_mode_pool_strands_memory"
HINTS: Final = (b"cumem_allocator",)

_REFUSED: Final = re.compile(r"CUDA Error: out of memory at .{0,200}cumem_allocator\.cpp")
_TORCH: Final = re.compile(r"CUDA out of memory\. Tried to allocate")
_WAKING: Final = ("wake_up", "create_and_map")
_CAPTURED: Final = ("graphs begun", "graphs captured", "graphs taken", "graphs profiled", "started", "slept")
_BEFORE: Final = frozenset({None, Phase.LOAD})


def check(case: Case) -> Finding | None:
    """Private pools before there is a graph; or the sleep pool's own allocator refused, and nothing was waking."""
    refusal, private = case.line(_REFUSED), case.size(Quantity.PRIVATE)
    if case.failure is None or (sure := _confidence(case, refusal, private)) is None:
        return None
    return Finding(
        code="LD003",
        name="freed-memory-stranded-in-sleep-pool",
        cause=CAUSE,
        confidence=sure,
        summary=_summary(private),
        lines=tuple(
            dict.fromkeys(line for line in (refusal, case.failure.said, case.line(_TORCH)) if line is not None)
        ),
        arithmetic=tuple(_arithmetic(case, private)),
        remedies=_REMEDIES,
        unhelpful=_VAIN,
        missing=() if case.flags.get("enable_sleep_mode") else ("whether it was started with --enable-sleep-mode",),
    )


def _confidence(case: Case, refusal: Said | None, private: Bounds | None) -> float | None:
    sleeps = bool(case.flags.get("enable_sleep_mode"))
    early = case.phase in _BEFORE and not case.served and not any(case.spoken(name) for name in _CAPTURED)
    if not early or case.frame(*_WAKING) is not None:
        return None
    if private is not None and private.likely >= GIB:
        return 0.95 if case.phase is Phase.LOAD or refusal is not None or sleeps else 0.55
    if refusal is not None:
        return 0.85 if case.phase is Phase.LOAD or sleeps else 0.5
    return 0.6 if sleeps and case.phase is Phase.LOAD and case.size(Quantity.TRIED) is not None else None


def _summary(private: Bounds | None) -> str:
    if private is None:
        return "the pool for sleeping could get no more memory while weights were loaded"
    return f"{private.likely} are in the pool for sleeping, and what was freed in it cannot be used again"


def _arithmetic(case: Case, private: Bounds | None) -> Iterator[str]:
    allocated = case.size(Quantity.ALLOCATED)
    if private is not None and allocated is not None:
        yield f"{private.likely} of {allocated.likely} are in private pools, and no graph was captured yet"


_REMEDIES: Final = (
    Remedy(
        change={"enable_sleep_mode": False},
        lever="disable_sleep_mode",
        price="the engine cannot be put to sleep: its memory is free only when it stops",
    ),
    Remedy(
        change={},
        act="if it must sleep, try another release: 0.18.0 to 0.20.2 were seen to load",
        lever="downgrade",
        price="another release",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization": "the share only limits the pool for requests, and there is none yet",
    "PYTORCH_CUDA_ALLOC_CONF": "what is stranded is in the pool for sleeping, out of the allocator's reach",
    "--enforce-eager, --max-num-seqs": "no graph and no request is there yet",
}
