"""The share that is asked for is larger than what is free, and nobody else is there.

## What happened

Before it loads anything the engine compares `--gpu-memory-utilization` × the whole device with what is free. Here the
difference is what every process needs before it has allocated a byte: the driver's context, the buffers of the
communicators (which are made before the comparison since 0.11.0), a display, the share of Windows under WSL.

```log fires
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] ValueError: Free memory on device cuda:0 (22.4/23.52 GiB) on startup is less than desired GPU memory utilization (0.96, 22.58 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
```

```log silent
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] ValueError: Free memory on device cuda:0 (9.71/23.52 GiB) on startup is less than desired GPU memory utilization (0.9, 21.17 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
```

## Why

A device is never all free: between 0.3 and 2 GiB are gone before the engine looks, a little more after each upgrade of
CUDA or PyTorch. The share is of the whole, so that the default of 0.92 (0.9 before 0.20.0) leaves room for that on
most cards, and 0.95 and more do not. The message speaks of other processes, but a search for them finds none.

## What to do

Ask for the largest share that passes. It is reproducible: three starts show the same free memory to the MiB.
"""

from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.refused_start import Occupied, Refused, occupied, refused, shared, smaller_share
from oomph.ledger.gate import Step

CAUSE: Final = "util_exceeds_free_at_start"


def check(case: Case) -> Finding | None:
    """By what is held: no more than a process with nothing in it holds."""
    start = refused(case)
    if start is None or (sure := _confidence(case, start)) is None:
        return None
    return Finding(
        code="SC001",
        name="share-above-free",
        cause=CAUSE,
        confidence=sure,
        summary=_summary(start),
        lines=(start.said,),
        arithmetic=(start.sum,),
        remedies=advised(case, Step.START_CHECK, (*smaller_share(start), *(() if start.on_host else (_HEADLESS,)))),
        unhelpful=_VAIN,
        missing=()
        if start.on_host
        else ("what nvidia-smi lists on the device before the start: it should be nothing",),
    )


def _confidence(case: Case, start: Refused) -> float | None:
    """How sure it is that nobody else is there."""
    if start.on_host:
        return 0.8
    return 0.35 if shared(case, start) else _SURE.get(occupied(case, start))


_SURE: Final = {Occupied.BY_NOBODY: 0.93, Occupied.HARDLY: 0.7, Occupied.PERHAPS: 0.4}


def _summary(start: Refused) -> str:
    whose = "the host's memory is" if start.on_host else "the device is"
    return (
        f"{start.share:g} of {whose} {start.budget.likely}, and only {start.free.likely} are free: "
        f"{start.lacking.likely} too much, of which no other engine is the cause"
    )


_HEADLESS: Final = Remedy(
    change={},
    act="take the display off this device: the processor's own graphics, or no desktop",
    lever="kill_or_free_other_process",
    price="the desktop is elsewhere, or gone",
)
_VAIN: Final = {
    "--max-model-len, --max-num-seqs, --enforce-eager": "the comparison comes before anything is sized",
    "--kv-cache-memory-bytes": "the share is compared with what is free all the same",
    "restarting, or looking for other processes": "what is missing is the context of the engine itself, or the display",
}
