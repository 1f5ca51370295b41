"""Graphs are charged to the budget with more than they take, and the pool is smaller by the difference.

## What happened

From 0.20.0 on the engine takes an estimate of its CUDA graphs from the budget before it sizes the pool. The estimate is
measured, with a throw-away pool, and what was only there for a moment is counted as graphs. On models with recurrent
layers it is several times what the graphs really take; after an upgrade the same flags give a pool that is smaller by
a fifth, or refuse to start.

```log fires
(EngineCore pid=1) INFO 06-10 10:00:00 [gpu_model_runner.py:6142] Estimated CUDA graph memory: 4.21 GiB total
(EngineCore pid=1) INFO 06-10 10:00:01 [gpu_worker.py:462] Available KV cache memory: 9.10 GiB
(EngineCore pid=1) INFO 06-10 10:00:40 [gpu_worker.py:642] CUDA graph pool memory: 0.62 GiB (actual), 4.21 GiB (estimated), difference: 3.59 GiB (579.0%).
```

```log fires
(EngineCore pid=1) INFO 06-10 10:00:00 [gpu_model_runner.py:6142] Estimated CUDA graph memory: 2.21 GiB total
(EngineCore pid=1) INFO 06-10 10:00:01 [gpu_worker.py:462] Available KV cache memory: 0.07 GiB
(EngineCore pid=1) ERROR 06-10 10:00:02 [core.py:1108] ValueError: To serve at least one request with the model's max seq len (65536), (1.05 GiB KV cache is needed, which is larger than the available KV cache memory (0.07 GiB).
```

```log silent
(EngineCore pid=1) INFO 06-10 10:00:00 [gpu_model_runner.py:6142] Estimated CUDA graph memory: 0.60 GiB total
(EngineCore pid=1) INFO 06-10 10:00:40 [gpu_worker.py:642] CUDA graph pool memory: 0.62 GiB (actual), 0.60 GiB (estimated), difference: 0.02 GiB (3.2%).
```

## Why

The share that the log calls equivalent takes the estimate at its word. What counts is the line that compares it with
what was captured.

## What to do

Where both are far apart: `VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0`, together with a share that is smaller by what
the graphs really take. Or a share that is larger by the difference. Or fewer graphs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.serving import device_overflow, share
from oomph.diagnose.grounds.sizing import no_room
from oomph.diagnose.grounds.usual import larger_share, smaller_graphs
from oomph.ledger.observation import Quantity
from oomph.units import GIB, MIB, Bounds, Bytes

CAUSE: Final = "cudagraph_estimate_overcharge"

_MUCH: Final = 512 * MIB  # that is worth a word
_TIMES: Final = 2  # the estimate against what was taken
_FAILED: Final = frozenset({Phase.KV_ALLOC, Phase.PROFILE, Phase.GRAPH_PROFILE, None})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Charge:
    """What was charged, what was taken where graphs were captured at all, and what a refusal lacks."""

    estimate: Bounds
    taken: Bounds | None
    lacking: int | None  # that the pool would have had without the charge
    lines: tuple[Said, ...]


def check(case: Case) -> Finding | None:
    """The estimate is a multiple of what was captured; or a pool was refused that the estimate alone would have filled."""
    charge = _charge(case)
    if charge is None or (sure := _confidence(charge)) is None:
        return None
    over = Bytes(charge.estimate.likely - (0 if charge.taken is None else charge.taken.likely))
    return Finding(
        code="GP002",
        name="graph-estimate-above-graphs",
        cause=CAUSE,
        confidence=sure,
        summary=f"{charge.estimate.likely} are charged for graphs"
        + ("" if charge.taken is None else f" that take {charge.taken.likely}")
        + f": the pool is smaller by up to {over}",
        lines=charge.lines,
        arithmetic=tuple(_arithmetic(charge)),
        remedies=tuple(_remedies(case, charge)),
        unhelpful={
            "the share that the log calls equivalent": "it takes the estimate at its word; compare it with what was captured"
        },
        missing=() if charge.taken is not None else ("the line `CUDA graph pool memory: … (actual), … (estimated)`",),
    )


def _charge(case: Case) -> _Charge | None:
    estimate, taken = case.size(Quantity.GRAPH_ESTIMATE), case.size(Quantity.GRAPHS)
    if estimate is None or case.spoken("graphs not charged") is not None:
        return None
    if device_overflow(case) is not None or (taken is None and case.phase not in _FAILED):
        return None
    said = [case.spoken(name) for name in ("graphs estimated", "graphs taken", "graphs captured", "pool below request")]
    lines = tuple(line for line in said if line is not None)
    return _Charge(estimate=estimate, taken=taken, lacking=_lacking(case), lines=lines)


def _lacking(case: Case) -> int | None:
    room = no_room(case)
    if room is not None and room.pool is not None:
        return max(int(-room.pool.low), 1)
    needed, pool = case.size(Quantity.NEEDED), case.size(Quantity.POOL)
    return None if needed is None or pool is None else int(needed.high - pool.low)


def _confidence(charge: _Charge) -> float | None:
    if charge.taken is not None:
        over = charge.estimate.likely - charge.taken.likely
        return 0.9 if over >= _MUCH and charge.estimate.likely >= _TIMES * charge.taken.likely else None
    if charge.lacking is None or not 0 < charge.lacking <= charge.estimate.likely:
        return None
    return 0.96 if charge.estimate.likely >= max(GIB, _TIMES * charge.lacking) else 0.6


def _arithmetic(charge: _Charge) -> Iterator[str]:
    if charge.taken is not None:
        over = Bytes(charge.estimate.likely - charge.taken.likely)
        yield f"{charge.estimate.likely} estimated − {charge.taken.likely} taken = {over} charged too much"
    if charge.lacking is not None:
        yield f"{Bytes(charge.lacking)} are missing, {charge.estimate.likely} are set aside for graphs"


def _remedies(case: Case, charge: _Charge) -> Iterator[Remedy]:
    total = case.size(Quantity.TOTAL) or (Bounds(case.devices[0].total) if case.devices else None)
    over = charge.estimate.likely - (0 if charge.taken is None else charge.taken.likely)
    larger = larger_share(share(case), charge.lacking or int(over), None if total is None else int(total.low))
    if larger is not None:
        yield larger
    yield Remedy(
        change={"VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS": "0"},
        lever="env_estimate_cudagraphs_0",
        price="nothing is set aside for graphs any more: lower the share by what they really take",
    )
    yield from smaller_graphs(case)
