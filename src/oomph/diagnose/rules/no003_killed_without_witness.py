"""A process was killed from outside, and nothing says by whom or why.

## What happened

Exit status 137, or -9, means that somebody sent SIGKILL. The kernel does so when the host runs out of memory; so do
`docker kill`, a supervisor whose patience ended, Kubernetes for other reasons, and people. Often a wrapper kills its
group after a GPU failure whose message got lost.

```log fires
container vllm exited with code 137
```

```log fires
(EngineCore pid=7) INFO 11-14 23:27:20 [core.py:300] init engine (profile, create kv cache, warmup model) took 3.10 s
(APIServer pid=1) WARNING 11-14 23:27:27 [core_client.py:817] [shutdown] MPClient: engine core exited unexpectedly; starting cleanup
(APIServer pid=1) ERROR 11-14 23:27:27 [serving.py:500] vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.
```

```log silent
[81234.5] Out of memory: Killed process 4711 (python3) total-vm:91234567kB, anon-rss:64123456kB
container vllm exited with code 137
```

## Why

The number is the signal, not the reason. The reason is in the kernel's log, in the events of the cgroup, or in the lines
that the engine printed before.

## What to do

Look there first; every remedy before that is a guess.
"""

import re
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy, Said

CAUSE: Final = "host_ram_load_peak"

HINTS: Final = (b"unexpectedly", b"137", b"SIGKILL", b"Killed", b"signal 9", b"code -9")

_KILLED: Final = re.compile(
    r"[Ee]xit(?:ed)?(?: with)?(?: code| status|code)?[ :=]*(?:137|-9)\b|SIGKILL|signal 9\b|^\W*(?:[0-9]+ )?Killed\W*$"
)
# v1/engine/core_client.py, v1/executor/multiproc_executor.py: who waits for a process finds it gone
_GONE: Final = re.compile(
    r"[Ee]ngine core (?:proc \S{1,60} )?(?:died|exited) unexpectedly|Worker ?[Pp]roc \S{1,60} died unexpectedly"
)
_OWN_WORDS: Final = re.compile(r"^(?:EngineCore|Worker|VllmWorker|RayWorker)")
_ORDERLY: Final = re.compile(r"received signal=SIG(?:TERM|INT)|KeyboardInterrupt|Shutting down FastAPI")
_WITNESS: Final = re.compile(
    r"Out of memory: Kill|oom-kill|oom_kill|Memory cgroup out of memory|invoked oom-killer|OOMKilled|memory usage threshold"
    r"|systemd-oomd|earlyoom|Cannot allocate memory|std::bad_alloc|anon-rss"
)
_DEVICE: Final = re.compile(r"(?:CUDA|HIP|XPU) (?:error: )?out of memory|OutOfMemoryError|cudaMalloc failed")


def check(case: Case) -> Finding | None:
    """Killed, and neither the host nor a device is said to have run out; or gone without a word of its own."""
    killed = case.line(_KILLED)
    said = killed or (case.line(_GONE) if _silent(case) else None)
    if said is None or case.line(_WITNESS) is not None or case.line(_DEVICE) is not None:
        return None
    loading = case.phase in {Phase.LOAD, None}
    return Finding(
        code="NO003",
        name="killed-without-witness",
        cause=CAUSE,
        confidence=0.45 if loading else 0.35,
        summary=f"the process {_how(killed)}; that the host ran out of memory is possible, and nothing shows it",
        lines=(said,),
        remedies=(_LOOK,),
        unhelpful={"GPU settings": "whether a GPU had anything to do with it is not known yet"},
        missing=(
            "dmesg -T | grep -i -E 'oom|killed process': the kernel names whom it killed, and for which limit",
            "memory.events of the cgroup (oom_kill), or kubectl describe pod (OOMKilled)",
            "the engine's own lines before it was killed: a GPU failure there is the cause, and the kill a consequence",
        ),
    )


def _silent(case: Case) -> bool:
    """No process of the engine itself tells of an error, and nobody asked it to stop."""
    own = any(_OWN_WORDS.match(failure.said.rank) for failure in case.failures)
    return not own and case.line(_ORDERLY) is None


def _how(killed: Said | None) -> str:
    return "was killed from outside" if killed is not None else "ended without a word, as one does that is killed"


_LOOK: Final = Remedy(
    change={},
    act="look into the kernel's log and the cgroup's events, and raise the host's limit only if they show a kill",
    lever="host_memory",
    price="a look",
)
