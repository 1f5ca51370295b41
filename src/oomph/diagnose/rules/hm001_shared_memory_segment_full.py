"""The file system of shared memory, /dev/shm, is full or too small.

## What happened

Ranks exchange through segments in `/dev/shm`: NCCL's, where devices cannot reach each other directly, and the queues
of the engine. One of them could not be made. It is memory of the host; no device was full.

```log fires
host:91:310 [1] misc/shmutils.cc:72 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-aX3k9Q (size 5767524), error: No space left on device (28)
(Worker_TP1 pid=91) ERROR 05-11 09:14:02 [multiproc_executor.py:511] torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.27.3
```

```log fires
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] RuntimeError: Insufficient space in /dev/shm: 320 MiB required, 64 MiB free. Increase /dev/shm (e.g. --shm-size or --ipc=host).
```

```log silent
(Worker_TP1 pid=91) ERROR 05-11 09:14:02 [multiproc_executor.py:511] torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.27.3
```

## Why

A container has 64 MiB of shared memory unless it is told otherwise. Segments of workers that were killed stay, so that
a container that restarts again and again fills any size. Some see `Bus error`: the segment was made, and had no memory
behind it when it was written to.

## What to do

Give the container the host's shared memory, or enough of its own; in Kubernetes an `emptyDir` with `medium: Memory`
on `/dev/shm`. Delete what earlier workers left there.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said

CAUSE: Final = "host_shm_exhausted"
HINTS: Final = (
    b"/dev/shm",
    b"shmutils",
    b"unhandled system error",
    b"ncclSystemError",
    b"Bus error",
    b"SIGBUS",
    b"shared memory",
)

_SEGMENT: Final = re.compile(
    r"(?:creating shared memory segment|failed to extend|Call to (?:posix_fallocate|ftruncate|open|mmap)).{0,200}/dev/shm/"
    r"|/dev/shm/\S{1,80}.{0,120}No space left on device|No space left on device.{0,120}/(?:dev/shm|psm_)"
    r"|[Ii]nsufficient shared memory|out of shared memory|unable to (?:open|allocate|resize|write).{0,60}shared memory"
)
_REFUSED: Final = re.compile(
    r"Insufficient space in /dev/shm(?P<whom> for [^:]{1,80})?: (?P<required>[0-9]{1,9}) MiB required, (?P<free>[0-9]{1,9}) MiB"
)
_BUS: Final = re.compile(r"\bBus error\b|\bSIGBUS\b|signal 7\b")
_SYSTEM: Final = re.compile(r"ncclSystemError|unhandled system error")
_OFFLOAD: Final = "offload"


def check(case: Case) -> Finding | None:
    """A segment that could not be made; less sure where only its consequence is said."""
    found = _found(case)
    if found is None:
        return None
    sure, said = found
    return Finding(
        code="HM001",
        name="shared-memory-segment-full",
        cause=CAUSE,
        confidence=sure,
        summary="the shared memory of the host that ranks exchange through, /dev/shm, is full or too small",
        lines=tuple({line.line: line for line in (said, case.line(_SYSTEM)) if line is not None}.values()),
        arithmetic=tuple(_arithmetic(case)),
        remedies=_REMEDIES,
        unhelpful=_VAIN,
        missing=("df -h /dev/shm where the engine runs, and what lies there",),
    )


def _found(case: Case) -> tuple[float, Said] | None:
    if (said := case.line(_SEGMENT)) is not None:
        return 0.95, said
    for said, found in case.lines(_REFUSED):
        return (0.8 if _OFFLOAD in (found["whom"] or "") else 0.96), said
    several = case.flags.count("tensor_parallel_size") > 1 or any(said.rank for said in case.log)
    if (said := case.line(_BUS)) is not None:
        return (0.75 if several else 0.55), said
    return (0.5, said) if (said := case.line(_SYSTEM)) is not None else None


def _arithmetic(case: Case) -> Iterator[str]:
    for _, found in case.lines(_REFUSED):
        required, free = int(found["required"]), int(found["free"])
        yield f"{required:,} MiB were required and {free:,} MiB free: {required - free:,} MiB too little"
        return


_REMEDIES: Final = (
    Remedy(
        change={},
        act="start the container with --ipc=host or --shm-size=10g; in Kubernetes mount an emptyDir of medium Memory on /dev/shm",
        lever="shm_size",
        price="that much of the host's memory, when it is used",
    ),
    Remedy(
        change={},
        act="delete what killed workers left: /dev/shm/nccl-* and /dev/shm/psm_*, then start again",
        lever="shm_size",
        price="nothing, if nobody else runs there",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization and all flags of device memory": "no device is full",
    "another release of NCCL": "every one of them needs the segment",
}
