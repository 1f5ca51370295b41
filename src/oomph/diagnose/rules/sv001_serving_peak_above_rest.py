"""A step needed more than the profile run had seen, and the pool had taken the rest.

## What happened

The engine was up. A step with real requests asked for memory, and there was none: what a start-up leaves beside
weights, pool and graphs is what its profile run took at its peak, and this step took more.

```log fires
(EngineCore_DP0 pid=948) ERROR 09-16 14:10:49 [core.py:720] EngineCore encountered a fatal error.
(EngineCore_DP0 pid=948) ERROR 09-16 14:10:49 [core.py:720]   File "/vllm/v1/worker/gpu_model_runner.py", line 2161, in execute_model
(EngineCore_DP0 pid=948) ERROR 09-16 14:10:49 [core.py:720] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.91 GiB is free. Including non-PyTorch memory, this process has 77.18 GiB memory in use.
```

```log silent
(EngineCore_DP0 pid=948) ERROR 09-16 14:10:49 [core.py:718] EngineCore failed to start.
(EngineCore_DP0 pid=948) ERROR 09-16 14:10:49 [core.py:718]   File "/vllm/v1/worker/gpu_model_runner.py", line 2161, in profile_run
(EngineCore_DP0 pid=948) ERROR 09-16 14:10:49 [core.py:718] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.91 GiB is free.
```

## Why

The profile runs as many tokens as a step may have, but not everything that real requests bring: attention over a long
context is left out, and so are adapters of long prompts (LoRA), the room in which latent attention unfolds earlier
tokens (MLA, until 0.11.0), and indexers of sparse attention. The pool is not at fault: it is allocated once, and when
it is full, requests wait.

## What to do

Fewer tokens in a step, or a smaller share, so that more is left beside the pool; or a release that profiles it.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.serving import (
    ENGINE,
    VAIN,
    device_overflow,
    fewer_tokens,
    lacking,
    serving,
    share,
    smaller_share,
    through,
    told,
)
from oomph.diagnose.grounds.usual import newer
from oomph.engines.history import span
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity

CAUSE: Final = "prefill_activation_underprofiled"

_TIGHT: Final = 0.96  # a share above which hardly anything is left beside the pool, whatever is profiled
_LATENT: Final = ("deepseek-v2", "deepseek-v3", "deepseek-r1", "kimi-k2")
_UNFOLDED: Final = span("0.6.6", "0.11.0")  # v1/attention/backends/mla/common.py


def check(case: Case) -> Finding | None:
    """Up, out of the device's memory, and nothing more special to blame: others say so with more confidence."""
    overflow = device_overflow(case)
    bare = case.phase_assumed and case.size(Quantity.TRIED) is not None
    if overflow is None or case.engine not in ENGINE or not (serving(case) or bare):
        return None
    frame = through(case, "execute_model", "worker_busy_loop", "_model_forward")
    return Finding(
        code="SV001",
        name="serving-peak-above-rest",
        cause=CAUSE,
        confidence=_confidence(case, sure=frame is not None),
        summary=f"a step with real requests needs more than the profile run left{told(case)}",
        lines=tuple(line for line in (frame, overflow) if line is not None),
        arithmetic=tuple(_arithmetic(case)),
        remedies=advised(case, Step.SERVING, _remedies(case)),
        unhelpful=VAIN | dict(_allocator(case)),
        missing=tuple(_missing(case)),
    )


def _confidence(case: Case, *, sure: bool) -> float:
    if not serving(case):
        return 0.27
    tight = (share(case) or 0.0) >= _TIGHT
    special = bool(case.flags.get("enable_lora")) or _unfolds(case)
    if tight or case.phase_assumed:  # then the share is to blame, or it is only likely that it was up
        return 0.5
    return 0.6 + 0.06 * special + 0.04 * sure


def _unfolds(case: Case) -> bool:
    """Its latent attention takes more than was profiled."""
    name = (case.model or "").lower()
    return case.release is not None and case.release in _UNFOLDED and any(word in name for word in _LATENT)


def _remedies(case: Case) -> Iterator[Remedy]:
    if _unfolds(case):
        yield newer("0.11.0", "it bounds what latent attention unfolds")
    yield fewer_tokens(case)
    yield smaller_share(case)
    price = "the pool no longer follows the device: it has to be set again when anything else changes"
    act = "set --kv-cache-memory-bytes to the pool as it is, less 3 GiB"
    yield Remedy(change={}, act=act, lever="kv_cache_memory_bytes", price=price)


def _arithmetic(case: Case) -> Iterator[str]:
    tried, free, kept = (case.size(q) for q in (Quantity.TRIED, Quantity.DEVICE_FREE, Quantity.RESERVED))
    if tried is not None and free is not None and (short := lacking(case)) is not None:
        yield f"{tried.likely} asked for − {free.likely} free = {short.likely} too little"
    if tried is not None and kept is not None and kept.high < tried.low:
        yield f"{kept.likely} held back by the allocator < {tried.likely} asked for: not a matter of fragments"


def _allocator(case: Case) -> Iterator[tuple[str, str]]:
    tried, kept = case.size(Quantity.TRIED), case.size(Quantity.RESERVED)
    if tried is not None and kept is not None and kept.high < tried.low:
        yield (
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            f"the allocator holds only {kept.likely} in fragments, and {tried.likely} were asked for",
        )


def _missing(case: Case) -> Iterator[str]:
    if case.model is None:
        yield "the model: what is not profiled depends on its attention"
    if share(case) is None:
        yield "--gpu-memory-utilization: above 0.96 the share itself would be to blame"
    if not any(failure.frames for failure in case.failures):
        yield "the traceback: its innermost frames name the computation"
