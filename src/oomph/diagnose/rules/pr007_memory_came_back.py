"""Memory became free on the device while the engine measured what it takes itself.

## What happened

The engine compares what is free before it loads with what is free after its profile. More must be taken then, not
less. Somebody gave memory back in between, and the difference is no measure of anything any more: the engine stops.
Nothing ran out.

```log fires
(EngineCore pid=1) ERROR 01-29 15:38:21 [core.py:946] AssertionError: Error in memory profiling. Initial free memory 82.94 GiB, current free memory 90.17 GiB. This happens when other processes sharing the same container release GPU memory while vLLM is profiling during initialization.
```

```log silent
(EngineCore pid=1) INFO 01-29 15:38:21 [gpu_worker.py:356] Available KV cache memory: 21.07 GiB
```

## Why

A neighbour exited while this engine came up, or, where device and host share their memory, the system dropped its page
cache. If both figures are the same, nothing changed at all: up to 0.15.1 equal was an error too, and some devices
report no change (XPU).

## What to do

Start again when the neighbour has settled. A pool of a given size is not measured, and the comparison is left out.
"""

import re
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.usual import newer
from oomph.diagnose.hearing.passages import squeezed
from oomph.engines.vllm.charged import EQUAL_IS_AN_ERROR, POOL_GIVEN
from oomph.ledger.gate import Step
from oomph.units import GIB, Bytes

CAUSE: Final = "profiling_assert_free_memory_increased"
HINTS: Final = (b"Error in memory profiling", b"current free memory")

_STOPPED: Final = re.compile(r"Error in memory profiling")
_FIGURES: Final = re.compile(
    r"Initialfreememory(?P<before>[0-9.]{1,20})(?P<unit>GiB)?,currentfreememory(?P<now>[0-9.]{1,20})(?:GiB)?"
)


def check(case: Case) -> Finding | None:
    """The engine's own words, with both figures where they are left."""
    said = case.spoken("memory came back") or case.line(_STOPPED)
    if said is None:
        return None
    figures = _figures(case, said)
    equal = figures is not None and figures[0] == figures[1]
    return Finding(
        code="PR007",
        name="memory-came-back",
        cause=CAUSE,
        confidence=0.97,
        summary=_summary(figures),
        lines=(said,),
        arithmetic=()
        if figures is None or equal
        else (f"{figures[1]} − {figures[0]} = {Bytes(figures[1] - figures[0])}",),
        remedies=advised(case, Step.PROFILE, _remedies(case, equal=equal)),
        unhelpful={
            "--gpu-memory-utilization": "two readings of free memory are compared; the share is in neither",
            **(
                {"a container of its own": "both figures are the same: nobody else gave anything back"} if equal else {}
            ),
        },
        missing=() if figures is not None else ("both figures of the message",),
    )


def _figures(case: Case, said: Said) -> tuple[Bytes, Bytes] | None:
    found = _FIGURES.search(squeezed(case, said))
    if found is None:
        return None
    unit = GIB if found["unit"] else 1
    try:
        before, now = (Bytes(round(float(found[name]) * unit)) for name in ("before", "now"))
    except ValueError:
        return None
    return before, now


def _summary(figures: tuple[Bytes, Bytes] | None) -> str:
    if figures is None:
        return "memory became free on the device while the engine profiled, so that it cannot tell what it takes"
    before, now = figures
    if before == now:
        return f"{before} were free before the profile and after it: this release takes equal for an error"
    return f"{Bytes(now - before)} became free on the device while the engine profiled: {before} before, {now} after"


def _remedies(case: Case, *, equal: bool) -> tuple[Remedy, ...]:
    wait = Remedy(
        change={},
        act="start it again, alone, when the other process has settled",
        lever="wait_or_start_sequentially",
        price="it comes up later",
    )
    given = Remedy(
        change={},
        act="give the size of the pool: --kv-cache-memory-bytes; the comparison is then left out",
        lever="kv_cache_memory_bytes",
        price="nothing checks any more that all of it fits",
    )
    upgrade = newer("0.16.0", "equal is no error any more")
    strict = case.release is None or case.release in EQUAL_IS_AN_ERROR
    known = case.release is None or case.release in POOL_GIVEN
    first = (upgrade,) if equal and strict else (wait,)
    return (*first, *((given,) if known else ()))
