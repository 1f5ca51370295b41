"""The engine ran out while it captured CUDA graphs, although an estimate of them was set aside.

## What happened

From 0.20.0 on an estimate of the graphs is taken from the budget. It is measured with a throw-away pool; the capture
with the whole pool takes a little more. With a share of 0.97 or 0.98 nothing is left to take up the difference.

```log fires
(EngineCore pid=1) INFO 08-10 10:00:00 [gpu_model_runner.py:6142] Estimated CUDA graph memory: 0.52 GiB total
(EngineCore pid=1) INFO 08-10 10:00:01 [gpu_worker.py:462] Available KV cache memory: 6.37 GiB
(EngineCore pid=1) ERROR 08-10 10:00:36 [core.py:1108]   File "/vllm/v1/worker/gpu_model_runner.py", line 5766, in capture_model
(EngineCore pid=1) ERROR 08-10 10:00:36 [core.py:1108] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 136.00 MiB. GPU 0 has a total capacity of 23.56 GiB of which 120.88 MiB is free.
```

```log silent
(EngineCore pid=1) INFO 08-10 10:00:00 [gpu_model_runner.py:6142] Estimated CUDA graph memory: 0.52 GiB total
(EngineCore pid=1) INFO 08-10 10:00:40 [gpu_worker.py:642] CUDA graph pool memory: 0.52 GiB (actual), 0.52 GiB (estimated), difference: 0.0 GiB (0.0%).
```

## Why

What is missing is tens of MiB. The log names `VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0`: that would take the
reservation away altogether, and give it to the pool.

## What to do

A share that is smaller by 0.01, or fewer and smaller graphs.
"""

from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding
from oomph.diagnose.grounds.capturing import capturing, estimated, second_runner
from oomph.diagnose.grounds.serving import device_overflow, lacking, smaller_share, told
from oomph.diagnose.grounds.usual import EAGER, smaller_graphs
from oomph.engines.vllm.charged import GRAPHS_CHARGED
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity
from oomph.units import Bytes

CAUSE: Final = "cudagraph_estimate_underreserve"


def check(case: Case) -> Finding | None:
    """A capture that failed, in an engine that had charged an estimate."""
    said, out = capturing(case), device_overflow(case)
    first = case.release is not None and case.release in GRAPHS_CHARGED and second_runner(case) is None
    if said is None or out is None or not (estimated(case) or first):
        return None
    estimate, short = case.size(Quantity.GRAPH_ESTIMATE), lacking(case)
    return Finding(
        code="CG002",
        name="graphs-above-estimate",
        cause=CAUSE,
        confidence=0.9 if estimate is not None else 0.75,
        summary="capturing graphs takes more than was set aside for them"
        + ("" if estimate is None else f", {estimate.likely}")
        + told(case),
        lines=(said, out) if said != out else (out,),
        arithmetic=() if short is None else (f"{Bytes(short.likely)} are missing",),
        remedies=advised(case, Step.CAPTURE, (smaller_share(case, least=1), *smaller_graphs(case), EAGER)),
        unhelpful={
            "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0": "it takes the reservation away and gives it to the pool",
            "--max-model-len": "the pool takes all that is left, however short requests are",
        },
        missing=() if estimate is not None else ("the line `Estimated CUDA graph memory`",),
    )
