"""Pictures, video or sound of real requests needed more in their encoder than the profile run had seen.

## What happened

The engine was up. The encoder of a multimodal model was given what requests brought, and ran out: the items were larger
or more than those it was profiled with, or what it had encoded before was still held.

```log fires
(Worker_TP0 pid=212) ERROR 10-31 03:29:24 [multiproc_executor.py:671]   File "/vllm/v1/worker/gpu_model_runner.py", line 1590, in _execute_mm_encoder
(Worker_TP0 pid=212) ERROR 10-31 03:29:24 [multiproc_executor.py:671]   File "/vllm/model_executor/models/qwen3_vl.py", line 1378, in get_multimodal_embeddings
(Worker_TP0 pid=212) ERROR 10-31 03:29:24 [multiproc_executor.py:671] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 4 has a total capacity of 79.10 GiB of which 0.91 GiB is free.
```

```log silent
(Worker_TP0 pid=212) ERROR 10-31 03:29:24 [multiproc_executor.py:671]   File "/vllm/v1/worker/gpu_model_runner.py", line 2890, in profile_run
(Worker_TP0 pid=212) ERROR 10-31 03:29:24 [multiproc_executor.py:671]   File "/vllm/model_executor/models/qwen3_vl.py", line 1378, in get_multimodal_embeddings
(Worker_TP0 pid=212) ERROR 10-31 03:29:24 [multiproc_executor.py:671] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 4 has a total capacity of 79.10 GiB of which 0.91 GiB is free.
```

## Why

The profile runs the largest item of one kind, as the processor would make it. Several kinds at once, sizes that the
processor was told to allow, and attention inside the encoder that grows with the square of a picture are not in it.

## What to do

Bound what a request may bring. Where memory grows from step to step with pictures only, what is encoded stays
referenced: the encoder's cache has to be cleared (`reset_encoder_cache`).
"""

from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.serving import (
    ENGINE,
    device_overflow,
    serving,
    smaller_share,
    starting,
    through,
    told,
    untold,
)
from oomph.ledger.gate import Step

CAUSE: Final = "mm_encoder_runtime_memory"

HINTS: Final = (b"mm_encoder", b"multimodal")

_STEP: Final = ("_execute_mm_encoder", "execute_mm_encoder")  # v1/worker/gpu_model_runner.py, gpu/mm/encoder_runner.py
_ENCODER: Final = (
    *("get_multimodal_embeddings", "embed_multimodal", "_process_image_input", "_process_video_input"),
    *("_process_audio_input", "_process_vision_input"),
)


def check(case: Case) -> Finding | None:
    """Frames of a step's encoder; or of the encoder itself, after the start."""
    if case.engine not in ENGINE or starting(case) or through(case, "profile_run") is not None:
        return None
    step = through(case, *_STEP)
    overflow = device_overflow(case)
    frame = step or (through(case, *_ENCODER) if serving(case) else None)
    if frame is None or (overflow is None and not untold(case)):
        return None
    return Finding(
        code="SV005",
        name="encoder-above-rest",
        cause=CAUSE,
        confidence=_confidence(case, told_so=overflow is not None),
        summary=f"the encoder of pictures, video or sound needs more than the profile run left{told(case)}",
        lines=tuple(line for line in (frame, overflow) if line is not None),
        remedies=advised(case, Step.SERVING, (_BOUND, _SMALLER, smaller_share(case), _NEWER)),
        unhelpful={
            "--enforce-eager": "the encoder runs without graphs anyway",
            "--mm-processor-cache-gb 0": "that cache is the host's",
            "--max-model-len": "the encoder sees items, not the length of a request",
        },
        missing=() if overflow is not None else ("the last line of the traceback: what was asked for, what was free",),
    )


def _confidence(case: Case, *, told_so: bool) -> float:
    """The second runner does not profile the encoder at all, which is another matter."""
    if through(case, "gpu/mm/encoder_runner.py") is not None:
        return 0.7
    return 0.92 if told_so else 0.75


_BOUND: Final = Remedy(
    change={},
    act='bound what a request may bring: --limit-mm-per-prompt \'{"video": 0, "image": 1}\'',
    lever="mm_limits",
    price="requests with more are refused",
)
_SMALLER: Final = Remedy(
    change={},
    act="bound the size of an item: --mm-processor-kwargs with max_pixels (or size) of what is needed",
    lever="mm_limits",
    price="larger pictures are scaled down before they are seen",
)
_NEWER: Final = Remedy(
    change={},
    act="upgrade vLLM",
    lever="upgrade",
    price="none but that of an upgrade; newer releases bound attention inside encoders",
)
