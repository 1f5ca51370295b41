"""The engine ran out near its graphs because driver or collectives hold memory that nobody budgets.

## What happened

The process holds gigabytes more than PyTorch has allocated or reserved. They belong to the driver, which keeps the
graphs, and to the buffers of collectives. Where it runs out is chance: in a capture, in the sampler, in whatever asks
next.

```log fires
(VllmWorker rank=0 pid=11) WARNING 06-10 10:00:00 [env_override.py:17] NCCL_CUMEM_ENABLE is set to 1, skipping override. This may increase memory overhead with cudagraph+allreduce: https://github.com/NVIDIA/nccl/issues/1234
(VllmWorker rank=0 pid=11) ERROR 06-10 10:01:00 [multiproc_executor.py:470]   File "/vllm/v1/worker/gpu_model_runner.py", line 1501, in capture_model
(VllmWorker rank=0 pid=11) ERROR 06-10 10:01:00 [multiproc_executor.py:470] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.11 GiB of which 11.38 MiB is free. Including non-PyTorch memory, this process has 79.08 GiB memory in use. Of the allocated memory 70.38 GiB is allocated by PyTorch, and 275.68 MiB is reserved by PyTorch but unallocated.
```

```log silent
(VllmWorker rank=0 pid=11) ERROR 06-10 10:01:00 [multiproc_executor.py:470]   File "/vllm/v1/worker/gpu_model_runner.py", line 1501, in capture_model
(VllmWorker rank=0 pid=11) ERROR 06-10 10:01:00 [multiproc_executor.py:470] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.11 GiB of which 11.38 MiB is free. Including non-PyTorch memory, this process has 79.08 GiB memory in use. Of the allocated memory 78.38 GiB is allocated by PyTorch, and 275.68 MiB is reserved by PyTorch but unallocated.
```

## Why

Drivers before CUDA 12.4 keep 3.8 GiB for graphs that newer ones keep in 1.1. Collectives of NCCL 2.19 and newer take
virtual memory during captures, unless `NCCL_CUMEM_ENABLE=0` (which vLLM sets from 0.4.3 on, and leaves alone where it
is set already); NCCL 2.26.3 and newer have larger buffers. It appears with another driver or NCCL, not with another
vLLM.

## What to do

A newer driver (550 or newer); the NCCL from before; `NCCL_CUMEM_ENABLE` left unset. Until then a share that is smaller
by what lies outside.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.capturing import capturing
from oomph.diagnose.grounds.sampling import sampled, sentence
from oomph.diagnose.grounds.serving import device_overflow, smaller_share
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity
from oomph.units import GIB, Bounds, Bytes

CAUSE: Final = "cudagraph_driver_or_nccl_overhead"
HINTS: Final = (b"NCCL_CUMEM", b"nccl==", b"NCCL version", b"Driver Version")

_MAPPED: Final = re.compile(r"NCCL_CUMEM_ENABLE is set to|NCCL_CUMEM_ENABLE[=:] ?1")  # env_override.py
_BUFFERS: Final = re.compile(r"(?:nccl==|NCCL version )2\.(?:2[6-9]|[3-9][0-9])\.(?P<patch>[0-9]{1,3})")
_DRIVER: Final = re.compile(r"Driver Version: (?P<driver>[0-9]{3})\.[0-9]+.{0,40}CUDA Version: (?P<cuda>1[12]\.[0-9])")
_OLD: Final = 550
_OUTSIDE: Final = 2 * GIB  # more than a context and the buffers of a few ranks


def check(case: Case) -> Finding | None:
    """Memory outside of PyTorch, and something in the log that takes it: mapped collectives, an old driver."""
    out, outside = device_overflow(case), _outside(case)
    near = capturing(case) is not None or sentence(case) is not None
    taker = _taker(case)
    if out is None or case.served or taker is None or not (near or outside is not None):
        return None
    if (sure := _confidence(case, outside, taker[1])) is None:
        return None
    return Finding(
        code="CG003",
        name="memory-outside-torch",
        cause=CAUSE,
        confidence=sure,
        summary=f"{'memory' if outside is None else outside.likely} outside of PyTorch is in nobody's budget: {taker[1]}",
        lines=(taker[0], out),
        arithmetic=tuple(_arithmetic(case, outside)),
        remedies=advised(case, Step.CAPTURE, (*_REMEDIES[taker[1]], smaller_share(case))),
        unhelpful={
            "NCCL_CUMEM_HOST_ENABLE=0": "it concerns memory of the host",
            "--disable-custom-all-reduce": "its buffers are small beside those of the collectives",
        },
        missing=("the same start with another driver or NCCL, and nothing else changed",),
    )


_COLLECTIVES: Final = "collectives map memory while graphs are captured"
_LARGER: Final = "collectives of this NCCL have larger buffers"
_KEPT: Final = "an old driver keeps more for graphs"
_REMEDIES: Final = {
    _COLLECTIVES: (
        Remedy(
            change={},
            act="leave NCCL_CUMEM_ENABLE unset: vLLM then sets it to 0",
            lever="nccl_cumem_0",
            price="nothing that vLLM uses",
        ),
    ),
    _LARGER: (
        Remedy(
            change={},
            act="use the NCCL from before 2.26.3 (VLLM_NCCL_SO_PATH)",
            lever="downgrade",
            price="without what newer collectives gain",
        ),
    ),
    _KEPT: (
        Remedy(
            change={},
            act="update the driver to 550 or newer (CUDA 12.4)",
            lever="driver",
            price="a restart of the machine",
        ),
    ),
}


def _outside(case: Case) -> Bounds | None:
    size = case.size(Quantity.OUTSIDE)
    return size if size is not None and size.low >= _OUTSIDE else None


def _taker(case: Case) -> tuple[Said, str] | None:
    """Who may have taken it, as far as the log names them."""
    for said, _ in case.lines(_MAPPED):
        return said, _COLLECTIVES
    for said, found in case.lines(_DRIVER):
        if int(found["driver"]) < _OLD:
            return said, _KEPT
    for said, _ in case.lines(_BUFFERS):
        return said, _LARGER
    return None


def _confidence(case: Case, outside: Bounds | None, taker: str) -> float | None:
    """A warning of the engine's own is the surest; a version alone says little where the sampler's size fits."""
    if taker == _LARGER:
        if outside is None:
            return None
        return 0.5 if sentence(case) is not None or sampled(case) is not None else 0.62
    return 0.96 if outside is not None else 0.7


def _arithmetic(case: Case, outside: Bounds | None) -> Iterator[str]:
    used, held = case.size(Quantity.IN_USE), case.size(Quantity.ALLOCATED)
    unused = case.size(Quantity.RESERVED)
    if outside is not None and used is not None and held is not None:
        rest = "" if unused is None else f" − {unused.likely} reserved"
        yield f"{used.likely} in use − {held.likely} allocated{rest} = {Bytes(outside.likely)} outside of PyTorch"
