"""The allocator held more than was asked for, but in pieces: the one case in which its hint is right.

## What happened

PyTorch had reserved enough memory that nobody used, and none of its pieces was large enough. The hint that every
out-of-memory message ends with, `expandable_segments:True`, is meant for this.

```log fires
(EngineCore pid=9) ERROR 06-01 10:00:00 [core.py:1138] EngineCore encountered a fatal error.
(EngineCore pid=9) ERROR 06-01 10:00:00 [core.py:1138] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.95 GiB. GPU 0 has a total capacity of 178.35 GiB of which 2.91 GiB is free. Including non-PyTorch memory, this process has 175.41 GiB memory in use. Of the allocated memory 160.86 GiB is allocated by PyTorch, and 4.91 GiB is reserved by PyTorch but unallocated.
```

```log silent
(EngineCore pid=9) ERROR 06-01 10:00:00 [core.py:1138] EngineCore encountered a fatal error.
(EngineCore pid=9) ERROR 06-01 10:00:00 [core.py:1138] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.95 GiB. GPU 0 has a total capacity of 178.35 GiB of which 2.91 GiB is free. Including non-PyTorch memory, this process has 175.41 GiB memory in use. Of the allocated memory 164.86 GiB is allocated by PyTorch, and 121.00 MiB is reserved by PyTorch but unallocated.
```

## Why

Requests of many lengths leave holes of many sizes. Expandable segments grow in place, so that holes join. Before
PyTorch gives up, it returns every segment that is wholly unused; what it still holds is in segments that are in part
in use, or in pools of graphs.

## What to do

Set it, but not on WSL2, on a MIG slice, with sleep mode, or with custom all-reduce of old releases: there it breaks
what works.
"""

from typing import Final

from oomph.diagnose.case import Case, Platform
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.serving import SERVING, device_overflow, serving, smaller_share
from oomph.ledger.observation import Quantity
from oomph.units import GIB, Bounds

CAUSE: Final = "allocator_fragmentation"

_MUCH: Final = GIB  # a few hundred MiB are held in pieces by every engine, and in pools of graphs
_BREAKS: Final = frozenset({Platform.WSL2, Platform.MIG})


def check(case: Case) -> Finding | None:
    """What is held back is at least what was asked for; in an engine that was up."""
    tried, held, overflow = case.size(Quantity.TRIED), case.size(Quantity.RESERVED), device_overflow(case)
    if tried is None or held is None or overflow is None or held.low < tried.high:
        return None
    already = "expandable_segments:True" in str(case.flags.get("PYTORCH_CUDA_ALLOC_CONF") or "")
    return Finding(
        code="GR002",
        name="enough-held-in-fragments",
        cause=CAUSE,
        confidence=0.3 if already else _confidence(case, held),
        summary=f"{tried.likely} were asked for and {held.likely} were held, in pieces that are too small",
        lines=(overflow,),
        arithmetic=(f"{held.likely} reserved and not allocated ≥ {tried.likely} asked for",),
        remedies=(smaller_share(case),) if already or case.platform & _BREAKS else (_JOIN, smaller_share(case)),
        unhelpful={"--max-model-len": "it does not change in which pieces memory is held"},
        missing=() if case.phase in SERVING else ("whether the engine had served requests before",),
    )


def _confidence(case: Case, held: Bounds) -> float:
    """Holes come from requests of many lengths. While an engine starts, or for a few MiB, other causes are likelier."""
    if case.platform & _BREAKS or not serving(case):
        return 0.35
    return 0.8 if held.low >= _MUCH else 0.45


_JOIN: Final = Remedy(
    change={},
    act="set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
    lever="alloc_conf",
    price="none on plain Linux; not on WSL2, on MIG, with sleep mode, or with custom all-reduce of old releases",
)
