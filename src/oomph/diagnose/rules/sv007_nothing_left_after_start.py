"""The engine started with next to nothing left, and the first thing that came on top did not fit.

## What happened

Weights, pool and graphs filled the device to within a few hundred MiB. Then something needed memory that no profile
counts: a kernel that is loaded when first used, the buffers of a KV connector, the rearrangement of experts, or simply
the first real batch.

```log fires
INFO 05-28 08:00:01 [api_server.py:1] non-default args: {'model': 'some/model', 'gpu_memory_utilization': 0.98}
(APIServer pid=1) INFO 05-28 08:01:00 [launcher.py:1] Application startup complete.
(EngineCore pid=4) ERROR 05-28 08:02:36 [core.py:1142] EngineCore encountered a fatal error.
(EngineCore pid=4) ERROR 05-28 08:02:36 [core.py:1142]   File "/vllm/v1/worker/gpu_model_runner.py", line 4101, in execute_model
(EngineCore pid=4) ERROR 05-28 08:02:36 [core.py:1142] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 192.00 MiB. GPU 0 has a total capacity of 23.56 GiB of which 83.25 MiB is free.
```

```log silent
INFO 05-28 08:00:01 [api_server.py:1] non-default args: {'model': 'some/model', 'gpu_memory_utilization': 0.90}
(APIServer pid=1) INFO 05-28 08:01:00 [launcher.py:1] Application startup complete.
(EngineCore pid=4) ERROR 05-28 08:02:36 [core.py:1142] EngineCore encountered a fatal error.
(EngineCore pid=4) ERROR 05-28 08:02:36 [core.py:1142]   File "/vllm/v1/worker/gpu_model_runner.py", line 4101, in execute_model
(EngineCore pid=4) ERROR 05-28 08:02:36 [core.py:1142] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 192.00 MiB. GPU 0 has a total capacity of 23.56 GiB of which 83.25 MiB is free.
```

## Why

The share is of the whole device, and the CUDA context, NCCL and everything outside of PyTorch have to live in what it
leaves. At 0.98 of 24 GiB that is less than half a GiB.

## What to do

A share smaller by 0.02, or a pool smaller by 512 MiB; then fewer sequences.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.serving import (
    ENGINE,
    VAIN,
    device_overflow,
    serving,
    share,
    smaller_share,
    through,
    told,
    warned,
)
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity
from oomph.units import GIB, MIB, Bounds, Bytes

CAUSE: Final = "no_headroom_after_boot"

HINTS: Final = (b"failed with OOM on device", b"eplb")

_TIGHT: Final = 0.96
_LITTLE: Final = 512 * MIB
_EXPERTS: Final = ("eplb_step", "rearrange_expert_weights_inplace", "eplb/eplb_state.py", "eplb/rebalance_execute.py")
_CONNECTOR: Final = ("lmcache/", "distributed/kv_transfer/kv_connector/")
_PROFILED: Final = ("profile_run", "determine_available_memory")
_MAPPED: Final = re.compile(r"while trying to map (?P<size>[0-9]{1,15}) bytes \(free: (?P<free>[0-9]{1,15})")


def check(case: Case) -> Finding | None:
    """Up, and either the share, what was left, or who asked shows that nothing was set aside for it."""
    if case.engine not in ENGINE or not (serving(case) or through(case, *_EXPERTS)) or through(case, *_PROFILED):
        return None
    overflow = device_overflow(case)
    experts, connector = through(case, *_EXPERTS), through(case, *_CONNECTOR)
    if overflow is None and experts is None:
        return None
    confidence = _confidence(case, experts, connector)
    return None if confidence is None else _finding(case, confidence, (experts or connector, overflow))


def _confidence(case: Case, experts: Said | None, connector: Said | None) -> float | None:
    given, left = share(case), _left(case)
    if experts is not None:
        return 0.88
    if given is not None and given >= _TIGHT:
        return 0.82
    if left is not None and left.high < _LITTLE:
        return 0.8
    if connector is not None or case.flags.get("kv_transfer_config"):
        return 0.68
    if warned(case) is not None:
        return 0.7 if given is None else 0.45
    return 0.45 if case.line(_MAPPED) is not None else None


def _finding(case: Case, confidence: float, lines: tuple[Said | None, Said | None]) -> Finding:
    return Finding(
        code="SV007",
        name="nothing-left-after-start",
        cause=CAUSE,
        confidence=confidence,
        summary=f"weights, pool and graphs left next to nothing, and what came on top does not fit{told(case)}",
        lines=tuple(line for line in lines if line is not None),
        arithmetic=tuple(_arithmetic(case)),
        remedies=advised(case, Step.SERVING, tuple(_remedies(case))),
        unhelpful=VAIN,
        missing=()
        if share(case) is not None
        else ("--gpu-memory-utilization, or what nvidia-smi showed as free when the engine had started",),
    )


def _left(case: Case) -> Bounds | None:
    """What was free at first, less all that is known to have been taken since."""
    free, pool, graphs = (case.size(q) for q in (Quantity.FREE, Quantity.POOL, Quantity.GRAPHS))
    taken = case.size(Quantity.CONSUMED) or _sum(case.size(Quantity.WEIGHTS), case.size(Quantity.NON_TORCH))
    if free is None or pool is None or graphs is None or taken is None:
        return None
    return free - taken - pool - graphs


def _sum(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    return None if one is None or other is None else one + other


def _arithmetic(case: Case) -> Iterator[str]:
    given, total = share(case), case.size(Quantity.DEVICE_TOTAL) or case.size(Quantity.TOTAL)
    if given is not None and total is not None and given >= _TIGHT:
        rest = Bytes(total.likely - int(total.likely * given))
        yield f"{total.likely} × (1 − {given:g}) = {rest} for context, NCCL and all that is not profiled"
    if (left := _left(case)) is not None and left.high < GIB:
        yield f"free at first − weights and context − pool − graphs = {left.likely} left after the start"
    for _, found in islice(case.lines(_MAPPED), 1):
        wanted, free = Bytes(int(found["size"])), Bytes(int(found["free"]))
        refused = ": it was refused all the same" if free >= wanted else ""
        yield f"{wanted} were to be mapped, {free} were free{refused}"


def _remedies(case: Case) -> Iterator[Remedy]:
    yield smaller_share(case)
    price = "the pool is 512 MiB smaller: fewer requests run at once"
    act = "set --kv-cache-memory-bytes to the pool as it is, less 512 MiB"
    yield Remedy(change={}, act=act, lever="kv_cache_memory_bytes", price=price)
    now = case.flags.positive("max_num_seqs")
    few = 16 if now is None else max(1, now * 3 // 4)
    price = f"at most {few} requests run at once; the others wait"
    yield Remedy(change={"max_num_seqs": few}, lever="max_num_seqs_down", price=price)
