"""On a slice of a card PyTorch ran out of memory, and failed at the question who holds it.

## What happened

When its allocator gets no more memory, PyTorch asks NVML who holds the device, to say so. On a MIG slice that question
is not permitted, and the answer is an assertion about NVML instead of `OutOfMemoryError`. The true event is that the
slice was full at this point of the traceback.

```log fires
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "/pytorch/c10/cuda/CUDACachingAllocator.cpp":1131, please report a bug to PyTorch.
```

```log silent
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 39.49 GiB of which 0.20 GiB is free.
```

## Why

A slice may ask about itself, not about the card. PyTorch (2.1 to 2.11 at least) asserts that the answer is a success.
The last frame is whoever happened to ask for memory; it is not to blame, nor is it a bug to report.

## What to do

Treat it as running out at the phase of the traceback, with the size of the slice. `expandable_segments:False` removes
one of the questions to NVML, so that the true message may appear.
"""

import re
from typing import Final

from oomph.diagnose.case import Case, Phase, Platform
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.ledger.observation import Quantity

CAUSE: Final = "mig_nvml_assert_masks_oom"
HINTS: Final = (b"NVML_SUCCESS",)

_ASSERTED: Final = re.compile(r"NVML_SUCCESS == \S{1,80} INTERNAL ASSERT FAILED|NVML_SUCCESS == r\b")
_FAILED: Final = re.compile(r"Traceback \(most recent call last\)|Engine background task failed|EngineCore failed")
_REFUSALS: Final = ("too little free", "no pool", "pool below request", "sampler overflowed", "memory came back")
_BEFORE_POOL: Final = frozenset({Phase.LOAD, Phase.PROFILE, Phase.GRAPH_PROFILE})


def check(case: Case) -> Finding | None:
    """The assertion itself; or, on a slice, a failure of which the log shows no reason."""
    said = case.line(_ASSERTED)
    hidden = None if said is not None else _hidden(case)
    if (shown := said or hidden) is None:
        return None
    return Finding(
        code="PL002",
        name="overflow-masked-by-nvml",
        cause=CAUSE,
        confidence=_confidence(case) if said is not None else 0.5,
        summary=f"the slice was full{_when(case)}; the words about NVML only hide PyTorch's message that says so",
        lines=(shown,),
        remedies=_remedies(case.phase),
        unhelpful=_VAIN,
        missing=("the whole traceback, and the size of the slice (nvidia-smi -L)",),
    )


def _confidence(case: Case) -> float:
    """Devices without NVML, such as Jetson's, fail in the same words."""
    return 0.6 if Platform.UNIFIED in case.platform else 0.93


def _hidden(case: Case) -> Said | None:
    if Platform.MIG not in case.platform or case.size(Quantity.TRIED) is not None:
        return None
    if any(case.spoken(name) is not None for name in _REFUSALS):
        return None
    return case.line(_FAILED)


def _when(case: Case) -> str:
    return "" if case.phase is None else f" in the phase {case.phase.value}"


def _remedies(phase: Phase | None) -> tuple[Remedy, ...]:
    """As for any overflow of that phase: what sizes it, then what shows the true message."""
    if phase is Phase.LOAD:
        return (_FEWER_BITS, _SHOWN)
    if phase in _BEFORE_POOL:
        return (_SHORTER_STEPS, _SHOWN)
    if phase in {Phase.SERVING_PREFILL, Phase.SERVING_DECODE, Phase.GRAPH_CAPTURE, Phase.WARM_UP}:
        return (_SMALLER_SHARE, _SHORTER_STEPS)
    return (_SHOWN, _SMALLER_SHARE)


_SHOWN: Final = Remedy(
    change={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False"},
    lever="alloc_conf",
    price="more is lost between allocations of different sizes",
)
_SMALLER_SHARE: Final = Remedy(
    change={"gpu_memory_utilization": 0.8},
    lever="gpu_memory_utilization_down",
    price="the pool is smaller by a tenth of the slice",
)
_SHORTER_STEPS: Final = Remedy(
    change={"max_num_batched_tokens": 2048},
    lever="max_num_batched_tokens_down",
    price="long prompts take more steps",
)
_FEWER_BITS: Final = Remedy(
    change={},
    act="a checkpoint with fewer bits, or a larger slice",
    lever="quantised_checkpoint",
    price="some accuracy, or more of the card",
)
_VAIN: Final = {
    "reporting a bug to PyTorch": "the slice was full; the assertion only hides it",
    "another kernel or backend": "the last frame is whoever asked for memory next",
}
