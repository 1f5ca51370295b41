"""Under WSL2 the driver refuses memory though much of it is free.

## What happened

The allocator asked for memory by mapping it (`expandable_segments:True`), and the driver that Windows lends to WSL2
declined. It says `device not ready` or `out of memory`, depending on its version; nothing is full.

```log fires
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104]   File "/vllm/_custom_ops.py", line 1203, in gptq_marlin_repack
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] RuntimeError: CUDA driver error: device not ready
```

```log fires
[  411.106221] misc dxg: dxgk: dxgkio_make_resident: Ioctl failed: -12
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 24.00 GiB of which 13.20 GiB is free. Of the allocated memory 9.01 GiB is allocated by PyTorch, and 12.54 MiB is reserved by PyTorch but unallocated.
```

```log silent
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 24.00 GiB of which 0.20 GiB is free. Of the allocated memory 22.01 GiB is allocated by PyTorch, and 12.54 MiB is reserved by PyTorch but unallocated.
```

## Why

WSL2 reaches the card through Windows, which decides what is resident. It does not grant what CUDA's calls for virtual
memory need, and expandable segments are made of those calls. `-12` in the kernel's log is only how the call declines.

## What to do

Switch the setting off: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False`. Where that is not enough, another branch of
the Windows driver, or Linux without Windows.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.diagnose.case import Case, Platform
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.loading import much_free
from oomph.ledger.observation import Quantity

CAUSE: Final = "wsl2_alloc_fails_with_free_vram"
HINTS: Final = (b"dxgk", b"device not ready")

_NOT_READY: Final = re.compile(r"CUDA (?:driver )?error: device not ready|cudaErrorNotReady|CUDA_ERROR_NOT_READY")
_DRIVER: Final = re.compile(r"CUDA driver error: out of memory")
_DECLINED: Final = re.compile(r"dxgkio_\w{3,40}: Ioctl failed: -(?:12|75)\b")
_CONF: Final = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")


def check(case: Case) -> Finding | None:
    """The driver's own words; or an allocation that was refused although more than that was free."""
    if (found := _found(case)) is None:
        return None
    sure, said = found
    kernel = case.line(_DECLINED)
    return Finding(
        code="PL001",
        name="driver-refuses-virtual-memory",
        cause=CAUSE,
        confidence=sure,
        summary="the driver under WSL2 refused to map memory; the device is not full",
        lines=tuple(line for line in (said, kernel) if line is not None),
        arithmetic=tuple(_arithmetic(case)),
        remedies=_REMEDIES,
        unhelpful=_VAIN,
        missing=tuple(_missing(case)),
    )


def _found(case: Case) -> tuple[float, Said] | None:
    under_windows = Platform.WSL2 in case.platform
    if (said := case.line(_NOT_READY)) is not None:
        return 0.93, said
    if case.failure is None:
        return None
    if case.line(_DECLINED) is not None:
        return 0.9 if much_free(case) or case.size(Quantity.TRIED) is None else 0.5, case.failure.said
    if (said := case.line(_DRIVER)) is not None:
        return (0.94 if under_windows else 0.65), said
    if much_free(case) and Platform.MIG not in case.platform:
        return (0.88 if under_windows else 0.5), case.failure.said
    return None


def _arithmetic(case: Case) -> Iterator[str]:
    tried, free = case.size(Quantity.TRIED), case.size(Quantity.DEVICE_FREE)
    if much_free(case) and tried is not None and free is not None:
        yield f"{tried.likely} were asked for and {free.likely} were free: it is not the size that was refused"


def _missing(case: Case) -> Iterator[str]:
    if Platform.WSL2 not in case.platform:
        yield "whether it runs under WSL2: uname -r says microsoft there"
    if not any("expandable_segments:True" in str(case.flags.get(name)) for name in _CONF):
        yield "whether PYTORCH_CUDA_ALLOC_CONF holds expandable_segments:True, perhaps set by an image or a script"


_REMEDIES: Final = (
    Remedy(
        change={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False"},
        lever="alloc_conf",
        price="more is lost between allocations of different sizes; little where weights and pool fill the card",
    ),
    Remedy(
        change={},
        act="another branch of the Windows driver",
        lever="driver",
        price="an update of the host",
    ),
    Remedy(
        change={},
        act="Linux without Windows",
        lever="native_linux",
        price="another system",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization": "the device is not full; and while weights are loaded there is no pool to limit",
    "more memory for WSL (.wslconfig)": "what is refused is memory of the card",
    "VLLM_WSL2_ENABLE_PIN_MEMORY, CUDA_LAUNCH_BLOCKING": "the driver refuses to map memory, pinned or not, early or late",
}
