"""The host ran out of memory while weights were read.

## What happened

Weights pass through the host on their way to the device. Every rank read whole files, or a loader kept the checkpoint
in memory, or a file could not be mapped; and the kernel, the container's limit or Ray ended the process.

```log fires
(EngineCore pid=7) INFO 05-11 09:14:02 [gpu_model_runner.py:4720] Starting to load model org/model...
[Wed May 11 09:15:44 2026] Memory cgroup out of memory: Killed process 812 (VLLM::EngineCor) total-vm:98123456kB, anon-rss:63912344kB, file-rss:120400kB, shmem-rss:8kB, UID:0 pgtables:130000kB oom_score_adj:0
```

```log silent
(EngineCore pid=7) INFO 05-11 09:14:02 [gpu_model_runner.py:4820] Model loading took 18.47 GiB memory and 10.912345 seconds
(EngineCore pid=7) ERROR 05-11 09:14:09 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.06 GiB is free.
```

## Why

Files of safetensors are mapped and cost the host next to nothing. Files of PyTorch (`.bin`) are read whole by every
rank, and so does a loader that buffers. A container has a limit of its own, and Ray ends workers at 95 % of it. An exit
status of 137 alone says only that somebody sent SIGKILL.

## What to do

Safetensors with the default loader; fewer ranks loading at once; a higher limit.
"""

import re
from typing import Final

from oomph.diagnose.case import Case, Phase, Platform
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.host_kill import HINTS as _KILLS
from oomph.diagnose.grounds.host_kill import Kill, kill
from oomph.ledger.observation import Quantity

CAUSE: Final = "host_ram_load_peak"
HINTS: Final = (*_KILLS, b"annot allocate memory", b"bad_alloc", b"DefaultCPUAllocator", b"Starting to load model")

_MAPPED: Final = re.compile(
    r"unable to mmap [0-9]+ bytes|DefaultCPUAllocator: (?:can't|not enough)|std::bad_alloc|\[Errno 12\] Cannot allocate memory"
    r"|mmap.{0,80}Cannot allocate memory|Cannot allocate memory.{0,80}mmap"
)
_READING: Final = re.compile(
    r"Loading (?:safetensors|pt|pytorch\S*) checkpoint shards|Starting to load model|Loading weights"
)
_AFTER: Final = ("weights", "profile", "pool", "blocks", "tokens", "graphs begun", "started", "encoder budget")
_BUFFERS: Final = frozenset({"fastsafetensors", "pt", "npcache"})  # loaders that hold files in memory


def check(case: Case) -> Finding | None:
    """A file that could not be mapped; or an end from outside before the weights were there."""
    mapped = case.line(_MAPPED)
    ended = kill(case)
    found = (0.9, mapped) if mapped is not None and _loading(case) else None if ended is None else _ended(case, ended)
    if found is None:
        return None
    sure, said = found
    return Finding(
        code="HM002",
        name="host-memory-exceeded-by-loading",
        cause=CAUSE,
        confidence=sure,
        summary=_summary(mapped, ended),
        lines=(said,),
        arithmetic=()
        if ended is None or ended.resident is None
        else (f"{ended.victim} held {ended.resident} of the host",),
        remedies=_REMEDIES,
        unhelpful=_VAIN,
        missing=()
        if mapped is not None or (ended is not None and ended.for_memory)
        else ("the kernel's word for it: dmesg -T | grep -i oom, or memory.events of the container",),
    )


def _loading(case: Case) -> bool:
    """Nothing shows that the weights were there."""
    return not case.served and not any(case.spoken(name) is not None for name in _AFTER)


def _ended(case: Case, ended: Kill) -> tuple[float, Said] | None:
    """Sure by the reason that is told, and by what was going on."""
    if not _loading(case) or case.size(Quantity.TRIED) is not None:
        return None
    one_memory = {Platform.UNIFIED, Platform.CPU} & case.platform
    if case.flags.get("load_format") in _BUFFERS and ended.for_memory:
        return 0.93, ended.said
    if not ended.for_memory:
        return (0.5, ended.said) if case.phase is Phase.LOAD or case.line(_READING) is not None else None
    if ended.bystander:
        return 0.5, ended.said
    return (0.6 if one_memory else 0.87 if case.line(_READING) is not None else 0.72), ended.said


def _summary(mapped: Said | None, ended: Kill | None) -> str:
    if mapped is not None or ended is None:
        return "the host had no memory, or no permission, to map a file of weights"
    return f"the process was ended by {ended.killer.value} before its weights were loaded: the host's memory was full"


_REMEDIES: Final = (
    Remedy(
        change={},
        act="give the container or the host more memory: as much as one file of weights per rank, and what else runs there",
        lever="host_memory",
        price="memory of the host",
    ),
    Remedy(
        change={"load_format": "auto"},
        act="a checkpoint in safetensors, with the default loader, which maps files instead of reading them",
        lever="host_memory",
        price="loading may take longer than with a loader that buffers",
    ),
    Remedy(
        change={"max_parallel_loading_workers": 1},
        lever="host_memory",
        price="ranks load one after the other; only where a distributed runtime is used that obeys it",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization and all flags of device memory": "no device is full",
    "--swap-space": "it takes memory of the host, and is not used to load",
}
