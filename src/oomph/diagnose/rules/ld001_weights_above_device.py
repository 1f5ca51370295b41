"""The weights of this rank are larger than the device.

## What happened

The engine ran out while it made room for weights. Nothing else was on the device: no pool, no graphs, no activations.

```log fires
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104]   File "/vllm/model_executor/model_loader/base_loader.py", line 50, in load_model
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104]   File "/vllm/model_executor/layers/linear.py", line 208, in create_weights
(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of 23.52 GiB of which 131.06 MiB is free. Including non-PyTorch memory, this process has 23.38 GiB memory in use. Of the allocated memory 22.90 GiB is allocated by PyTorch, and 12.48 MiB is reserved by PyTorch but unallocated.
```

```log silent
(EngineCore pid=7) INFO 05-11 09:14:02 [gpu_model_runner.py:4820] Model loading took 18.47 GiB memory and 10.912345 seconds
(EngineCore pid=7) ERROR 05-11 09:14:09 [core.py:1104]   File "/vllm/v1/worker/gpu_worker.py", line 390, in determine_available_memory
(EngineCore pid=7) ERROR 05-11 09:14:09 [core.py:1104] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.06 GiB is free.
```

## Why

Parameters × bytes, divided over the ranks of `--tensor-parallel-size`, plus what a quantized checkpoint leaves in
16 bits: embeddings, the head, attention in some, vision towers. The engine's own message advises a lower
`--gpu-memory-utilization`; that only limits the pool, and there is none yet.

## What to do

A checkpoint with fewer bits, or more devices. Parts of the weights can live in host memory, at a price for every token.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case, Platform
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.arithmetic import embedding, explained
from oomph.diagnose.grounds.loading import (
    account,
    converting,
    filled,
    load_forecast,
    making,
    much_free,
    overflow_told,
    overflowed_loading,
    reading,
    stored_small,
)
from oomph.diagnose.grounds.others import crowded
from oomph.diagnose.grounds.usual import more_ranks
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.observation import Quantity

CAUSE: Final = "weights_exceed_gpu"

# Words and width of models that are served a lot, from their published config.json.
_TABLES: Final = (
    *((128256, width) for width in (3072, 4096, 8192)),  # Llama 3
    *((152064, width) for width in (3584, 5120, 8192)),  # Qwen 2.5
    *((151936, width) for width in (2560, 4096, 5120)),  # Qwen 3
    *((32000, 4096), (32768, 4096), (131072, 5120)),  # Mistral
    *((256000, 3584), (256000, 4608), (262208, 3840), (262208, 5376)),  # Gemma
    *((201088, 2880), (129280, 7168)),  # gpt-oss, DeepSeek
)


def check(case: Case) -> Finding | None:
    """While rooms for weights were made; less sure where only the phase is known."""
    if not overflowed_loading(case) or case.failure is None:
        return None
    overflow = case.spoken("load overflowed")
    return Finding(
        code="LD001",
        name="weights-above-device",
        cause=CAUSE,
        confidence=_confidence(case),
        summary=_summary(case),
        lines=tuple(line for line in (case.failure.said, overflow) if line is not None),
        arithmetic=(*account(case), *_tensor(case)),
        remedies=advised(case, Step.LOAD, _remedies(case)),
        unhelpful=_VAIN,
        missing=()
        if case.startup is not None
        else ("the model, the flags and the GPU: then its weights are computed",),
    )


def _confidence(case: Case) -> float:
    if crowded(case) or much_free(case) or Platform.MIG in case.platform:
        return 0.35
    forecast = load_forecast(case)
    if forecast is Verdict.OVERFLOWS:
        return 0.95
    if forecast is Verdict.FITS or converting(case) is not None:
        return 0.45
    if making(case) is not None:
        return 0.9
    if overflow_told(case) and not reading(case):
        return 0.7
    return 0.3 if case.phase_assumed else 0.7 if filled(case) and not reading(case) else 0.5


def _summary(case: Case) -> str:
    allocated, total = case.size(Quantity.ALLOCATED), case.size(Quantity.DEVICE_TOTAL)
    if allocated is None or total is None:
        return "the weights do not fit on the device: it was full before all of them were there"
    return f"the weights do not fit: {allocated.likely} of {total.likely} are full of them, and more are to come"


def _tensor(case: Case) -> Iterator[str]:
    """Whether what was asked for is a tensor that has a name."""
    tried = case.size(Quantity.TRIED)
    if tried is not None and case.frame("vocab_parallel_embedding", "ParallelLMHead") is not None:
        ranks = case.flags.count("tensor_parallel_size")
        terms = (next(embedding((words,), (width,), ranks=ranks)) for words, width in _TABLES)
        if (found := explained(tried, terms)) is not None:
            yield str(found)


def _remedies(case: Case) -> tuple[Remedy, ...]:
    """Fewer bits first, unless it has few already."""
    return (
        (more_ranks(case), _FEWER_BITS, _OFFLOAD) if stored_small(case) else (_FEWER_BITS, more_ranks(case), _OFFLOAD)
    )


_FEWER_BITS: Final = Remedy(
    change={},
    act="serve a checkpoint of the same model with fewer bits: FP8 halves 16 bits, 4 bits quarter most of it",
    lever="quantised_checkpoint",
    price="some accuracy; what such a checkpoint leaves in 16 bits does not shrink",
)
_OFFLOAD: Final = Remedy(
    change={"cpu_offload_gb": 8},
    lever="host_memory",
    price="8 GiB of weights live on the host and cross to the device for every step: several times slower",
)
_VAIN: Final = {
    "--gpu-memory-utilization": "the share only limits the pool, and there is none yet; the engine's own message is wrong here",
    "--max-model-len, --max-num-seqs, --max-num-batched-tokens": "nothing of what they size is there yet",
    "--enforce-eager": "no graph is captured before the weights are there",
    "expandable_segments": "next to nothing is reserved and unused; the device is full",
    "--swap-space": "it is host memory for requests, not for weights",
}
