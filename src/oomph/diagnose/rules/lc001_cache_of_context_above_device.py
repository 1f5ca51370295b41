"""llama.cpp's cache of keys and values does not fit: it is made for the whole context at once.

## What happened

llama.cpp allocates the cache for all of `n_ctx` tokens before it answers anything, and without `-c` that is as much as
the model was trained for, a million tokens with some. A device, or the host, could not give it.

```log fires
llama_context: n_ctx         = 131072
llama_context: n_ubatch      = 512
ggml_backend_cuda_buffer_type_alloc_buffer: allocating 16384.00 MiB on device 0: cudaMalloc failed: out of memory
llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache
```

```log silent
llama_context: n_ctx         = 4096
llama_kv_cache:      CUDA0 KV buffer size =   512.00 MiB
sched_reserve:      CUDA0 compute buffer size =   304.75 MiB
```

## Why

Unlike vLLM's, this cache is not made of what is left over: its size is the context times layers, heads and bytes, and
it has to fit beside the weights.

## What to do

A shorter context; then a cache of 8 bits, or fewer layers on the device.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.buffers import Buffer, Refusal, refusal
from oomph.engines import llama_cpp_refusals as llamacpp
from oomph.units import MIB, Bytes

CAUSE: Final = "llamacpp_kv_default_context"

HINTS: Final = (b"kv cache", b"kv_cache", b"n_ctx", b"cudaMalloc", b"KV buffer", b"KV self")

_SHORTER: Final = 4  # times, where nothing tells what fits
_BESIDE: Final = 512 * MIB  # for the compute buffer, which comes after the cache
_STEP: Final = 1024  # tokens by which a context is advised
_FREE: Final = re.compile(r"using device \D{2,12}(?P<device>[0-9]{1,3}) \(.{1,120}\) - (?P<mib>[0-9]{1,9}) MiB free")


def check(case: Case) -> Finding | None:
    """It says that it was the cache; or it had its weights, and asked for a round number of MiB."""
    refused = refusal(case)
    if refused is None or refused.buffer is not Buffer.CACHE:
        return None
    tokens = _context(case)
    asked = "" if refused.size is None else f" of {refused.size.likely}"
    long = "the context" if tokens is None else f"{tokens:,} tokens of context"
    return Finding(
        code="LC001",
        name="cache-of-context-above-device",
        cause=CAUSE,
        confidence=_confidence(refused),
        summary=f"the cache{asked} for {long}, made at once, does not fit",
        lines=(refused.said,),
        arithmetic=tuple(_arithmetic(case, refused, tokens)),
        remedies=tuple(_remedies(tokens, _fitting(case, refused, tokens))),
        unhelpful={
            "shorter prompts": "the cache is made for the longest one before any comes",
            "-b / -ub": "they size the compute buffer, not the cache",
        },
        missing=() if tokens is not None else ("the lines with n_ctx and n_layer: then the size can be checked",),
    )


def _confidence(refused: Refusal) -> float:
    if refused.told:
        return 0.95
    return 0.62 if refused.likely else 0.5


def _context(case: Case) -> int | None:
    found = next((found for _, found in case.lines(llamacpp.CONTEXT)), None)
    return int(found["tokens"]) if found is not None else case.flags.positive("ctx_size")


def _room(case: Case, refused: Refusal) -> tuple[Bytes, Bytes] | None:
    """What was free on the device that refused, and the weights that have gone there since."""
    device = str(refused.device or 0)
    free = next((found for _, found in case.lines(_FREE) if found["device"] == device), None)
    held = [found for _, found in case.lines(llamacpp.LOADED) if found["buffer"].strip("_").endswith(device)]
    if free is None or not held:
        return None
    return Bytes(int(free["mib"]) * MIB), Bytes(round(sum(float(found["mib"]) for found in held) * MIB))


def _fitting(case: Case, refused: Refusal, tokens: int | None) -> int | None:
    """How many tokens fit beside the weights, in whole steps; None where the figures do not tell."""
    room = _room(case, refused)
    if room is None or refused.size is None or not tokens:
        return None
    left = room[0] - room[1] - _BESIDE
    fitting = max(0, left) * tokens // int(refused.size.high) // _STEP * _STEP
    return fitting if fitting < tokens else None


def _arithmetic(case: Case, refused: Refusal, tokens: int | None) -> Iterator[str]:
    if refused.size is None or not tokens:
        return
    each = refused.size.likely // tokens
    yield f"{refused.size.likely} = {tokens:,} tokens × {each:,} B: {Bytes(each)} for each token, on this device alone"
    room, fitting = _room(case, refused), _fitting(case, refused, tokens)
    if room is not None and fitting is not None:
        yield (
            f"{room[0]} free − {room[1]} of weights − {Bytes(_BESIDE)} for the compute buffer "
            f"= {Bytes(max(0, room[0] - room[1] - _BESIDE))}: {fitting:,} tokens"
        )


def _remedies(tokens: int | None, fitting: int | None) -> Iterator[Remedy]:
    """What fits by the log's own figures; eight bits alone only where half of it does."""
    if fitting is None:
        yield from (_shorter(_STEP * 8 if tokens is None else max(_STEP, tokens // _SHORTER)), _EIGHT_BITS)
    elif fitting:
        twice = fitting * 32 // 17 // _STEP * _STEP  # q8_0: 34 B for 32 numbers
        yield _shorter(fitting)
        shorter = "" if tokens is None or twice >= tokens else f" -c {twice}"
        yield replace(_EIGHT_BITS, act=f"{_EIGHT_BITS.act}{shorter}")
    yield _FEWER_LAYERS


def _shorter(most: int) -> Remedy:
    return Remedy(
        change={},
        act=f"give the context that is needed: -c {most}",
        lever="max_model_len_down",
        price=f"requests and answers together have at most {most} tokens",
    )


_EIGHT_BITS: Final = Remedy(
    change={},
    act="keep the cache in 8 bits: -fa on --cache-type-k q8_0 --cache-type-v q8_0",
    lever="llamacpp_fa_or_ub",
    price="half the size; answers differ slightly",
)
_FEWER_LAYERS: Final = Remedy(
    change={},
    act="leave some layers on the host (-ngl), or give another device a larger part (--tensor-split)",
    lever="tp_or_more_gpus",
    price="layers on the host are slow",
)
