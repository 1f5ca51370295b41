"""The device still holds the memory of a process that has just stopped.

## What happened

The very first call to the driver fails, or the start check finds nothing free, although nobody is on the device any
more: an earlier engine has exited, and the driver is still taking its memory down. That takes seconds, and up to a
minute where host and device share their memory.

```log fires
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104]   File "/vllm/v1/worker/gpu_worker.py", line 301, in init_device
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104]   File "/vllm/utils/mem_utils.py", line 104, in measure
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] torch.AcceleratorError: CUDA error: out of memory
```

```log silent
(EngineCore pid=7) INFO 05-11 09:14:02 [gpu_model_runner.py:4820] Model loading took 18.47 GiB memory and 10.912345 seconds
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104]   File "/vllm/v1/worker/gpu_model_runner.py", line 4301, in capture_model
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] torch.AcceleratorError: CUDA error: out of memory
```

## Why

Even to ask how much is free a process needs a context of some hundred MiB. Where there is no room for that, the
question itself fails, and no setting of the engine has been looked at yet.

## What to do

Wait until what is free has come back, then start the same again; let the supervisor do that.
"""

import re
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.refused_start import refused

CAUSE: Final = "previous_process_memory_not_yet_reclaimed"

_REFUSED: Final = re.compile(r"CUDA error: out of memory|cudaErrorMemoryAllocation")
_STOPPED: Final = re.compile(r"Shutting down(?!\s+profiler)|Shutdown initiated|[Rr]eceived (?:shutdown|signal|SIGTERM)")
_ASKING: Final = (
    "init_device",
    "measure",
    "__post_init__",
    "mem_get_info",
    "get_memory_info",
    "set_device",
    "_lazy_init",
)
_BEGUN: Final = ("weights", "pool", "blocks", "graphs begun", "profile", "weights read")
_ANOTHER: Final = frozenset({"llama.cpp", "SGLang"})
_LITTLE: Final = 0.5  # of the device that is free while another engine is taken down


def check(case: Case) -> Finding | None:
    """The driver refuses a process that has nothing yet; or a start is refused right after a stop."""
    found = _at_first_call(case) or _after_a_stop(case)
    if found is None:
        return None
    sure, lines = found
    return Finding(
        code="SC004",
        name="stopped-process-not-yet-gone",
        cause=CAUSE,
        confidence=sure,
        summary="the device was full before this engine had taken anything: a process that stopped is not yet gone from it",
        lines=lines,
        remedies=_REMEDIES,
        unhelpful=_VAIN,
        missing=("what is free, twice, ten seconds apart (nvidia-smi): it rises without anybody doing anything",),
    )


def _at_first_call(case: Case) -> tuple[float, tuple[Said, ...]] | None:
    """Nothing was said of weights, and the driver, not PyTorch's allocator, refuses."""
    failure = case.failure
    if failure is None or not _REFUSED.search(failure.said.text) or case.engine in _ANOTHER or case.served:
        return None
    if any(case.spoken(name) is not None for name in _BEGUN) or case.phase not in {None, Phase.LOAD}:
        return None
    if case.frame(*_ASKING) is not None and case.frame("load_model", "capture", "profile") is None:
        return 0.85, (failure.said,)
    return (0.45, (failure.said,)) if not failure.frames else None


def _after_a_stop(case: Case) -> tuple[float, tuple[Said, ...]] | None:
    start = refused(case)
    if start is None or start.on_host or start.left > _LITTLE:
        return None
    before = [said for said, _ in case.lines(_STOPPED) if said.line < start.said.line]
    return (0.7, (before[-1], start.said)) if before else None


_REMEDIES: Final = (
    Remedy(
        change={},
        act="wait until what is free has come back (poll nvidia-smi), then start the same again",
        lever="wait_or_start_sequentially",
        price="seconds, up to a minute where memory is shared with the host",
    ),
    Remedy(
        change={},
        act="if it does not come back, somebody is still there: end what pgrep -af VLLM:: lists",
        lever="kill_or_free_other_process",
        price="whatever that process was doing",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization": "it has not been looked at: the device is asked what is free first",
    "another image, driver or host": "the same start works a minute later",
}
