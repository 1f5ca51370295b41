"""SGLang has no room for a single token: the share that it may take is filled by weights.

## What happened

`--mem-fraction-static` bounds weights and token pool together. After loading, what is left of it is nothing, and SGLang
refuses to start.

```log fires
[2025-03-12 08:00:01 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=6.10 GB, mem usage=38.01 GB.
RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.
```

```log silent
[2025-03-12 08:00:01 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=31.10 GB, mem usage=15.01 GB.
[2025-03-12 08:00:04 TP0] Memory pool end. avail mem=5.02 GB
```

## Why

The token pool is fraction × total − weights. A draft model takes its part too. Above, the other wall waits: graphs and
activations need what the fraction leaves, so that it cannot be raised at will.

## What to do

Raise the fraction while something is left above it; else less of everything: weights in fewer bits, a smaller draft,
fewer graphs.
"""

from collections.abc import Iterator
from math import ceil
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy
from oomph.engines import sglang_refusals as sglang
from oomph.ledger.observation import Quantity

CAUSE: Final = "sglang_memory_pool"

HINTS: Final = (b"mem-fraction-static", b"mem_fraction_static", b"Load weight end", b"Memory pool end")

_BEYOND: Final = 3  # hundredths of the device, so that there are tokens at all
_HIGH: Final = 0.84  # above it graphs and activations soon have nothing


def check(case: Case) -> Finding | None:
    """It says so."""
    said = case.line(sglang.NO_POOL)
    if said is None:
        return None
    share = given_share(case)
    return Finding(
        code="SG001",
        name="no-room-for-tokens",
        cause=CAUSE,
        confidence=0.93,
        summary=_summary(share),
        lines=tuple(line for line in (case.line(sglang.LOADED), said) if line is not None),
        arithmetic=tuple(_arithmetic(case)),
        remedies=tuple(_remedies(share, _least(case))),
        unhelpful={
            "--context-length": "not one token fits, however long a request may be",
            "--mem-fraction-static, lower": "it makes the pool smaller still: lower helps where graphs or steps run out",
        },
        missing=() if share is not None else ("--mem-fraction-static, and whether a draft model is used",),
    )


def given_share(case: Case) -> float | None:
    """The fraction as given, or as the log says it."""
    given = case.flags.get("mem_fraction_static")
    return (
        float(given) if isinstance(given, int | float) and not isinstance(given, bool) else case.number(Quantity.SHARE)
    )


def _least(case: Case) -> float | None:
    """The part of the device that the weights take, where that is printed."""
    found = next((found for _, found in case.lines(sglang.LOADED) if found["taken"]), None)
    return None if found is None else float(found["taken"]) / (float(found["taken"]) + float(found["left"]))


def _summary(share: float | None) -> str:
    of = "the static fraction" if share is None else f"{share:g} of the device"
    return f"weights fill {of}, and nothing is left of it for tokens"


def _arithmetic(case: Case) -> Iterator[str]:
    found = next((found for _, found in case.lines(sglang.LOADED) if found["taken"]), None)
    if found is not None:
        total = float(found["taken"]) + float(found["left"])
        yield (
            f"weights {found['taken']} of about {total:.2f} GB: the fraction must be above "
            f"{float(found['taken']) / total:.2f} for the first token"
        )


def _remedies(share: float | None, least: float | None) -> Iterator[Remedy]:
    to = None if least is None else (ceil(100 * least) + _BEYOND) / 100
    known = to is not None and to < 1
    raised = Remedy(
        change={},
        act=f"raise --mem-fraction-static to {to:g}" if known else "raise --mem-fraction-static by 0.03 at a time",
        lever="sglang_mem_fraction_up",
        price="less is left for graphs and activations, which fail next when it is too high",
    )
    graphs = Remedy(
        change={},
        act="capture fewer graphs (--cuda-graph-max-bs 16), or use a smaller draft, so that the fraction can be raised",
        lever="fewer_cudagraph_sizes",
        price="larger batches decode without a graph: slower",
    )
    yield from (graphs, raised) if share is not None and share >= _HIGH else (raised, graphs)
    yield Remedy(
        change={},
        act="use weights in fewer bits",
        lever="quantised_checkpoint",
        price="answers lose some quality",
    )
    yield Remedy(
        change={}, act="use more devices: --tp", lever="tp_or_more_gpus", price="more devices, and traffic between them"
    )
