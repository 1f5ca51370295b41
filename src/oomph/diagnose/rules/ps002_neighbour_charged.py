"""Nothing is left for the pool because what another engine on the device holds is charged to this one.

## What happened

A second engine shares the device. The engine that starts finds no room for its pool although its own weights are
small and the share is meant for it alone: it counts the neighbour's memory as its own.

```log fires
INFO 11-21 10:00:00 worker.py:232] Memory profiling results: total_gpu_memory=79.15GiB initial_memory_usage=68.01GiB peak_torch_memory=9.51GiB memory_usage_post_profile=68.10Gib non_torch_memory=58.70GiB kv_cache_size=-52.38GiB gpu_memory_utilization=0.20
ERROR 11-21 10:00:01 engine.py:366] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
```

```log fires
(Worker_TP1 pid=2) INFO 12-10 03:24:48 [gpu_worker.py:298] Available KV cache memory: -3.86 GiB
(Worker_TP0 pid=1) INFO 12-10 03:24:48 [gpu_worker.py:298] Available KV cache memory: 9.90 GiB
```

```log silent
(Worker_TP1 pid=2) INFO 12-10 03:24:48 [gpu_worker.py:298] Available KV cache memory: 9.80 GiB
(Worker_TP0 pid=1) INFO 12-10 03:24:48 [gpu_worker.py:298] Available KV cache memory: 9.90 GiB
```

## Why

The engine measures by what is free on the device before and after. In 0.6.4 (V0) and up to 0.9.0 (V1) it charged all
that anybody held. Since then what was there at the start is left out, but two engines that profile at the same time
still charge each other with what each takes meanwhile. On several devices it shows as ranks that divide a model evenly
and have pools that differ by gigabytes.

## What to do

Start one after the other: the second when the first says that it is up. With a release that charges neighbours, use a
newer one, or give the second engine the sum of both shares. A pool of a given size is not measured at all.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.serving import through
from oomph.diagnose.grounds.sizing import NoRoom, no_room
from oomph.diagnose.grounds.usual import newer
from oomph.engines.vllm.charged import NEIGHBOURS_CHARGED
from oomph.ledger.gate import Step
from oomph.units import GIB, Bytes

CAUSE: Final = "multi_instance_accounting"
HINTS: Final = (b"initial_memory_usage",)

_FOUND: Final = re.compile(
    r"total_gpu_memory=(?P<total>[0-9.]{1,8})GiB.{0,20}initial_memory_usage=(?P<initial>[0-9.]{1,8})GiB"
)
_OWN: Final = 3 * GIB  # beside the weights, at the beginning of the profile: a context, communicators
_SHARED: Final = 0.5  # nobody gives an engine less that has the device to itself
_SMALL: Final = 0.3  # of the budget that the weights take: what took the rest is not this engine's


def check(case: Case) -> Finding | None:
    """By what was there before it profiled, by ranks that differ, by a share that is meant to be one of several."""
    room = no_room(case)
    if room is None:
        return None
    there = _there(case, room)
    return Finding(
        code="PS002",
        name="neighbour-charged",
        cause=CAUSE,
        confidence=_confidence(case, room, there),
        summary=_summary(room, there),
        lines=tuple(dict.fromkeys((*room.shown, room.said, *(() if there is None else (there[0],))))),
        arithmetic=tuple(_arithmetic(room, there)),
        remedies=advised(case, Step.POOL_SIZE, _remedies(case)),
        unhelpful=_VAIN,
        missing=("how many engines were on the device, and whether they started at the same time",),
    )


_VAIN: Final = {
    "--gpu-memory-utilization, as the message says": "the neighbour is charged to whatever share is asked for",
    "--gpu-memory-utilization down on both": "what is charged is what the neighbour holds, not its share",
}


def _there(case: Case, room: NoRoom) -> tuple[Said, Bytes, Bytes] | None:
    """What was held before the profile began, and the device, where more was held than this engine's own."""
    for said, found in case.lines(_FOUND):
        total, initial = (Bytes(round(float(found[name]) * GIB)) for name in ("total", "initial"))
        own = 0 if room.weights is None else int(room.weights.high)
        if initial > own + _OWN and initial > (room.share or 1) * total:
            return said, initial, total
    return None


def _confidence(case: Case, room: NoRoom, there: object) -> float:
    if there is not None or room.uneven:
        return 0.58 if there is None else 0.92
    if room.spent is not None and room.budget is not None and room.spent.likely > room.budget.likely:
        return 0.2
    charged = case.release is not None and any(case.release in span for span in NEIGHBOURS_CHARGED)
    if room.share is not None and room.share <= _SHARED:
        return 0.72 if charged else 0.55
    if room.filled is not None and room.filled <= _SMALL:
        return 0.65
    return _alone(case, room, charged=charged)


def _alone(case: Case, room: NoRoom, *, charged: bool) -> float:
    """Where nothing but the refusal speaks for it: an engine that is given most of a device is seldom one of two."""
    if case.release is not None and not charged and room.share is not None:
        return 0.3
    return 0.35 if room.cut else 0.47 if charged else 0.45


def _summary(room: NoRoom, there: tuple[Said, Bytes, Bytes] | None) -> str:
    if there is not None:
        return f"{there[1]} of {there[2]} were held before this engine profiled, and are charged to its share"
    if room.uneven and room.pool is not None:
        rank = next(rank for rank, pool in room.pools.items() if pool == room.pool)
        return f"{rank} has no room for the pool and the others have: somebody else may be on its device"
    return "what another engine on the device holds is charged to this one, so that nothing is left for the pool"


def _arithmetic(room: NoRoom, there: tuple[Said, Bytes, Bytes] | None) -> Iterator[str]:
    if there is not None and room.share is not None:
        _, initial, total = there
        yield f"{room.share:g} × {total} = {Bytes(round(room.share * total))} < {initial} that were held already"
    if room.uneven:
        yield ", ".join(f"{rank or 'one rank'}: {pool.likely}" for rank, pool in sorted(room.pools.items()))


def _remedies(case: Case) -> tuple[Remedy, ...]:
    charged = case.release is None or any(case.release in span for span in NEIGHBOURS_CHARGED)
    upgrade = newer("0.9.1", "from 0.9.1 on what was held before is not charged")
    after = Remedy(
        change={},
        act="start one engine after the other: the second when the first answers requests",
        lever="wait_or_start_sequentially",
        price="the second comes up later",
    )
    given = Remedy(
        change={},
        act="give each engine a pool of its own size: --kv-cache-memory-bytes (0.10.2 and newer)",
        lever="kv_cache_memory_bytes",
        price="nothing checks any more that all of it fits",
    )
    known = charged and (case.release is not None or through(case, "worker/worker.py") is not None)
    return (upgrade, after, given) if known else (after, *((upgrade,) if charged else ()), given)
