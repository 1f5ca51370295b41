"""The engine asked the host for more pinned memory than it gets.

## What happened

Pinned memory is memory of the host that devices can reach: swap space for requests (before 0.11.0), weights that are
offloaded, a cache of keys and values on the host, the copy of weights of an engine that sleeps. It was refused, or the
host ran out of it. The driver calls that `CUDA error: out of memory`, with an empty device.

```log fires
ValueError: Too large swap space. 64.00 GiB out of the 62.60 GiB total CPU memory is allocated for the swap space.
```

```log fires
(EngineCore pid=7) INFO 05-11 09:14:02 [uva.py:65] Total CPU offloaded parameters: 305.00
Killed
```

```log silent
(EngineCore pid=7) ERROR 05-11 09:14:09 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.06 GiB is free.
```

## Why

Every rank takes its own: 4 GiB of swap space per device by default. PyTorch rounds pinned allocations up to powers of
two, so that many offloaded weights take up to twice their size. One call cannot register more than 512 GiB on some
systems, and the Windows below WSL2 gives little of it.

## What to do

Ask for less, or for none. What is configured counts per rank, and roughly twice for offloaded weights.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.diagnose.case import Case, Phase, Platform
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.host_kill import HINTS as _KILLS
from oomph.diagnose.grounds.host_kill import kill
from oomph.engines.history import Since
from oomph.errors import UnknownRelease
from oomph.ledger.observation import Quantity
from oomph.ledger.settings import Flags

CAUSE: Final = "host_offload_pinned_memory"
HINTS: Final = (*_KILLS, b"swap space", b"offloaded param", b"cudaHost", b"pin_memory", b"offload shared region")

# Whether host memory is pinned under WSL2, too.
_pins_under_windows: Final = Since(
    {
        "0.1.0": True,  # worker/cache_engine.py
        "0.1.2": False,  # worker/cache_engine.py
    }
)

_TOO_LARGE: Final = re.compile(
    r"Too large swap space\. (?P<asked>[0-9.]{1,9}) GiB out of the (?P<total>[0-9.]{1,9}) GiB"
)
_PINNING: Final = re.compile(
    r"cudaHost(?:Alloc|Register)\b(?!.{0,60}still work).{0,60}(?:failed|out of memory|error)|cannot pin\b|failed to pin\b"
    r"|CUDA KV offload|Insufficient space in /dev/shm for CPU KV offload"
)
_DRIVER: Final = re.compile(r"CUDA error: (?:out of memory|invalid argument)|cudaErrorMemoryAllocation")
_OFFLOADED: Final = re.compile(
    r"Total CPU offloaded parameters: (?P<gib>[0-9.]{1,9})|cgroup memory preflight.{0,40}below", re.IGNORECASE
)
_PLACES: Final = (
    "allocate_cpu_cache",
    "pin_memory",
    "offloader",
    "kv_offload",
    "cpu_gpu",
    "_allocate_kv_cache",
    "cache_engine",
)
_CPU_BLOCKS: Final = re.compile(r"# CPU blocks: [1-9]")
_OFFLOADING: Final = ("cpu_offload_gb", "kv_offloading_size", "offload_group_size")
_HOST_POOL: Final = re.compile(r"[Oo]ffload|LMCache|cpu_bytes_to_use")


def check(case: Case) -> Finding | None:
    """The engine's or the driver's refusal; an end from outside of one that offloads; pinning under old WSL2."""
    found = _refused(case) or _ended(case) or _under_windows(case)
    if found is None:
        return None
    sure, said = found
    return Finding(
        code="HM003",
        name="pinned-host-memory-refused",
        cause=CAUSE,
        confidence=sure,
        summary="the host did not give the pinned memory that was asked for; the device is not full",
        lines=(said,),
        arithmetic=tuple(_arithmetic(case)),
        remedies=(*_less(case), _MORE),
        unhelpful=_VAIN,
        missing=("what the host has (free -g), and shmem and anon in memory.stat of the container",),
    )


def _refused(case: Case) -> tuple[float, Said] | None:
    if (said := case.line(_TOO_LARGE)) is not None:
        return 0.97, said
    if (said := case.line(_PINNING)) is not None:
        return 0.88, said
    failure = case.failure
    if failure is None or case.size(Quantity.TRIED) is not None or not _DRIVER.search(failure.said.text):
        return None
    return (0.85, failure.said) if case.frame(*_PLACES) is not None else None


def _ended(case: Case) -> tuple[float, Said] | None:
    """What ended it, and what it had put on the host."""
    ended = kill(case)
    if ended is None or case.size(Quantity.TRIED) is not None or Platform.CPU in case.platform:
        return None
    if case.line(_OFFLOADED) is not None or _offloads(case.flags):
        return 0.88, ended.said
    if case.flags.get("enable_sleep_mode") and ended.for_memory:
        return 0.75, ended.said
    return (0.45, ended.said) if case.line(_CPU_BLOCKS) is not None else None


def _offloads(flags: Flags) -> bool:
    if any(flags.get(name) not in {None, 0, "0"} for name in _OFFLOADING):
        return True
    return _HOST_POOL.search(str(flags.get("kv_transfer_config") or "")) is not None


def _under_windows(case: Case) -> tuple[float, Said] | None:
    """Blocks were counted, on the host too, and making them failed without a word of a full device."""
    said = case.line(_CPU_BLOCKS)
    if said is None or Platform.WSL2 not in case.platform or case.phase is not Phase.KV_ALLOC:
        return None
    if case.size(Quantity.TRIED) is not None or not _pins(case):
        return None
    return 0.75, said


def _pins(case: Case) -> bool:
    try:
        return case.release is None or _pins_under_windows.at(case.release)
    except UnknownRelease:
        return True


def _arithmetic(case: Case) -> Iterator[str]:
    for _, found in case.lines(_TOO_LARGE):
        yield f"{found['asked']} GiB for all ranks, and 70 % of {found['total']} GiB are permitted at most"
    for _, found in case.lines(_OFFLOADED):
        if found["gib"] is not None:
            yield f"{found['gib']} GiB offloaded take up to {2 * float(found['gib']):g} GiB: each is rounded up to a power of two"


def _less(case: Case) -> Iterator[Remedy]:
    """Of whatever was asked for."""
    if case.line(_CPU_BLOCKS) is not None or case.line(_TOO_LARGE) is not None or "swap_space" in case.flags:
        yield Remedy(change={"swap_space": 0}, lever="host_memory", price="preempted requests are computed again")
    if case.line(_OFFLOADED) is not None or "cpu_offload_gb" in case.flags:
        yield Remedy(
            change={},
            act="halve --cpu-offload-gb: what is pinned is rounded up to powers of two",
            lever="host_memory",
            price="more of the weights must fit on the device",
        )
    if _HOST_POOL.search(str(case.flags.get("kv_transfer_config") or "")) or "kv_offloading_size" in case.flags:
        yield Remedy(
            change={},
            act="halve the size of the cache on the host, and keep each rank's part below 512 GiB",
            lever="host_memory",
            price="fewer prompts are remembered",
        )
    if case.flags.get("enable_sleep_mode"):
        yield Remedy(
            change={},
            act="sleep with level 2, which drops the weights instead of copying them to the host",
            lever="disable_sleep_mode",
            price="weights are loaded again when it wakes",
        )


_MORE: Final = Remedy(
    change={},
    act="more memory for the host or the container, and no limit on locked memory (ulimit -l)",
    lever="host_memory",
    price="memory of the host",
)
_VAIN: Final = {
    "--gpu-memory-utilization and all flags of device memory": "the device is not full; the driver's words only sound like it",
    "--max-model-len": "what is pinned does not depend on it",
}
