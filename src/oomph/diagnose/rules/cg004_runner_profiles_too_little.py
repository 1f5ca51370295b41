"""The second model runner does not profile everything, and the pool took what that needs.

## What happened

The second model runner, the default for dense models from 0.25.0 on, tells an estimate of 0 for its graphs up to 0.28,
and its profile leaves out the sampler's kernels and the encoders of pictures. All of that is missing from the budget:
the pool is larger by it, and something that reads like an unrelated crash runs out afterwards.

```log fires
(EngineCore pid=1) INFO 07-10 10:00:00 [gpu_worker.py:261] Using V2 Model Runner
(EngineCore pid=1) INFO 07-10 10:00:41 [gpu_worker.py:462] Available KV cache memory: 21.37 GiB
(EngineCore pid=1) ERROR 07-10 10:01:36 [core.py:1108]   File "/vllm/v1/worker/gpu/model_runner.py", line 701, in capture_model
(EngineCore pid=1) ERROR 07-10 10:01:36 [core.py:1108] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 136.00 MiB. GPU 0 has a total capacity of 47.40 GiB of which 120.88 MiB is free.
```

```log silent
(EngineCore pid=1) INFO 07-10 10:00:00 [gpu_worker.py:261] Using V2 Model Runner
(EngineCore pid=1) INFO 07-10 10:01:36 [core.py:138] init engine (profile, create kv cache, warmup model) took 61.02 seconds
```

## Why

`VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=1` is on already, and takes the 0 from the budget. From 0.29.0 on the second
runner estimates its graphs.

## What to do

The size of pool that the summary of a start-up suggests "to fit into requested memory"; or a share that is smaller by
what is missing; or the first runner, `VLLM_USE_V2_MODEL_RUNNER=0`.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.capturing import capturing, estimated, second_runner
from oomph.diagnose.grounds.profiling import ENCODER, cut, overflowed
from oomph.diagnose.grounds.serving import device_overflow, smaller_share, through, told
from oomph.diagnose.grounds.usual import fewer_sequences, newer
from oomph.engines.vllm.charged import SECOND_RUNNER_SILENT
from oomph.ledger.gate import Step

CAUSE: Final = "v2_runner_unprofiled_component"
HINTS: Final = (b"Model Runner",)

_SAMPLER: Final = ("sample_tokens", "warmup_kernels", "v1/worker/gpu/sample/", "flashinfer/sampling.py")
_BEFORE: Final = frozenset({Phase.LOAD, Phase.PROFILE, Phase.HOST, Phase.GRAPH_PROFILE})


def check(case: Case) -> Finding | None:
    """The second runner, out of memory in a part that it does not profile."""
    runner, out = second_runner(case), overflowed(case) if cut(case) else device_overflow(case)
    if runner is None or out is None or case.phase in _BEFORE or estimated(case):
        return None
    part = _part(case)
    if part is None or (case.release is not None and case.release not in SECOND_RUNNER_SILENT and part == _GRAPHS):
        return None
    return Finding(
        code="CG004",
        name="runner-profiles-too-little",
        cause=CAUSE,
        confidence=0.65 if cut(case) else 0.9 if case.spoken("runner") is not None else 0.82,
        summary=f"the second model runner does not profile {part}, and the pool took what that needs{told(case)}",
        lines=(runner, out),
        remedies=advised(case, Step.CAPTURE if part != _PICTURES else Step.SERVING, tuple(_remedies(case, part))),
        unhelpful={"VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=1": "it is on already; this runner estimates 0"},
        missing=("the log from its beginning: that no line `Estimated CUDA graph memory` was said",)
        if cut(case)
        else (),
    )


_GRAPHS: Final = "its graphs"
_PICTURES: Final = "the encoder of pictures"


def _part(case: Case) -> str | None:
    """What it ran out in, of the parts that are not profiled."""
    if through(case, *_SAMPLER) is not None:
        return "the sampler's kernels"
    if through(case, *ENCODER) is not None:
        return _PICTURES
    return _GRAPHS if capturing(case) is not None else None


def _remedies(case: Case, part: str) -> Iterator[Remedy]:
    yield smaller_share(case)
    yield Remedy(
        change={"VLLM_USE_V2_MODEL_RUNNER": "0"},
        lever="v1_model_runner",
        price="without what the second runner gains",
    )
    if part == _GRAPHS:
        yield newer("0.29.0", "the second runner estimates its graphs: the pool is smaller")
    if part != _PICTURES:
        yield fewer_sequences(case)
