"""llama.cpp's compute buffer does not fit beside weights and cache.

## What happened

Weights and cache were there. Then llama.cpp reserved the buffer in which it computes its largest step, and the device
could not give it.

```log fires
llama_kv_cache:      CUDA0 KV buffer size = 12327.00 MiB
llama_context: pipeline parallelism enabled (n_copies=4)
ggml_backend_cuda_buffer_type_alloc_buffer: allocating 12710.31 MiB on device 0: cudaMalloc failed: out of memory
ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 13327728640
llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers
```

```log silent
llama_context: pipeline parallelism enabled (n_copies=4)
ggml_backend_cuda_buffer_type_alloc_buffer: allocating 12710.31 MiB on device 0: cudaMalloc failed: out of memory
ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 13327728640
llama_context: compute buffer allocation failed, retrying without pipeline parallelism
llama_context:      CUDA0 compute buffer size =  3120.01 MiB
```

## Why

Without flash attention the buffer holds scores of every token of a step against the whole context: context × step ×
heads. With several devices it is kept four times, so that they can work at once. An encoder of pictures has one of its
own, that grows with the picture.

## What to do

Flash attention and smaller steps (`-ub`); one copy instead of four; the encoder on the host.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.buffers import Buffer, Refusal, refusal
from oomph.engines import llama_cpp_refusals as llamacpp
from oomph.units import Bytes

CAUSE: Final = "llamacpp_compute_buffer"

HINTS: Final = (b"ggml_", b"compute buffer", b"pipeline parallelism", b"retrying without", b"GGML_ASSERT")


def check(case: Case) -> Finding | None:
    """It says that it was a graph's buffer; or it had its cache; or nothing is known but an odd number of MiB."""
    refused = refusal(case)
    if refused is None or refused.buffer is not Buffer.COMPUTE:
        return None
    copies = _copies(case)
    asked = "" if refused.size is None else f" of {refused.size.likely}"
    return Finding(
        code="LC002",
        name="compute-buffer-above-rest",
        cause=CAUSE,
        confidence=0.95 if refused.told else 0.85 if refused.likely else 0.62,
        summary=f"the compute buffer{asked}{'' if copies is None else f', kept {copies} times,'} does not fit",
        lines=(refused.said,),
        arithmetic=tuple(_arithmetic(refused, copies)),
        remedies=tuple(_remedies(case, copies)),
        unhelpful={
            "moving layers between devices": "the buffer follows from context and step, not from the layers of a device",
            "a smaller model": "weights are not what was refused",
        },
        missing=()
        if refused.told
        else ("the lines around the refusal: ggml_gallocr_reserve_n, KV buffer size, model buffer size",),
    )


def _copies(case: Case) -> int | None:
    """How often the buffer is kept; None where it is kept once."""
    found = next((found for _, found in case.lines(llamacpp.COPIES)), None)
    return None if found is None else int(found["copies"] or 4)


def _arithmetic(refused: Refusal, copies: int | None) -> Iterator[str]:
    if refused.size is not None and copies is not None:
        each = Bytes(refused.size.likely // copies)
        yield f"{refused.size.likely} / {copies} copies = about {each} without pipeline parallelism"


def _remedies(case: Case, copies: int | None) -> Iterator[Remedy]:
    if case.line(llamacpp.ENCODER) is not None:
        yield _ENCODER_ON_HOST
        yield _SMALLER_PICTURES
    if copies is not None:
        yield _ONE_COPY
    if not _flash(case):
        yield _FLASH
    yield _SMALLER_STEPS
    yield _SHORTER


def _flash(case: Case) -> bool:
    said = next((found["on"] for _, found in case.lines(llamacpp.FLASH)), None)
    return said in {"1", "enabled", "auto"} or bool(case.flags.get("flash_attn"))


_FLASH: Final = Remedy(
    change={},
    act="switch flash attention on: -fa on",
    lever="llamacpp_fa_or_ub",
    price="none where the device supports it",
)
_SMALLER_STEPS: Final = Remedy(
    change={},
    act="compute smaller steps: -ub 256",
    lever="llamacpp_fa_or_ub",
    price="prompts are read more slowly",
)
_SHORTER: Final = Remedy(
    change={},
    act="give a shorter context: -c",
    lever="max_model_len_down",
    price="requests and answers together have fewer tokens",
)
_ONE_COPY: Final = Remedy(
    change={},
    act="build with -DGGML_SCHED_MAX_COPIES=1, or use a build from after November 2025, which goes on with one by itself",
    lever="llamacpp_fa_or_ub",
    price="devices wait for each other while a prompt is read",
)
_ENCODER_ON_HOST: Final = Remedy(
    change={},
    act="leave the encoder of pictures on the host: --no-mmproj-offload",
    lever="llamacpp_fa_or_ub",
    price="pictures are encoded slowly",
)
_SMALLER_PICTURES: Final = Remedy(
    change={},
    act="send smaller pictures, or bound them: --image-max-tokens",
    lever="mm_limits",
    price="less of a picture is seen",
)
