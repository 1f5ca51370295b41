"""The device has no memory of its own: what the engine takes, the host loses.

## What happened

On GB10, Jetson, Strix Halo and the like a share of the device is a share of the host's memory. What the system, its
page cache, other programs or a firmware setting hold is missing at the start; or the engine takes its pool, and the
kernel ends it, or whoever else is there, because nothing is left.

```log fires
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] ValueError: Free memory on device cuda:0 (97.3/121.63 GiB) on startup is less than desired GPU memory utilization (0.9, 109.47 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
```

```log fires
[Wed May 11 09:14:02 2026] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task=node_exporter,pid=4711,uid=0
[Wed May 11 09:14:02 2026] Out of memory: Killed process 4711 (node_exporter) total-vm:1240352kB, anon-rss:412000kB, file-rss:1200kB, shmem-rss:0kB, UID:0 pgtables:500kB oom_score_adj:0
```

```log silent
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] ValueError: Free memory on device cuda:0 (60.1/79.19 GiB) on startup is less than desired GPU memory utilization (0.9, 71.27 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
```

## Why

Memory that the driver has given to the engine is in no process's account, so that the kernel ends whoever is largest
among the rest: a victim of a few hundred MiB while a host of many GiB is full shows it. Page cache counts as used in
releases before 0.11.1 and on AMD's; a firmware may have set half of the memory aside.

## What to do

Give the pool a size in bytes, and leave the system its part. Before the start, drop the page cache where it counts.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from oomph.diagnose.case import Case, Phase, Platform
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.host_kill import HINTS as _KILLS
from oomph.diagnose.grounds.host_kill import Kill, kill
from oomph.diagnose.grounds.loading import much_free
from oomph.diagnose.grounds.refused_start import Refused, refused, shared, smaller_share
from oomph.engines.history import span
from oomph.ledger.observation import Quantity
from oomph.units import GIB

CAUSE: Final = "unified_memory_pool_shared_with_host"
HINTS: Final = (*_KILLS, b"NvMapMem")

# What the driver of a Tegra prints when the system has no memory for it: 12 is ENOMEM.
_NVMAP: Final = re.compile(r"NvMapMem\w{3,40}: (?:[0-9]+ )?error 12\b")

_LITTLE: Final = 0.12  # of all memory that is free where an engine has taken the rest
_LESS_FREE: Final = 0.2  # and where what is taken is just the share of one
_POOL: Final = ("blocks", "tokens", "concurrency", "pool", "pool given", "graphs begun")


def check(case: Case) -> Finding | None:
    """A start that is refused on shared memory; or a kill for memory that no process holds."""
    if (start := refused(case)) is not None:
        return _at_start(case, start) if shared(case, start) else None
    if (refusal := case.line(_NVMAP)) is not None or (shared(case) and much_free(case)):
        return _not_given(case, refusal)
    ended = kill(case)
    if ended is None or (sure := _confidence(case, ended)) is None:
        return None
    pool = next((said for name in _POOL if (said := case.spoken(name)) is not None), None)
    return _finding(
        confidence=sure,
        summary=_killed(case, ended),
        lines=tuple(line for line in (pool, ended.said) if line is not None),
        arithmetic=tuple(_unseen(ended)),
        remedies=(*_pinned(case), _less(case), _OTHERS) if pool is not None else (_less(case), _OTHERS, *_pinned(case)),
    )


def _at_start(case: Case, start: Refused) -> Finding:
    engine = start.left <= _LITTLE or (start.left <= _LESS_FREE and start.engine_share(shared=True) is not None)
    return _finding(
        confidence=0.5 if engine else 0.87,
        summary=f"host and device share {start.total.likely}, and {start.held.likely} of it are in use before the start",
        lines=(start.said,),
        arithmetic=(start.sum,),
        remedies=(_DROP, *smaller_share(start), _CARVE)
        if Platform.ROCM not in case.platform
        else (_CARVE, _DROP, *smaller_share(start)),
    )


def _not_given(case: Case, refusal: Said | None) -> Finding | None:
    """The driver got nothing from the system, though PyTorch counts it as free."""
    failed = None if case.failure is None else case.failure.said
    if failed is None and refusal is None:
        return None
    return _finding(
        confidence=0.9 if refusal is not None else 0.72,
        summary="host and device share one memory, and the system did not give back what it keeps as page cache",
        lines=tuple(line for line in (refusal, failed) if line is not None),
        arithmetic=(),
        remedies=(_DROP, _OTHERS),
    )


def _confidence(case: Case, ended: Kill) -> float | None:
    """By the device where it is known, else by the victim: it is the largest there was, and yet small."""
    one_memory = shared(case) or Platform.CPU in case.platform
    pooled = any(case.spoken(name) is not None for name in _POOL)
    if case.served and not one_memory:
        return None
    if one_memory:
        return 0.9 if pooled or ended.for_memory else 0.6
    if ended.bystander:
        return 0.75
    return 0.5 if pooled and case.phase is Phase.KV_ALLOC and not _ran_out(case) else None


def _ran_out(case: Case) -> bool:
    """The engine itself says that it ran out of device memory: the kill follows from that."""
    return case.size(Quantity.TRIED) is not None


def _killed(case: Case, ended: Kill) -> str:
    whom = "the engine" if ended.victim is None else ended.victim
    when = " after the pool was sized" if any(case.spoken(name) is not None for name in _POOL) else ""
    return f"{whom} was ended by {ended.killer.value}{when}: host and device share one memory, and it was full"


def _unseen(ended: Kill) -> Iterator[str]:
    if ended.bystander:
        yield (
            f"the largest process held {ended.resident} when the whole host was full: "
            "the rest is in no process's account, as memory is that the driver has given out"
        )


_given_in_bytes: Final = span("0.10.2")  # config/cache.py
_SHARES: Final = 0.9  # that are asked for where nobody says


def _pinned(case: Case) -> tuple[Remedy, ...]:
    """A pool of a given size, where the release knows that."""
    if case.release is not None and case.release not in _given_in_bytes:
        return ()
    remedy = Remedy(
        change={"kv_cache_memory_bytes": 8 * GIB},
        lever="kv_cache_memory_bytes",
        price="the pool has just that size, whatever else is free; one request of the longest length must fit into it",
    )
    return (remedy,)


def _less(case: Case) -> Remedy:
    """Four fifths of the share."""
    given = case.flags.get("gpu_memory_utilization") or case.number(Quantity.SHARE)
    now = given if isinstance(given, float) and 0 < given <= 1 else _SHARES
    return Remedy(
        change={"gpu_memory_utilization": round(now * 0.8, 2)},
        lever="gpu_memory_utilization_down",
        price="the pool is smaller by a fifth of the share; the system and the peak of loading keep that part",
    )


_OTHERS: Final = Remedy(
    change={},
    act="stop what else runs on this host while the engine loads",
    lever="kill_or_free_other_process",
    price="whatever that was doing",
)
_DROP: Final = Remedy(
    change={},
    act="drop the page cache before the start: sync; echo 3 > /proc/sys/vm/drop_caches",
    lever="drop_page_cache",
    price="files are read from disk again",
)
_CARVE: Final = Remedy(
    change={},
    act="set the part that the firmware reserves for graphics to the smallest, and let the driver take what it needs",
    lever="host_memory",
    price="a visit to the firmware's setup",
)
_VAIN: Final = {
    "--max-model-len, --max-num-seqs": "they do not shrink the pool: it takes the rest of the share",
    "looking at nvidia-smi": "it shows no memory of its own there, because there is none",
}
_finding: Final = partial(
    Finding,
    code="PL003",
    name="pool-shared-with-host",
    cause=CAUSE,
    unhelpful=_VAIN,
    missing=("free -g before the start, and after dropping the page cache",),
)
