"""SGLang's weights and token pool took so much that graphs or a step found no room.

## What happened

`--mem-fraction-static` was taken whole by weights and token pool. What comes after, capturing graphs, workspaces, the
activations of a step, has to fit into the rest, and did not.

```log fires
[2025-04-11 14:00:01 TP7] Memory pool end. avail mem=3.02 GB
Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 448.00 MiB. GPU 7 has a total capacity of 95.00 GiB of which 211.00 MiB is free.
```

```log silent
RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.
```

## Why

The pool is made first and never shrinks. Everything later competes for total × (1 − fraction).

## What to do

A smaller fraction; fewer graphs; smaller steps. This is the opposite of what its other memory error asks for.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.serving import device_overflow, told
from oomph.diagnose.rules.sg001_no_room_for_tokens import given_share
from oomph.engines import sglang_refusals as sglang

CAUSE: Final = "sglang_memory_pool"

HINTS: Final = (b"graph failed",)

_HIGH: Final = 0.9
_MEMORY: Final = re.compile(r"out of memory", re.IGNORECASE)


def check(case: Case) -> Finding | None:
    """Out of memory in the capture; or anywhere after the pool was made."""
    captured = next((said for said, found in case.lines(sglang.CAPTURE_FAILED) if _MEMORY.search(found["why"])), None)
    overflow = captured or device_overflow(case)
    ours = case.engine == "SGLang" or given_share(case) is not None or captured is not None
    loading = case.phase is Phase.LOAD and not case.phase_assumed
    if overflow is None or not ours or loading or any(map(case.line, (sglang.NO_POOL, sglang.NO_SLOTS))):
        return None
    share = given_share(case)
    return Finding(
        code="SG002",
        name="static-share-leaves-too-little",
        cause=CAUSE,
        confidence=_confidence(case, captured, share),
        summary=f"weights and token pool leave too little for {_what(case, captured)}{told(case)}",
        lines=tuple(line for line in (case.line(sglang.POOLED), overflow) if line is not None),
        remedies=tuple(_remedies(case, share)),
        unhelpful={
            "--mem-fraction-static, higher": "it leaves graphs and steps less still; higher helps where not one token fits",
            "--context-length": "the token pool takes its fraction whatever the length",
        },
        missing=() if share is not None else ("--mem-fraction-static, and the lines with avail mem",),
    )


def _confidence(case: Case, captured: Said | None, share: float | None) -> float:
    if captured is not None:
        return 0.93
    if case.line(sglang.POOLED) is not None or (share is not None and share >= _HIGH):
        return 0.78
    return 0.66


def _what(case: Case, captured: Said | None) -> str:
    return "capturing graphs" if captured is not None or case.phase is Phase.GRAPH_CAPTURE else "what comes after"


def _remedies(case: Case, share: float | None) -> Iterator[Remedy]:
    lower = "lower --mem-fraction-static by 0.05" if share is None else f"--mem-fraction-static {share - 0.05:.2f}"
    price = "the token pool shrinks by 0.05 of the device: fewer requests run at once"
    yield Remedy(change={}, act=lower, lever="sglang_mem_fraction_down", price=price)
    if case.phase not in {Phase.SERVING_PREFILL, Phase.SERVING_DECODE}:
        price = "larger batches decode without a graph: slower"
        act = "capture fewer graphs: --cuda-graph-max-bs 16"
        yield Remedy(change={}, act=act, lever="fewer_cudagraph_sizes", price=price)
    price = "long prompts are read in smaller steps: slower"
    act = "halve the tokens of a step: --chunked-prefill-size 4096"
    yield Remedy(change={}, act=act, lever="enable_chunked_prefill", price=price)
