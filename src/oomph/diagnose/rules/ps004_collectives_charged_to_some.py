"""Of engines that are started alike, some have room for the pool and some have not: buffers of collectives differ.

## What happened

Several replicas with the same flags on the same kind of device find different amounts of free memory when they first
look, gigabytes apart. Those that connected after their first look charge the buffers of their collectives to the
budget; those that connected before do not.

```log fires
(EngineCore_0 pid=1) DEBUG 09-20 10:00:00 [gpu_worker.py:250] Initial free memory: 78.59 GiB, free memory: 71.20 GiB, total GPU memory: 79.15 GiB
(EngineCore_1 pid=2) DEBUG 09-20 10:00:00 [gpu_worker.py:250] Initial free memory: 74.07 GiB, free memory: 71.21 GiB, total GPU memory: 79.15 GiB
(EngineCore_0 pid=1) ERROR 09-20 10:00:01 [core.py:718] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
```

```log silent
(EngineCore_0 pid=1) DEBUG 09-20 10:00:00 [gpu_worker.py:250] Initial free memory: 78.59 GiB, free memory: 71.20 GiB, total GPU memory: 79.15 GiB
(EngineCore_1 pid=2) DEBUG 09-20 10:00:00 [gpu_worker.py:250] Initial free memory: 78.57 GiB, free memory: 71.21 GiB, total GPU memory: 79.15 GiB
(EngineCore_0 pid=1) ERROR 09-20 10:00:01 [core.py:718] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
```

## Why

Up to 0.10.2 the first look at free memory could come before or after the collectives were connected. From 0.11.0 on it
comes after, in every engine: their buffers are then in nobody's budget, and need room outside of the share.

## What to do

Use 0.11.0 or newer, and leave 1 to 2 GiB outside of the share where there are many communicators.
"""

import re
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Said
from oomph.diagnose.grounds.sizing import no_room
from oomph.diagnose.grounds.usual import newer
from oomph.engines.vllm.charged import COLLECTIVES_AFTER_LOOK
from oomph.ledger.gate import Step
from oomph.units import GIB, Bytes

CAUSE: Final = "nccl_buffers_after_snapshot"
HINTS: Final = (b"Initial free memory",)

_LOOKED: Final = re.compile(r"Initial free memory:? (?P<free>[0-9.]{1,8}) GiB")
_APART: Final = 2 * GIB


def check(case: Case) -> Finding | None:
    """A refusal, and first looks that lie gigabytes apart."""
    looks = _looks(case)
    refused = no_room(case)
    said = case.spoken("pool below request") if refused is None else refused.said
    if said is None or len(looks) < 2 or max(looks.values()) - min(looks.values()) < _APART:  # noqa: PLR2004 - a pair
        return None
    if case.release is not None and case.release not in COLLECTIVES_AFTER_LOOK:
        return None
    most, least = (Bytes(pick(looks.values())) for pick in (max, min))
    return Finding(
        code="PS004",
        name="collectives-charged-to-some",
        cause=CAUSE,
        confidence=0.85,
        summary=f"engines that are started alike found {most} and {least} free: buffers of collectives are charged to some",
        lines=(*looks, said),
        arithmetic=(
            f"{most} − {least} = {Bytes(most - least)}: the same device, looked at before and after connecting",
        ),
        remedies=advised(case, Step.POOL_SIZE, (newer("0.11.0", "the first look comes after connecting, everywhere"),)),
        unhelpful={
            "--gpu-memory-utilization up on the failing one": "it differs from its siblings by what is charged to it"
        },
        missing=("the release, and what the other engines found free",) if case.release is None else (),
    )


def _looks(case: Case) -> dict[Said, int]:
    """What each engine found at first."""
    first: dict[str, tuple[Said, int]] = {}
    for said, found in case.lines(_LOOKED):
        first.setdefault(said.rank, (said, round(float(found["free"]) * GIB)))
    return dict(first.values())
