"""The engine ran out in its profile run, when it sampled for as many sequences as may run at once.

## What happened

The profile run ends with the sampler, which takes a row of the vocabulary for every sequence: logits in 32 bits, a
sort, and the order that the sort gives back, 4, 8 and 12 bytes for every word. There is no pool yet; the weights have
left less than this.

```log fires
ERROR 03-13 09:00:43 [core.py:330]   File "/vllm/v1/worker/gpu_worker.py", line 157, in determine_available_memory
ERROR 03-13 09:00:43 [core.py:330]   File "/vllm/v1/worker/gpu_model_runner.py", line 1392, in profile_run
ERROR 03-13 09:00:43 [core.py:330]   File "/vllm/v1/worker/gpu_model_runner.py", line 1291, in _dummy_sampler_run
ERROR 03-13 09:00:43 [core.py:330] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB. GPU 0 has a total capacity of 7.75 GiB of which 1.07 GiB is free.
```

```log silent
ERROR 03-13 09:00:43 [core.py:330]   File "/vllm/v1/worker/gpu_worker.py", line 157, in determine_available_memory
ERROR 03-13 09:00:43 [core.py:330]   File "/vllm/v1/worker/gpu_model_runner.py", line 1392, in profile_run
ERROR 03-13 09:00:43 [core.py:330]   File "/vllm/v1/worker/gpu_model_runner.py", line 1181, in _dummy_run
ERROR 03-13 09:00:43 [core.py:330] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB. GPU 0 has a total capacity of 7.75 GiB of which 1.07 GiB is free.
```

## Why

What is asked for follows from sequences and words alone. The share divides what the profile leaves, and is not looked
at here: it fails alike with any.

## What to do

Say how many requests shall run at once: `--max-num-seqs`. What is asked for shrinks in proportion.
"""

from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding
from oomph.diagnose.grounds.profiling import RUN, SAMPLER, overflowed, profiling
from oomph.diagnose.grounds.sampling import sampled, sentence, sequences
from oomph.diagnose.grounds.serving import through, told
from oomph.diagnose.grounds.usual import fewer_sequences, more_ranks
from oomph.ledger.gate import Step

CAUSE: Final = "sampler_logits_max_num_seqs"


def check(case: Case) -> Finding | None:
    """In the profile, through the sampler, and the more sure where the size is one of its tensors."""
    frame, said = through(case, *SAMPLER), overflowed(case)
    profiled = through(case, *RUN) is not None or profiling(case)
    if case.served or not profiled or frame is None or said is None or sentence(case) is not None:
        return None
    match = sampled(case)
    now = sequences(case) or (None if match is None else match.term.rows)
    rows = "all sequences" if now is None else f"{now:,} sequences"
    return Finding(
        code="PR002",
        name="sampler-above-rest-in-profile",
        cause=CAUSE,
        confidence=0.85 if match is None else 0.95,
        summary=f"sampling for {rows} in the profile does not fit beside the weights{told(case)}",
        lines=(frame, said),
        arithmetic=() if match is None else (str(match),),
        remedies=advised(case, Step.PROFILE, (fewer_sequences(case, now), more_ranks(case))),
        unhelpful={
            "--gpu-memory-utilization": "the share divides what this run leaves; the run itself takes what it takes",
            "--max-model-len": "the sampler counts sequences, not their length",
            "--enforce-eager": "no graph is captured in this run",
        },
        missing=() if match is not None else ("--max-num-seqs and the model: then the size is computed",),
    )
