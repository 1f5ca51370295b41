"""One device of several has less room than the others, and it decides for all of them.

## What happened

A model is spread over devices that are not alike, or cut into stages that are not. Every rank of a split gets the same
part, however small its card; a pool is as large as the poorest rank can make it; and the whole need of one request is
held against what one stage has.

```log fires
(EngineCore pid=1) INFO 02-08 10:00:00 [core.py:97] Initializing a V1 LLM engine (v0.15.1) with config: model='some/model', tensor_parallel_size=1, pipeline_parallel_size=2
(Worker_PP0 pid=2) INFO 02-08 10:01:00 [gpu_worker.py:298] Available KV cache memory: 3.18 GiB
(Worker_PP1 pid=3) INFO 02-08 10:01:00 [gpu_worker.py:298] Available KV cache memory: 11.90 GiB
(EngineCore pid=1) ValueError: To serve at least one request with the models's max seq len (262144), (24.0 GiB KV cache is needed, which is larger than the available KV cache memory (3.18 GiB).
```

```log fires
load_tensors:        CUDA1 model buffer size = 10788.36 MiB
load_tensors:        CUDA0 model buffer size = 22292.66 MiB
ggml_backend_cuda_buffer_type_alloc_buffer: allocating 3040.00 MiB on device 0: cudaMalloc failed: out of memory
```

```log silent
(Worker_PP0 pid=2) INFO 02-08 10:01:00 [gpu_worker.py:298] Available KV cache memory: 11.60 GiB
(Worker_PP1 pid=3) INFO 02-08 10:01:00 [gpu_worker.py:298] Available KV cache memory: 11.90 GiB
(EngineCore pid=1) ValueError: To serve at least one request with the models's max seq len (262144), (24.0 GiB KV cache is needed, which is larger than the available KV cache memory (11.60 GiB).
```

## Why

Figures are per rank and never add up. One share for all cards gives the small one little, and the same number of
blocks is made everywhere.

## What to do

Give the small card fewer layers (`VLLM_PP_LAYER_PARTITION`, with a pipeline instead of a split), or leave it out.
llama.cpp: `--tensor-split` in proportion to what each card has free.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.sizing import no_room
from oomph.units import GIB, MIB, Bounds, Bytes

CAUSE: Final = "uneven_ranks_min_rank_binds"
HINTS: Final = (b"model buffer size", b"total capac")

_CARD: Final = re.compile(
    r"GPU (?P<index>[0-9]{1,2}) has a total capac(?:i)?ty of (?P<total>[0-9.]{1,8}) (?P<unit>[GM])iB"
)
_BUFFER: Final = re.compile(
    r"(?:CUDA|ROCm|Vulkan|SYCL)(?P<index>[0-9]{1,2}) +model buffer size *= *(?P<size>[0-9.]{1,12}) MiB"
)
_FAILED: Final = re.compile(r"allocating [0-9.]{1,12} MiB on device (?P<index>[0-9]{1,2}): cudaMalloc failed")
_UNLIKE: Final = 1.5  # times
_SLIGHT: Final = 1.15  # that cards of one size differ by at most
_APART: Final = 1 * GIB


@dataclass(frozen=True, slots=True, kw_only=True)
class _Uneven:
    """Who is poor, and how that shows."""

    sure: float
    summary: str
    lines: tuple[Said, ...]
    sums: tuple[str, ...]


def check(case: Case) -> Finding | None:
    """Pools of stages, sizes of cards or buffers of devices that lie far apart, and a failure on the poor side."""
    found = _buffers(case) or _cards(case) or _stages(case) or _apart(case)
    if found is None:
        return None
    return Finding(
        code="PS005",
        name="poorest-rank-decides",
        cause=CAUSE,
        confidence=found.sure,
        summary=found.summary,
        lines=found.lines,
        arithmetic=found.sums,
        remedies=_LLAMA if _buffers(case) is not None else _REMEDIES,
        unhelpful={"--gpu-memory-utilization": "one share for all cards leaves the small one just as poor"},
        missing=() if found.sure >= _SURE else ("the size of each card, and what else is on it",),
    )


_SURE: Final = 0.8
_REMEDIES: Final = (
    Remedy(
        change={},
        act="spread the layers by what each card has: --pipeline-parallel-size with VLLM_PP_LAYER_PARTITION",
        lever="tp_or_more_gpus",
        price="stages work one after the other: a single request is not faster than on one card",
    ),
    Remedy(
        change={},
        act="leave the small card out",
        lever="cuda_visible_devices",
        price="its memory is not used at all",
    ),
    Remedy(
        change={},
        act="shorten the longest request until the poorest rank holds one: --max-model-len",
        lever="max_model_len_down",
        price="longer requests are refused",
    ),
)
_LLAMA: Final = (
    Remedy(
        change={},
        act="--tensor-split in proportion to what each card has free",
        lever="tp_or_more_gpus",
        price="the fuller card computes fewer layers",
    ),
    Remedy(
        change={},
        act="a shorter context: -c",
        lever="max_model_len_down",
        price="longer requests are refused",
    ),
)


def _buffers(case: Case) -> _Uneven | None:
    """llama.cpp: the device that failed holds far more of the model than the others."""
    held = {int(found["index"]): (round(float(found["size"]) * MIB), said) for said, found in case.lines(_BUFFER)}
    failed = next(((said, int(found["index"])) for said, found in case.lines(_FAILED)), None)
    if failed is None or len(held) < 2 or failed[1] not in held:  # noqa: PLR2004 - a pair
        return None
    said, index = failed
    other = max(size for device, (size, _) in held.items() if device != index)
    if held[index][0] < _UNLIKE * other:
        return None
    return _Uneven(
        sure=0.86,
        summary=f"device {index} holds {Bytes(held[index][0])} of the model and the next one {Bytes(other)}: the fuller decides",
        lines=(*(line for _, line in held.values()), said),
        sums=(f"{Bytes(held[index][0])} against {Bytes(other)}",),
    )


def _cards(case: Case) -> _Uneven | None:
    """PyTorch ran out on a card that is smaller than another of the same engine."""
    failed = next(iter(case.lines(_CARD)), None)
    if failed is None or case.served:
        return None
    said, found = failed
    small = round(float(found["total"]) * (GIB if found["unit"] == "G" else MIB))
    others = [int(device.total) for device in case.devices]
    others += [round(float(each["total"]) * (GIB if each["unit"] == "G" else MIB)) for _, each in case.lines(_CARD)]
    if max(others, default=0) < _UNLIKE * small:
        return None
    return _Uneven(
        sure=0.83,
        summary=f"GPU {found['index']} has {Bytes(small)} and another {Bytes(max(others))}: every rank gets the same part",
        lines=(said,),
        sums=(f"{Bytes(small)} against {Bytes(max(others))}",),
    )


def _stages(case: Case) -> _Uneven | None:
    """The longest request does not fit, and stages or cards are not alike."""
    said = case.spoken("pool below request") or case.spoken("pool below length")
    pools = dict(_pools(case))
    sizes = [int(device.total) for device in case.devices]
    apart = bool(pools) and max(pools.values()) - min(pools.values()) >= _APART
    apart = apart and max(pools.values()) >= _UNLIKE * max(min(pools.values()), 1)
    uneven = len(sizes) > 1 and max(sizes) >= _SLIGHT * min(sizes)
    staged = case.flags.count("pipeline_parallel_size") > 1 or any("_PP" in rank for rank in pools)
    given = "VLLM_PP_LAYER_PARTITION" in case.flags
    if said is None or not (apart or uneven or (staged and given)):
        return None
    return _Uneven(
        sure=0.96 if staged else 0.9 if apart else 0.7,
        summary="the stage or card with the least room decides how long a request may be",
        lines=(said,),
        sums=tuple(f"{rank or 'one rank'}: {Bytes(pool)}" for rank, pool in sorted(pools.items())),
    )


def _apart(case: Case) -> _Uneven | None:
    """One rank has no room for a pool and another has: the cards may not be alike, or somebody may be on one."""
    room = no_room(case)
    if room is None or not room.uneven:
        return None
    return _Uneven(
        sure=0.5,
        summary="one rank has no room for the pool and another has: the poorest decides for all",
        lines=tuple(dict.fromkeys((*room.shown, room.said))),
        sums=tuple(f"{rank or 'one rank'}: {pool.likely}" for rank, pool in sorted(room.pools.items())),
    )


def _pools(case: Case) -> Iterator[tuple[str, int]]:
    """What ranks have for the pool; the one that refuses repeats the poorest, and is none of them."""
    for line in () if case.observation is None else case.observation.lines:
        size = line.figures.get("size")
        if line.name == "pool" and isinstance(size, Bounds):
            yield line.rank, int(size.likely)
