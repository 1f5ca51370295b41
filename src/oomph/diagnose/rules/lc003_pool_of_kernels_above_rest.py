"""llama.cpp's kernels found no room for what they need while they run.

## What happened

Weights, cache and compute buffer were there, and filled the device. While answering, a kernel needed scratch, which
comes from a pool that grows when it has to, and the driver had nothing left.

```log fires
CUDA error: out of memory
  current device: 0, in function alloc at /ggml/src/ggml-cuda/ggml-cuda.cu:589
  cuMemCreate(&handle, reserve_size, &prop, 0)
```

```log silent
ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8192.00 MiB on device 0: cudaMalloc failed: out of memory
llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache
```

## Why

Nothing reserves that pool. A cache in 8 bits with flash attention is unpacked into it, so that it grows with each
prompt that is longer than all before.

## What to do

Leave a little more free: a layer less on the device, or a shorter context.
"""

from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.buffers import Buffer, refusal
from oomph.engines import llama_cpp_refusals as llamacpp

CAUSE: Final = "llamacpp_runtime_pool"

HINTS: Final = (b"ggml_cuda_pool", b"cuMemCreate", b"current device", b"in function alloc")


def check(case: Case) -> Finding | None:
    """Out of memory in the pool of kernels."""
    refused = refusal(case)
    if refused is None or refused.buffer is not Buffer.POOL:
        return None
    where = case.line(llamacpp.POOL)
    return Finding(
        code="LC003",
        name="pool-of-kernels-above-rest",
        cause=CAUSE,
        confidence=0.93,
        summary="weights, cache and compute buffer fill the device, and kernels find no room while they run",
        lines=tuple(line for line in (case.line(llamacpp.OVERFLOW), where) if line is not None),
        remedies=(_FEWER_LAYERS, _SHORTER, _WIDE_CACHE),
        unhelpful={"shorter prompts": "the pool only grows with the longest prompt so far, and something else may ask"},
        missing=("what was free after loading: a few hundred MiB are needed",),
    )


_FEWER_LAYERS: Final = Remedy(
    change={},
    act="put one layer less on the device (-ngl), or compute smaller steps (-ub 256)",
    lever="llamacpp_fa_or_ub",
    price="a little slower",
)
_SHORTER: Final = Remedy(
    change={},
    act="give a shorter context: -c",
    lever="max_model_len_down",
    price="requests and answers together have fewer tokens",
)
_WIDE_CACHE: Final = Remedy(
    change={},
    act="with a cache in 8 bits: keep it in 16 bits (--cache-type-k f16 --cache-type-v f16) and halve the context",
    lever="llamacpp_fa_or_ub",
    price="half the context",
)
