"""An engine that was started earlier is still on the device, and holds it.

## What happened

The engine was refused at the start because next to nothing is free, and what is held is as much as an engine with
this share, or with the default one, holds. Its server is gone: killed by a supervisor, by `docker kill`, or by the
kernel. Its workers are not. They keep the pool, and the port is free, so that the next start looks like the first.

```log fires
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] ValueError: Free memory on device cuda:0 (5.81/79.19 GiB) on startup is less than desired GPU memory utilization (0.92, 72.85 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
```

```log silent
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] ValueError: Free memory on device cuda:0 (49.2/79.19 GiB) on startup is less than desired GPU memory utilization (0.9, 71.27 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
```

## Why

The server handles SIGTERM and takes its workers with it. SIGKILL cannot be handled, and a worker does not always
notice that nobody is there any more. The workers call themselves `VLLM::EngineCore` and `VLLM::Worker_TP0`, which a
search for `python` does not find.

## What to do

End the processes that are left and start again, with nothing changed. A smaller share would only make a small engine
beside a dead one.
"""

import re
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.refused_start import Refused, refused, shared

CAUSE: Final = "orphan_engine_process"
HINTS: Final = (b"VLLM::",)

_LISTED: Final = re.compile(r"\bVLLM::(?:EngineCor|Worker)\w*.{0,40}?(?P<holds>[0-9]{2,7}) ?MiB")
_LITTLE: Final = 0.08  # of the device that is free where an engine has filled it
_LESS_FREE: Final = 0.2  # and where host and device share it, so that the system holds its part


def check(case: Case) -> Finding | None:
    """By what is held: as much as such an engine holds; by a list of processes, where there is one."""
    start = refused(case)
    listed = case.line(_LISTED)
    if start is None or (sure := 0.95 if listed is not None else _confidence(case, start)) is None:
        return None
    return Finding(
        code="SC002",
        name="engine-left-on-device",
        cause=CAUSE,
        confidence=sure,
        summary=f"only {start.free.likely} of {start.total.likely} are free: an earlier engine still holds the device",
        lines=tuple(line for line in (start.said, listed) if line is not None),
        arithmetic=(start.sum, *_likeness(case, start)),
        remedies=_REMEDIES,
        unhelpful=_VAIN,
        missing=() if listed is not None else ("who holds the device: pgrep -af VLLM:: and nvidia-smi",),
    )


def _confidence(case: Case, start: Refused) -> float | None:
    """Next to nothing is free, or what is held is a share; the more so both."""
    if start.on_host:
        return None
    one_memory = shared(case, start)
    full, share = start.left <= _LITTLE, start.engine_share(shared=one_memory)
    full = full or (one_memory and share is not None and start.left <= _LESS_FREE)
    if full:
        return 0.8 if share is not None else 0.68
    if share is None:
        return None
    return 0.72 if share == start.share else 0.5


def _likeness(case: Case, start: Refused) -> tuple[str, ...]:
    share = start.engine_share(shared=shared(case, start))
    if share is None:
        return ()
    own = "this very share" if share == start.share else "the default share"
    return (f"{start.held.likely} held ≈ {share:g} × {start.total.likely}: an engine with {own}, and its context",)


_REMEDIES: Final = (
    Remedy(
        change={},
        act="end what is left of the earlier engine (pgrep -af VLLM::, then kill those), and start the same again",
        lever="kill_or_free_other_process",
        price="whatever that engine was still doing",
    ),
    Remedy(
        change={},
        act="from then on stop the server with SIGTERM and wait for it; in a container, run it under --init",
        lever="kill_or_free_other_process",
        price="a stop takes as long as the requests that are running",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization": "a smaller share makes a small engine beside a dead one; nothing is wrong with this share",
    "--max-model-len, --max-num-seqs, --enforce-eager": "the comparison comes before anything is sized",
    "--kv-cache-memory-bytes": "the share is compared with what is free all the same",
}
