"""llama.cpp could not put the weights of the layers that it was told to on the device.

## What happened

While loading, llama.cpp asked for one buffer for all weights of a device, and was refused.

```log fires
ggml_backend_cuda_buffer_type_alloc_buffer: allocating 18432.55 MiB on device 0: cudaMalloc failed: out of memory
alloc_tensor_range: failed to allocate CUDA0 buffer of size 19327934464
llama_model_load: error loading model: unable to allocate CUDA0 buffer
```

```log silent
load_tensors:        CUDA0 model buffer size = 18432.55 MiB
llama_kv_cache:      CUDA0 KV buffer size =   512.00 MiB
sched_reserve:      CUDA0 compute buffer size =   304.75 MiB
```

## Why

`-ngl` says how many layers go to the device; 99 means all. A file of 20 GB needs 20 GB there, plus cache and compute
buffer.

## What to do

Fewer layers on the device, or a smaller quantization.
"""

from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.buffers import Buffer, refusal

CAUSE: Final = "weights_exceed_gpu"

HINTS: Final = (b"unable to allocate", b"error loading model", b"alloc_tensor_range")


def check(case: Case) -> Finding | None:
    """It says so; or a lone refusal of an odd number of MiB, which may be weights as well as a compute buffer."""
    refused = refusal(case)
    told = refused is not None and refused.buffer is Buffer.WEIGHTS
    if refused is None or not (told or (refused.buffer is Buffer.COMPUTE and not refused.likely)):
        return None
    asked = "" if refused.size is None else f" of {refused.size.likely}"
    return Finding(
        code="LC004",
        name="weights-of-layers-above-device",
        cause=CAUSE,
        confidence=0.93 if told else 0.4,
        summary=f"the weights{asked} of the layers that go to the device do not fit there",
        lines=(refused.said,),
        remedies=(_FEWER_LAYERS, _SMALLER),
        unhelpful={
            "-c": "the cache is only made after the weights",
            "-ub": "the compute buffer is only made after the weights",
        },
        missing=() if told else ("the lines after the refusal: they say which buffer it was",),
    )


_FEWER_LAYERS: Final = Remedy(
    change={},
    act="put fewer layers on the device (-ngl), or leave the choice to --fit on",
    lever="llamacpp_fa_or_ub",
    price="layers on the host are slow",
)
_SMALLER: Final = Remedy(
    change={},
    act="use a smaller quantization of the model",
    lever="quantised_checkpoint",
    price="answers lose some quality",
)
