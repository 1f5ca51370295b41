"""SGLang ran out of slots for tokens or requests. No device memory was asked for: its own books did not add up.

## What happened

The token pool is made once, and slots of it are handed out. A batch was admitted for which there were not enough. The
message says "out of memory", but means slots.

```log fires
RuntimeError: Prefill out of memory. Try to lower your batch size.
Try to allocate 8192 tokens.
Available tokens: 8191
```

```log silent
[2025-04-05 10:00:00 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_tokens_gained: 811
```

## Why

Before a batch runs, SGLang estimates what it will need, and evicts what it can. Where it counts wrong, by pages, by
windows, or by states of hybrid models, the pool refuses. That is a mistake of a release, not a lack of memory.

## What to do

Another release; until then fewer requests at once.
"""

from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.engines import sglang_refusals as sglang

CAUSE: Final = "sglang_memory_pool"

HINTS: Final = (b"out of memory", b"alloc_req_slots", b"Retract requests", b"memory leak detected")


def check(case: Case) -> Finding | None:
    """It says so, and no device was asked."""
    said = case.line(sglang.NO_SLOTS)
    if said is None:
        return None
    tokens = next((found["tokens"] for _, found in case.lines(sglang.WANTED)), None)
    asked = "" if tokens is None else f" {int(tokens):,} tokens"
    return Finding(
        code="SG003",
        name="slots-of-tokens-used-up",
        cause=CAUSE,
        confidence=0.95,
        summary=f"the token pool has no slots for{asked or ' a batch that was admitted'}; device memory was not asked for",
        lines=(said,),
        remedies=(_NEWER, _FEWER),
        unhelpful={
            "PYTORCH_CUDA_ALLOC_CONF": "no device memory was asked for",
            "--mem-fraction-static, lower": "it makes the pool smaller: fewer slots",
        },
        missing=("SGLang's version, --page-size, and whether the model has windows or states",),
    )


_NEWER: Final = Remedy(
    change={},
    act="upgrade SGLang: the accounting by pages was repaired in 0.4.5 and 0.4.8, that of hybrid models later",
    lever="upgrade",
    price="none but that of an upgrade",
)
_FEWER: Final = Remedy(
    change={},
    act="run fewer requests at once: --max-running-requests",
    lever="max_num_seqs_down",
    price="the others wait",
)
