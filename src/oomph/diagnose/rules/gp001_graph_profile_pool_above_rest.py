"""The engine ran out while it profiled CUDA graphs, in a throw-away pool that no budget limits.

## What happened

From 0.18.0 on the engine estimates what its CUDA graphs will take before it sizes the pool. To do so it makes a pool
that it throws away afterwards. That pool has as many blocks as the largest graph has tokens (0.18.0 to 0.25.1), or as
there are sequences (0.26.0 on). A block of a model with recurrent layers holds a whole state of several MiB, not 16
tokens, and the pool becomes larger than the card.

```log fires
(EngineCore pid=1) INFO 04-24 10:21:03 [gpu_model_runner.py:4820] Model loading took 18.47 GiB memory and 10.9 seconds
(EngineCore pid=1) INFO 04-24 10:22:30 [gpu_model_runner.py:5876] Profiling CUDA graph memory: PIECEWISE=51 (largest=512), FULL=51 (largest=512)
(EngineCore pid=1) INFO 04-24 10:22:31 [kv_cache_utils.py:829] Overriding num_gpu_blocks=0 with num_gpu_blocks_override=512
(EngineCore pid=1) ERROR 04-24 10:22:36 [core.py:1108]   File "/vllm/v1/worker/gpu_model_runner.py", line 5766, in profile_cudagraph_memory
(EngineCore pid=1) ERROR 04-24 10:22:36 [core.py:1108] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.56 GiB. GPU 0 has a total capacity of 31.36 GiB of which 1.37 GiB is free.
```

```log silent
(EngineCore pid=1) INFO 04-24 10:22:36 [gpu_model_runner.py:5876] Profiling CUDA graph memory: PIECEWISE=51 (largest=512), FULL=51 (largest=512)
(EngineCore pid=1) INFO 04-24 10:22:39 [gpu_worker.py:436] Available KV cache memory: 9.37 GiB
```

## Why

The pool is made before there is any budget: `--gpu-memory-utilization`, `--max-model-len` and
`--num-gpu-blocks-override` are not looked at. `VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0` only keeps the estimate out
of the budget; the pool is made all the same.

## What to do

Fewer blocks: a smaller largest graph, or fewer sequences. Or no profile: eager, or a pool of a given size.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.arithmetic import Term, explained, pool_tensor
from oomph.diagnose.grounds.serving import ENGINE
from oomph.ledger.gate import Step
from oomph.ledger.kv import GraphProfile
from oomph.ledger.observation import Quantity
from oomph.units import Bounds, Bytes

CAUSE: Final = "graph_profile_minimal_kv"


def check(case: Case) -> Finding | None:
    """In the graph profile: the last thing said is that it began, or the traceback goes through it."""
    if case.phase is not Phase.GRAPH_PROFILE or case.failure is None or case.engine not in ENGINE:
        return None
    tried = case.size(Quantity.TRIED)
    begun = case.spoken("graphs profiled") or case.spoken("blocks overridden")
    return Finding(
        code="GP001",
        name="graph-profile-pool-above-rest",
        cause=CAUSE,
        confidence=0.95 if tried is not None else 0.7,
        summary=_summary(case, tried),
        lines=tuple(line for line in (begun, case.failure.said) if line is not None),
        arithmetic=tuple(_arithmetic(case, tried)),
        remedies=advised(case, Step.GRAPH_PROFILE, _REMEDIES),
        unhelpful=_VAIN,
        missing=()
        if case.startup is not None
        else ("the model, the flags and the GPU: then every remedy is computed",),
    )


_REMEDIES: Final = (
    Remedy(
        change={"max_num_seqs": 16},
        lever="max_num_seqs_down",
        price="at most 16 requests run at once; the others wait",
    ),
    Remedy(
        change={"max_cudagraph_capture_size": 32},
        lever="fewer_cudagraph_sizes",
        price="steps with more than 32 tokens run without a graph: slower decoding of large batches",
    ),
    Remedy(
        change={"enforce_eager": True},
        lever="enforce_eager",
        price="no graphs: slower decoding, most of all of small batches",
    ),
    Remedy(
        change={},
        act="give the size of the pool, --kv-cache-memory-bytes: graphs are then not profiled",
        lever="kv_cache_memory_bytes",
        price="nothing checks any more that all of it fits",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization": "the throw-away pool is made before there is any budget, and does not look at the share",
    "--max-model-len": "the throw-away pool has a fixed number of blocks, however long a request may be",
    "--num-gpu-blocks-override": "the profile sets it aside and puts its own number in its place",
    "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0": "it only keeps the estimate out of the budget; the pool is made all the same",
}


def _summary(case: Case, tried: Bounds | None) -> str:
    asked = "" if tried is None else f": {tried.likely} were asked for"
    profile = None if case.forecast is None else case.forecast.graph_profile
    if profile is not None and tried is not None and int(profile.tensor) in tried:
        pool = f"a throw-away pool of {profile.blocks} blocks, {profile.total} in {profile.tensors} tensors"
        return f"the graph profile makes {pool}, and it does not fit beside the weights"
    blocks = case.number(Quantity.BLOCKS_OVERRIDDEN)
    many = "" if blocks is None else f" of {blocks:.0f} blocks"
    return f"the throw-away pool{many} of the graph profile does not fit beside the weights{asked}"


def _arithmetic(case: Case, tried: Bounds | None) -> Iterator[str]:
    """What was asked for is one tensor of the pool; and how many of them were there already."""
    if tried is None:
        return
    profile = None if case.forecast is None else case.forecast.graph_profile
    match = None if profile is None else explained(tried, (_tensor(profile),))
    blocks = case.number(Quantity.BLOCKS_OVERRIDDEN)
    if match is not None:
        yield str(match)
    elif blocks:
        yield f"{tried.likely} ÷ {blocks:.0f} blocks = {Bytes(tried.likely // int(blocks))} a block"
    yield from _already(case, tried, tried.likely if match is None else match.term.size)


def _tensor(profile: GraphProfile) -> Term:
    return pool_tensor(profile.blocks, int(profile.tensor) // profile.blocks, tensors=profile.tensors)


def _already(case: Case, tried: Bounds, tensor: int) -> Iterator[str]:
    """Beyond the weights there is a whole number of such tensors, and little else."""
    allocated, weights = case.size(Quantity.ALLOCATED), case.size(Quantity.WEIGHTS)
    if allocated is None or weights is None:
        return
    beyond = allocated.likely - weights.likely
    there, rest = divmod(beyond, tensor)
    if there > 0:
        yield (
            f"{allocated.likely} allocated − {weights.likely} of weights = {Bytes(beyond)} "
            f"= {there} × {tried.likely} + {Bytes(rest)}: tensor {there + 1} failed"
        )
