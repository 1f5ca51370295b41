"""Weights that were to be divided are whole on every rank, so that nothing is left for a pool.

## What happened

The devices together have room enough, and still no pool fits on any of them. Stages of a pipeline each hold embeddings
and head; ranks of data parallelism each hold all that is not an expert.

```log fires
INFO 05-11 09:13:02 [cli_args.py:224] non-default args: {'model': 'org/model', 'pipeline_parallel_size': 4}
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
```

```log silent
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
```

## Why

`--tensor-parallel-size` divides every matrix. `--pipeline-parallel-size` divides layers, and some models keep tables
on every stage that only the first and the last need. `--data-parallel-size` divides requests, not weights.

## What to do

Divide by tensors instead, over the same devices; or use a release in which the stages hold only what they need.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.ledger.ledger import Account
from oomph.ledger.observation import Quantity
from oomph.units import Bounds

CAUSE: Final = "weights_replicated_per_rank"
HINTS: Final = (b"the profiled value", b"Load weight end")

_NO_ROOM: Final = re.compile(r"max_total_tokens=[0-9]+ is larger than the profiled value -[0-9]+")
_SGLANG: Final = re.compile(
    r"Load weight end.{0,120}?avail mem=(?P<left>[0-9]{1,6}\.[0-9]{2}) GB, mem usage=(?P<used>[0-9]{1,6}\.[0-9]{2}) GB"
)
_STAGE: Final = re.compile(r"(?:PP|DP)[1-9]")  # as a worker names itself
_REPLICA: Final = re.compile(r"\bDP[0-9]")
_FULL: Final = 0.85  # of a device that weights alone fill
_TWICE: Final = 1.25  # times what a rank should hold


def check(case: Case) -> Finding | None:
    """More weights on a rank than its part; or no pool, with stages or replicas that hold some things whole."""
    found = _sglang(case) or _vllm(case)
    if found is None:
        return None
    sure, lines = found
    return Finding(
        code="LD004",
        name="weights-whole-on-every-rank",
        cause=CAUSE,
        confidence=sure,
        summary="no pool fits, though the devices together have room: every rank holds weights that were to be divided",
        lines=lines,
        arithmetic=tuple(_arithmetic(case)),
        remedies=_REMEDIES,
        unhelpful=_VAIN,
        missing=("what loading took on every rank, and the size of the checkpoint: together they should be alike",),
    )


def _vllm(case: Case) -> tuple[float, tuple[Said, ...]] | None:
    said = case.spoken("no pool") or case.spoken("pool below request")
    if said is None:
        return None
    staged = case.flags.count("pipeline_parallel_size") > 1 or case.flags.count("data_parallel_size") > 1
    staged = staged or _STAGE.search(said.rank) is not None
    if _beyond_part(case) is not None:
        return 0.85, (said,)
    return (0.55, (said,)) if staged and case.spoken("no pool") is not None else None


def _sglang(case: Case) -> tuple[float, tuple[Said, ...]] | None:
    if (said := case.line(_NO_ROOM)) is not None:
        return 0.8, (said,)
    for said, found in case.lines(_SGLANG):
        left, used = float(found["left"]), float(found["used"])
        if _REPLICA.search(said.rank) and used >= _FULL * (left + used):
            return 0.65, (said,)
    return None


def _beyond_part(case: Case) -> tuple[Bounds, Bounds] | None:
    """What loading took on a rank, and what its part is, where it is much more."""
    took = case.size(Quantity.WEIGHTS)
    entries = () if case.forecast is None else case.forecast.ledger.entries
    part = next((entry.size for entry in entries if entry.account is Account.WEIGHTS), None)
    if took is None or part is None or took.likely < _TWICE * part.high:
        return None
    return took, part


def _arithmetic(case: Case) -> Iterator[str]:
    if (beyond := _beyond_part(case)) is not None:
        yield f"{beyond[0].likely} were loaded on this rank; its part of the checkpoint is {beyond[1].likely}"


_REMEDIES: Final = (
    Remedy(
        change={},
        act="divide by tensors: --tensor-parallel-size over the same devices instead of stages or replicas",
        lever="tp_or_more_gpus",
        price="communication at every layer: slow where devices are on different hosts",
    ),
    Remedy(
        change={},
        act="upgrade: newer releases leave out of a stage what it does not need",
        lever="upgrade",
        price="another release",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization": "a larger share is soon at its end: what is missing is a multiple of it",
    "--max-model-len": "there is no room for any pool, whatever the length of a request",
}
