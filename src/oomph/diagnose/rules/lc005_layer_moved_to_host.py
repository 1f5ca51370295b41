"""A layer was moved to the host because the device is slightly too small, and llama.cpp calls it missing support.

## What happened

llama.cpp found that a computation would run on another device than its layer is on, and says "usually due to missing
support". The layer is on the host although all were meant for the device: it did not fit there.

```log fires
sched_reserve: layer 0 is assigned to device CPU but fused Gated Delta Net (chunked) is assigned to device CUDA0 (usually due to missing support)
sched_reserve: fused Gated Delta Net (chunked) not supported, set to disabled
```

```log silent
sched_reserve: resolving fused Gated Delta Net support:
sched_reserve: fused Gated Delta Net (autoregressive) enabled
sched_reserve: fused Gated Delta Net (chunked) enabled
```

## Why

To fit, llama.cpp moves layers to the host until weights, cache and compute buffer fit. A little more context, a larger
step, a draft or an encoder of pictures is enough to push the first one out.

## What to do

One step back in what was added last: a shorter context or a smaller step.
"""

from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.buffers import refusal
from oomph.engines import llama_cpp_refusals as llamacpp

CAUSE: Final = "llamacpp_compute_buffer"

HINTS: Final = (b"missing support",)


def check(case: Case) -> Finding | None:
    """A layer on the host, and its computation on a device; no buffer was refused."""
    found = next(iter(case.lines(llamacpp.MISPLACED)), None)
    if found is None or refusal(case) is not None:
        return None
    said, placed = found
    return Finding(
        code="LC005",
        name="layer-moved-to-host",
        cause=CAUSE,
        confidence=0.65,
        summary=f"layer {placed['layer']} is on the host because {placed['device']} is slightly too small for everything",
        lines=(said,),
        remedies=(_STEP_BACK, _SHORTER),
        unhelpful={"another build": "the computation is supported; its layer is on the host"},
        missing=("whether -ngl, --override-tensor or --n-cpu-moe left layers on the host on purpose",),
    )


_STEP_BACK: Final = Remedy(
    change={},
    act="compute smaller steps (-ub 256), or leave out what was added last: a draft, an encoder of pictures",
    lever="llamacpp_fa_or_ub",
    price="prompts are read more slowly",
)
_SHORTER: Final = Remedy(
    change={},
    act="give a slightly shorter context: -c",
    lever="max_model_len_down",
    price="requests and answers together have fewer tokens",
)
