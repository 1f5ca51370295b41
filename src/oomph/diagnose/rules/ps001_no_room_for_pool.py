"""Nothing is left for the pool: the share is below what weights and activations take.

## What happened

The engine may use a share of the device. From it it takes what the weights hold, the peak of its profile run, what lies
outside of PyTorch and, from 0.20.0 on, an estimate of its graphs. What remains is the pool for keys and values, and
here nothing remains. Nothing ran out of memory: the engine refuses to go on.

```log fires
INFO 02-26 09:54:02 model_runner.py:1115] Loading model weights took 5.2032 GB
INFO 02-26 09:54:05 worker.py:267] the current vLLM instance can use total_gpu_memory (8.00GiB) x gpu_memory_utilization (0.70) = 5.60GiB
INFO 02-26 09:54:05 worker.py:267] model weights take 5.20GiB; non_torch_memory takes 0.03GiB; PyTorch activation peak memory takes 1.42GiB; the rest of the memory reserved for KV Cache is -1.05GiB.
```

```log fires
(EngineCore pid=1) INFO 08-01 10:00:00 [gpu_worker.py:298] Available KV cache memory: -3.21 GiB
(EngineCore pid=1) ERROR 08-01 10:00:01 [core.py:708] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
```

```log silent
(EngineCore pid=1) INFO 08-01 10:00:00 [gpu_worker.py:298] Available KV cache memory: 9.37 GiB
(EngineCore pid=1) INFO 08-01 10:00:01 [kv_cache_utils.py:864] GPU KV cache size: 76,480 tokens
```

## Why

Each 0.01 of the share is 0.01 of the whole device: 0.24 GiB of a card of 24 GiB, 0.79 GiB of one of 80. The profile
runs one step of `--max-num-batched-tokens` tokens, encodes the largest pictures, and samples for `--max-num-seqs`
sequences: all of that is charged. `--max-model-len` is looked at only after there is a pool.

The same sentence has other causes, and alone it does not tell them apart: another engine on the device that is charged
to this one, 1,024 sequences by default in 0.8.0 to 0.8.3, weights that every stage of a pipeline holds whole.

## What to do

Raise the share by what is missing and one request, where nobody else needs the rest; or take less: fewer tokens in a
step, fewer sequences, quantized weights, more GPUs.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.serving import fewer_tokens
from oomph.diagnose.grounds.sizing import NoRoom, no_room
from oomph.diagnose.grounds.usual import fewer_sequences, larger_share, more_ranks
from oomph.ledger.gate import Step
from oomph.units import GIB, Bytes

CAUSE: Final = "budget_below_weights_plus_activations"

_MOST: Final = 0.7  # of the budget that weights take: then the rest of the sum is small
_LITTLE: Final = 0.4  # then something else must have taken it
_REQUEST: Final = GIB // 2  # that a pool should have for any request at all


def check(case: Case) -> Finding | None:
    """By the sum where it is printed; as one candidate of several where only the refusal is."""
    room = no_room(case)
    if room is None:
        return None
    return Finding(
        code="PS001",
        name="no-room-for-pool",
        cause=CAUSE,
        confidence=_confidence(room),
        summary=_summary(room),
        lines=tuple(dict.fromkeys((*room.shown, room.said))),
        arithmetic=room.sums,
        remedies=advised(case, Step.POOL_SIZE, tuple(_remedies(case, room))),
        unhelpful=_VAIN,
        missing=tuple(_missing(room)),
    )


_VAIN: Final = {
    "--max-model-len": "the check for any pool at all comes before the one for the longest request",
    "--gpu-memory-utilization down": "the share is what the pool is taken from: less of it leaves less",
}


def _confidence(room: NoRoom) -> float:
    if room.cut or room.uneven:
        return 0.3
    if room.spent is not None and room.budget is not None and room.spent.likely > room.budget.likely:
        return 0.9
    if room.filled is not None:
        return 0.8 if room.filled >= _MOST else 0.3 if room.filled < _LITTLE else 0.5
    if room.pools:
        return 0.65
    return 0.5 if room.weights is not None else 0.43


def _summary(room: NoRoom) -> str:
    lacking = "" if room.pool is None or room.pool.likely > 0 else f": {Bytes(max(-room.pool.likely, 0))} are missing"
    budget = "the share" if room.budget is None else f"the share, {room.budget.likely},"
    return f"{budget} is below what weights and activations take, so that nothing is left for the pool{lacking}"


def _remedies(case: Case, room: NoRoom) -> Iterator[Remedy]:
    known = room.pool is not None and room.total is not None
    lacking = 0 if room.pool is None else int(max(-room.pool.low, 0)) + _REQUEST
    larger = larger_share(room.share, lacking, int(room.total.low) if known and room.total is not None else None)
    if larger is not None:
        yield larger
    yield fewer_tokens(case)
    yield fewer_sequences(case)
    yield more_ranks(case)


def _missing(room: NoRoom) -> Iterator[str]:
    unsaid = (
        ("what weights take", room.weights is None),
        ("what activations take", room.activations is None and not room.pools),
        ("`Available KV cache memory` of each rank", not room.pools),
    )
    if lines := [what for what, absent in unsaid if absent]:
        yield f"the lines above the refusal: {', '.join(lines)}"
    if room.total is None:
        yield "how much memory the device has: then the share that is enough can be computed"
    yield from () if room.pools and not room.uneven else ("whether another engine was on the device, or starting",)
