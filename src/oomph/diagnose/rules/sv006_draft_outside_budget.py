"""A draft for speculative decoding took memory that the profile of the target had not counted.

## What happened

Speculative decoding runs a second, small model or head. The profile measured the target, and the pool took the rest;
the draft's weights, its cache and its graphs, or its steps, then came on top.

```log fires
INFO 08-30 18:00:01 api_server.py:440] vLLM API server version 0.6.3
INFO 08-30 18:00:01 api_server.py:441] args: Namespace(model='some/model', speculative_model='some/draft', num_speculative_tokens=3, gpu_memory_utilization=0.9)
INFO 08-30 18:03:01 launcher.py:27] Application startup complete.
ERROR 08-30 18:04:10 engine.py:157] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.86 GiB. GPU 0 has a total capacity of 21.99 GiB of which 337.38 MiB is free.
```

```log silent
INFO 08-30 18:00:01 api_server.py:440] vLLM API server version 0.6.3
INFO 08-30 18:00:01 api_server.py:441] args: Namespace(model='some/model', speculative_model=None, gpu_memory_utilization=0.9)
INFO 08-30 18:03:01 launcher.py:27] Application startup complete.
ERROR 08-30 18:04:10 engine.py:157] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.86 GiB. GPU 0 has a total capacity of 21.99 GiB of which 337.38 MiB is free.
```

## Why

The engine before V1 profiles its target alone. V1 profiles one guessed token per request, so that a wide draft still
takes more than was seen.

## What to do

Leave room for the draft: a share smaller by its weights and cache; or guess fewer tokens.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.serving import ENGINE, device_overflow, serving, smaller_share, through, told
from oomph.diagnose.grounds.usual import newer
from oomph.engines.history import span

CAUSE: Final = "spec_decode_draft_not_budgeted"

HINTS: Final = (b"speculative", b"spec_decode")

_TARGET_ALONE: Final = span("0.3.3", "0.10.0")  # spec_decode/spec_decode_worker.py
_OLD: Final = (
    "spec_decode/spec_decode_worker.py",
    "spec_decode/multi_step_worker.py",
    "spec_decode/mlp_speculator_worker.py",
)
_NEW: Final = ("v1/spec_decode/", "gpu/spec_decode/")
_AFTER: Final = frozenset({Phase.KV_ALLOC, Phase.GRAPH_CAPTURE, Phase.WARM_UP})
_SAID: Final = re.compile(
    r"speculative_(?:config|model)'?[=:] ?(?:'[^']|\{|SpeculativeConfig\()|Detected MTP model|num_speculative_tokens'?[=:] ?[1-9]"
)
_V1: Final = re.compile(r"Initializing a V1 LLM engine|/v1/worker/")
_GIVEN: Final = ("speculative_model", "speculative_config", "num_speculative_tokens")


def check(case: Case) -> Finding | None:
    """Out of memory once the pool is there, with a draft: its frames, or that it was asked for."""
    overflow = device_overflow(case)
    late = serving(case) or case.phase in _AFTER
    if overflow is None or case.engine not in ENGINE or not late:
        return None
    frame = through(case, *_OLD, *_NEW)
    confidence = _confidence(case, frame)
    if confidence is None:
        return None
    return Finding(
        code="SV006",
        name="draft-outside-budget",
        cause=CAUSE,
        confidence=confidence,
        summary=f"the draft of speculative decoding was not counted when the pool was sized{told(case)}",
        lines=tuple(line for line in (frame, overflow) if line is not None),
        remedies=tuple(_remedies(case)),
        unhelpful={
            "--max-model-len": "the pool takes the rest of the share whatever the length, and the draft still comes on top",
            "--gpu-memory-utilization up": "it enlarges the pool, and leaves the draft less than it has now",
        },
        missing=()
        if frame is not None
        else ("the same start without speculation: if it runs, the draft is the cause",),
    )


def _confidence(case: Case, frame: Said | None) -> float | None:
    """Sure where the target alone was profiled; else only if the draft itself ran out."""
    asked = _asked_for(case)
    alone = frame is not None and "v1/" not in frame.text and "gpu/spec" not in frame.text
    if asked and (alone or _old_engine(case)):
        return 0.88
    if alone:
        return 0.85
    if frame is not None:
        return 0.8
    if not asked or case.phase in _AFTER - {Phase.GRAPH_CAPTURE}:
        return None
    return 0.5 if case.flags.get("speculative_model") else 0.4


def _old_engine(case: Case) -> bool:
    """One that profiles its target alone; from 0.8.0 to 0.9.2 there were both."""
    return case.release is not None and case.release in _TARGET_ALONE and case.line(_V1) is None


def _asked_for(case: Case) -> bool:
    given = any(case.flags.get(name) for name in _GIVEN)
    return given or case.line(_SAID) is not None


def _remedies(case: Case) -> Iterator[Remedy]:
    yield smaller_share(case)
    price = "fewer tokens are guessed at once: less gain from speculation"
    yield Remedy(
        change={},
        act="guess fewer tokens (num_speculative_tokens), or use a smaller draft",
        lever="smaller_draft",
        price=price,
    )
    if _old_engine(case):
        yield newer("0.10.0", "it loads the draft before it profiles")
