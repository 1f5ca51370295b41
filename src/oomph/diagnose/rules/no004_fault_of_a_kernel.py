"""A kernel touched memory that is not its own, or died: a fault in a program, not a lack of memory.

## What happened

"Illegal memory access", "unspecified launch failure", "misaligned address" and "device-side assert" speak of memory or
of the device, but not of how much of it there is.

```log fires
(EngineCore pid=7) ERROR 08-01 10:00:00 [core.py:1233] torch.AcceleratorError: CUDA error: an illegal memory access was encountered
```

```log silent
(EngineCore pid=7) ERROR 08-01 10:00:00 [core.py:1233] RuntimeError: CUDA error: out of memory
```

## Why

Most are mistakes in a kernel for one shape, one device or one quantization; some are broken hardware or overclocking.
They are reported late: the frame that is shown is rarely the one that did it.

## What to do

Another attention backend, another release, eager mode to find the kernel; no memory setting.
"""

import re
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.causes import NO_MEMORY_FAILURE
from oomph.diagnose.finding import Finding, Remedy
from oomph.ledger.observation import Quantity

CAUSE: Final = NO_MEMORY_FAILURE

HINTS: Final = (b"illegal memory access", b"launch failure", b"device-side assert", b"misaligned address")

_FAULT: Final = re.compile(
    r"illegal memory access|cudaErrorIllegalAddress|unspecified launch failure|cudaErrorLaunchFailure"
    r"|device-side assert triggered|misaligned address|cudaErrorMisalignedAddress|illegal instruction was encountered"
    r"|Memory access fault by GPU"
)
_RAN_OUT: Final = re.compile(
    r"out of memory|OutOfMemory|No available memory|cudaMalloc failed|KV cache is needed|OOMKilled"
)


def check(case: Case) -> Finding | None:
    """A fault; and nothing before it ran out."""
    said = case.line(_FAULT)
    if said is None or case.size(Quantity.TRIED) is not None or case.line(_RAN_OUT) is not None:
        return None
    return Finding(
        code="NO004",
        name="fault-of-a-kernel",
        cause=CAUSE,
        confidence=0.9,
        summary="a kernel faulted; that is a mistake in a program or in hardware, and memory did not run out",
        lines=(said,),
        remedies=(_FIND,),
        unhelpful={"--gpu-memory-utilization": "there was enough memory; what was touched was not the kernel's own"},
        missing=("the same with CUDA_LAUNCH_BLOCKING=1: then the frame that is shown is the one that faults",),
    )


_FIND: Final = Remedy(
    change={},
    act="try another attention backend or release; CUDA_LAUNCH_BLOCKING=1 and --enforce-eager name the kernel",
    lever="another_kernel",
    price="slower while it is looked for",
)
