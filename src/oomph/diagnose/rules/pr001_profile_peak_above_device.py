"""The engine ran out in its profile run: one full step does not fit beside the weights.

## What happened

After the weights are loaded the engine runs one step of `--max-num-batched-tokens` tokens, to see what it takes at
most. There is no pool yet and no graph: only weights, and what this step needs.

```log fires
(EngineCore pid=1) INFO 06-10 10:00:00 [gpu_model_runner.py:2892] Model loading took 22.1038 GiB and 31.103412 seconds
(EngineCore pid=1) ERROR 06-10 10:00:09 [core.py:632]   File "/vllm/v1/worker/gpu_worker.py", line 221, in determine_available_memory
(EngineCore pid=1) ERROR 06-10 10:00:09 [core.py:632]   File "/vllm/v1/worker/gpu_model_runner.py", line 2410, in profile_run
(EngineCore pid=1) ERROR 06-10 10:00:09 [core.py:632]   File "/vllm/v1/worker/gpu_model_runner.py", line 2181, in _dummy_run
(EngineCore pid=1) ERROR 06-10 10:00:09 [core.py:632] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of 23.57 GiB of which 605.88 MiB is free.
```

```log silent
(EngineCore pid=1) INFO 06-10 10:00:00 [gpu_model_runner.py:2892] Model loading took 22.1038 GiB and 31.103412 seconds
(EngineCore pid=1) INFO 06-10 10:00:09 [gpu_worker.py:276] Available KV cache memory: 0.31 GiB
```

## Why

The profile takes what it takes: no share limits it, and `--max-model-len` counts only where prompts are not read in
pieces. On a card that the weights nearly fill, the tokens of one step are what can be made smaller.

## What to do

Fewer tokens in a step, fewer sequences; a checkpoint with fewer bits, or more GPUs.
"""

from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding
from oomph.diagnose.grounds.profiling import RUN, STEP, of_experts, overflowed, profiling
from oomph.diagnose.grounds.serving import device_overflow, fewer_tokens, through, told
from oomph.diagnose.grounds.usual import fewer_sequences, more_ranks
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity

CAUSE: Final = "weights_exceed_gpu"

_NEARLY: Final = 0.8  # of the device that the weights fill


def check(case: Case) -> Finding | None:
    """In the profile, without anything that says more: what is left when no other rule knows why."""
    said = overflowed(case)
    if not profiling(case) or device_overflow(case) is None or said is None:
        return None
    if through(case, *RUN, *STEP) is None and case.size(Quantity.TRIED) is None:
        return None
    return Finding(
        code="PR001",
        name="profile-peak-above-device",
        cause=CAUSE,
        confidence=0.62 if _filled(case) else 0.45,
        summary=f"one full step does not fit beside the weights{told(case)}",
        lines=(said,),
        arithmetic=of_experts(case),
        remedies=advised(case, Step.PROFILE, (fewer_tokens(case), more_ranks(case), fewer_sequences(case))),
        unhelpful={
            "--gpu-memory-utilization": "the share divides what this run leaves; the run itself takes what it takes",
            "--enforce-eager": "no graph is captured in this run",
        },
        missing=("the whole traceback: in which part of the model it ran out", "the flags, the model and the GPU"),
    )


def _filled(case: Case) -> bool:
    """Whether the weights leave little."""
    weights, total = case.size(Quantity.WEIGHTS), case.size(Quantity.DEVICE_TOTAL)
    return weights is not None and total is not None and weights.likely >= _NEARLY * total.likely
