"""The engine ran out in its profile run, when it encoded a full-size picture or recording for every sequence at once.

## What happened

Models that attend to an encoder (Llama 3.2 Vision, Whisper), and vision models of the first engine, are profiled with
`--max-num-seqs` items of the largest size: 256 pictures of four tiles by default. That is tens of gigabytes of
activations for a model of a few.

```log fires
INFO 09-27 11:18:22 model_runner.py:1025] Loading model weights took 19.9073 GB
INFO 09-27 11:18:35 enc_dec_model_runner.py:297] Starting profile run for multi-modal models.
Traceback (most recent call last):
  File "/vllm/model_executor/models/mllama.py", line 556, in forward
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 15.00 GiB. GPU 0 has a total capacity of 44.35 GiB of which 9.09 GiB is free.
```

```log silent
INFO 09-27 11:18:35 enc_dec_model_runner.py:297] Starting profile run for multi-modal models.
INFO 09-27 11:18:55 gpu_executor.py:122] # GPU blocks: 12011, # CPU blocks: 4681
```

## Why

The first number of the batch that is encoded is `--max-num-seqs`. Neither the share nor the longest request sizes it:
with `--max-model-len 32` it fails just the same.

## What to do

`--max-num-seqs 16`, or 2 to 32: what is encoded shrinks in proportion. Llama 3.2 Vision of that time also wants
`--enforce-eager`.
"""

import re
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.profiling import ENCODER, RUN, overflowed, passed, profiling
from oomph.diagnose.grounds.serving import device_overflow, through, told
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity

CAUSE: Final = "mm_profile_max_num_seqs"
HINTS: Final = (b"Starting profile run", b"pixel_values")

_BEGUN: Final = re.compile(r"Starting profile run for multi-modal models")  # worker/enc_dec_model_runner.py
_OF_ENCODERS: Final = ("enc_dec_model_runner.py", "models/mllama.py", "models/whisper.py")
_FIRST: Final = ("worker/model_runner.py", "worker/worker.py", "determine_num_available_blocks")
_TRACED: Final = re.compile(r'Traceback \(most recent call last\)|File "')


def check(case: Case) -> Finding | None:
    """It said that this profile began, and came no further; or the frames lead through such a model's encoder."""
    begun, said = case.line(_BEGUN), overflowed(case)
    if case.served or (begun is not None and passed(case, begun)):
        return None
    sure = _confidence(case, begun)
    if sure is None:
        return None
    weights = case.size(Quantity.WEIGHTS)
    return Finding(
        code="PR003",
        name="profile-of-items-for-every-sequence",
        cause=CAUSE,
        confidence=sure,
        summary=f"the profile encodes an item of full size for every sequence, and that does not fit{told(case)}",
        lines=tuple(line for line in (begun, said) if line is not None),
        arithmetic=() if weights is None else (f"the weights take {weights.likely}: what overflowed is not the model",),
        remedies=advised(case, Step.PROFILE, (_FEWER,)),
        unhelpful=_VAIN,
        missing=() if device_overflow(case) is not None else ("the end of the traceback",),
    )


_FEWER: Final = Remedy(
    change={"max_num_seqs": 16},
    lever="max_num_seqs_down",
    price="at most 16 requests run at once; the others wait",
)
_VAIN: Final = {
    "--max-model-len": "pictures are encoded for every sequence, however short it may be",
    "--gpu-memory-utilization": "the share divides what this run leaves; the run itself takes what it takes",
    "--cpu-offload-gb": "it moves weights, and what overflows are activations",
    "a smaller checkpoint": "the activations of the encoder are as large for quantized weights",
}


def _confidence(case: Case, begun: Said | None) -> float | None:
    if begun is not None:
        return 0.9 if device_overflow(case) is not None or case.line(_TRACED) is not None else 0.62
    if not profiling(case) and through(case, *RUN) is None:
        unknown = case.phase is None or case.phase_assumed
        return (
            0.6 if unknown and through(case, *_OF_ENCODERS) is not None and device_overflow(case) is not None else None
        )
    if through(case, *_OF_ENCODERS) is not None:
        return 0.85
    return 0.5 if through(case, *ENCODER) is not None and through(case, *_FIRST) is not None else None
