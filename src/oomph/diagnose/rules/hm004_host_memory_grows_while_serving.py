"""The engine's memory on the host grows while it serves, until it is ended.

## What happened

It had been serving, and then the kernel, the container's limit or Ray ended it. The memory of the device does not
change meanwhile; that of the process does: requests that nobody lets go of, traces of a profiler, caches of inputs.

```log fires
(APIServer pid=1) INFO 05-11 09:14:02 [launcher.py:46] Application startup complete.
[Wed May 11 19:15:44 2026] Memory cgroup out of memory: Killed process 812 (VLLM::EngineCor) total-vm:98123456kB, anon-rss:63912344kB, file-rss:120400kB, shmem-rss:8kB, UID:0 pgtables:130000kB oom_score_adj:0
```

```log silent
(APIServer pid=1) INFO 05-11 09:14:02 [launcher.py:46] Application startup complete.
(EngineCore pid=7) ERROR 05-11 09:14:09 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.06 GiB is free.
```

## Why

From 0.11.0 to 0.16.x requests with images and prefix caching kept each other alive, some GB per round. A profiler
without an end keeps every event. Both are anonymous memory of the process, not page cache.

## What to do

0.17.0 or newer; an end for the profiler; and until then a restart before the limit is reached.
"""

from typing import Final

from oomph.diagnose.case import Case, Platform
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.host_kill import HINTS as _KILLS
from oomph.diagnose.grounds.host_kill import kill
from oomph.ledger.observation import Quantity

CAUSE: Final = "host_rss_growth"
HINTS: Final = _KILLS


def check(case: Case) -> Finding | None:
    """Ended for the host's memory after it had served."""
    ended = kill(case)
    if ended is None or not case.served or not ended.for_memory or case.size(Quantity.TRIED) is not None:
        return None
    held = None if ended.resident is None else f"{ended.victim} held {ended.resident} of the host's memory at its end"
    return Finding(
        code="HM004",
        name="host-memory-grows-while-serving",
        cause=CAUSE,
        confidence=0.5 if Platform.UNIFIED in case.platform else 0.72,
        summary=f"it had served, and was then ended by {ended.killer.value} for its memory on the host",
        lines=(ended.said,),
        arithmetic=() if held is None else (held,),
        remedies=_REMEDIES,
        unhelpful=_VAIN,
        missing=(
            "the process's memory over time (ps -o rss): whether it grows with every round, and the device's does not",
        ),
    )


_REMEDIES: Final = (
    Remedy(
        change={"release": "0.17.0"},
        act="upgrade to 0.17.0 or newer, which lets go of requests with images",
        lever="upgrade",
        price="another release",
    ),
    Remedy(
        change={},
        act="restart before the limit is reached; a profiler gets an end (max_iterations)",
        lever="restart_periodically",
        price="a minute without answers, and caches are empty after it",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization and all flags of device memory": "the device's memory does not change",
}
