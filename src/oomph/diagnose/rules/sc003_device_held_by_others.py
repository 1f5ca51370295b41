"""Somebody else holds a good part of the device.

## What happened

Another server, a training, a notebook or a desktop is on the same device; or the engine is on another device than was
meant, because `CUDA_VISIBLE_DEVICES` was set too late or not passed on. PyTorch lists the others when it runs out; the
start check only shows how much is gone.

```log fires
ERROR 07-02 10:01:44 [core.py:515] ValueError: Free memory on device (29.87/47.41 GiB) on startup is less than desired GPU memory utilization (0.9, 42.67 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
```

```log fires
[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.48 GiB. GPU 0 has a total capacity of 79.15 GiB of which 210.06 MiB is free. Process 5151 has 44.02 GiB memory in use. Including non-PyTorch memory, this process has 34.90 GiB memory in use. Of the allocated memory 34.20 GiB is allocated by PyTorch, and 24.73 MiB is reserved by PyTorch but unallocated.
```

```log silent
[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.48 GiB. GPU 0 has a total capacity of 79.15 GiB of which 210.06 MiB is free. Process 5151 has 78.92 GiB memory in use. Of the allocated memory 77.20 GiB is allocated by PyTorch, and 24.73 MiB is reserved by PyTorch but unallocated.
```

## Why

A share is of the whole device, not of what is free. In a container the engine cannot recognise its own process: if
PyTorch lists only one, it is the engine itself. `0 bytes` are processes of another container. `GPU 0` is the first of
the devices that the process may see, not the first of the host.

## What to do

Free the device, or choose another one in the environment of the process that starts the engine. If sharing is meant,
start one after the other, each with a share of what is free.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.others import crowded, held_by_others
from oomph.diagnose.grounds.refused_start import Occupied, Refused, occupied, refused, shared, smaller_share
from oomph.ledger.observation import Quantity
from oomph.units import Bytes

CAUSE: Final = "other_process_on_gpu"

_FULL: Final = 0.08  # of the device that is free where one engine has filled it
_MUCH: Final = 0.1  # of the device: held by others, it is no trifle


def check(case: Case) -> Finding | None:
    """By the processes that PyTorch lists, or by what is gone before the start."""
    if (start := refused(case)) is not None:
        return _at_start(case, start)
    others = held_by_others(case)
    total = case.size(Quantity.DEVICE_TOTAL)
    if others is None or total is None or case.failure is None or not crowded(case):
        return None
    return _finding(
        confidence=_sure(case) if others >= _MUCH * total.likely else 0.5,
        summary=f"other processes hold {others} of the {total.likely} of this device",
        lines=(case.failure.said,),
        arithmetic=tuple(_beside(case, others)),
        remedies=(_ELSEWHERE, _FREE),
    )


def _sure(case: Case) -> float:
    """Less, later on: an engine that got past the start check knew what the others held."""
    if case.phase in {None, Phase.LOAD}:
        return 0.9
    return 0.78 if case.phase is Phase.PROFILE else 0.7


def _at_start(case: Case, start: Refused) -> Finding | None:
    sure = _confidence(case, start)
    return (
        None
        if sure is None
        else _finding(
            confidence=sure,
            summary=f"others hold {start.held.likely} of the {start.total.likely} of this device before the engine starts",
            lines=(start.said,),
            arithmetic=(start.sum,),
            remedies=(_FREE, *smaller_share(start), _ELSEWHERE),
        )
    )


def _confidence(case: Case, start: Refused) -> float | None:
    """Less where what is held looks like an engine of the user's own, or like what the system holds."""
    room = occupied(case, start)
    if start.on_host or room is Occupied.BY_NOBODY:
        return None
    if shared(case, start):
        return 0.4
    if room is not Occupied.SURELY:
        return 0.45 if room is Occupied.HARDLY else 0.6
    alike = start.engine_share(shared=False) == start.share
    return 0.55 if alike or start.left <= _FULL else 0.78


def _beside(case: Case, others: Bytes) -> Iterator[str]:
    tried, free = case.size(Quantity.TRIED), case.size(Quantity.DEVICE_FREE)
    if tried is not None and free is not None and tried.likely <= free.likely + others:
        yield f"{tried.likely} were asked for; {free.likely} are free, and would be {Bytes(free.likely + others)} without them"


_FREE: Final = Remedy(
    change={},
    act="end the other processes on this device, or wait until they are done, and start the same again",
    lever="kill_or_free_other_process",
    price="what they were doing",
)
_ELSEWHERE: Final = Remedy(
    change={},
    act="choose a free device: CUDA_VISIBLE_DEVICES in the environment of the process that starts the engine",
    lever="cuda_visible_devices",
    price="another device is taken",
)
_VAIN: Final = {
    "--max-model-len, --max-num-seqs, --enforce-eager": "they move nothing of what the others hold",
    "--cpu-offload-gb, a smaller model": "the room is there, and somebody else has it",
    "expandable_segments": "nothing is in pieces; it is in other hands",
}
_finding: Final = partial(
    Finding,
    code="SC003",
    name="device-held-by-others",
    cause=CAUSE,
    unhelpful=_VAIN,
    missing=("who they are: nvidia-smi --query-compute-apps=pid,used_memory --format=csv",),
)
