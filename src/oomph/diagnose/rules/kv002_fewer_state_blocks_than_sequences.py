"""The pool has fewer blocks for states than sequences may run at once.

## What happened

A layer with a recurrent state (Mamba, gated delta nets) keeps one block for every sequence that is being decoded,
however short it is. `--max-num-seqs` asks for more of them than the pool has.

```log fires
(EngineCore pid=1) ERROR 04-24 10:21:03 [core.py:1108] ValueError: max_num_seqs (1024) exceeds available Mamba cache blocks (856). Each decode sequence requires one Mamba cache block, so CUDA graph capture cannot proceed. Please lower max_num_seqs to at most 856 or increase gpu_memory_utilization.
```

```log silent
(EngineCore pid=1) WARNING 04-24 10:21:03 [compilation.py:1012] Capping cudagraph capture sizes from max 512 to 352 to fit Mamba cache blocks (352 blocks available).
(EngineCore pid=1) INFO 04-24 10:22:03 [gpu_model_runner.py:5876] Graph capturing finished in 24 secs, took 1.78 GiB
```

## Why

From 0.20.0 on it is an error before any graph is captured. Releases 0.18.0 and 0.19.x capped the graphs instead, and
said so in a warning. Large cards run 1,024 sequences where nobody says how many.

## What to do

As many sequences as the message names, or fewer. Or a larger pool.
"""

import re
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.serving import share
from oomph.diagnose.grounds.usual import larger_share
from oomph.diagnose.hearing.passages import squeezed
from oomph.ledger.gate import Step

CAUSE: Final = "mamba_blocks_below_max_num_seqs"
HINTS: Final = (b"Mamba cache",)

_REFUSED: Final = re.compile(r"exceeds available Mamba cache|Mamba cache blocks \([0-9]+\)\. Each decode")
_NUMBERS: Final = re.compile(
    r"max_num_seqs\((?P<sequences>[0-9]{1,9})\)exceedsavailableMambacacheblocks\((?P<blocks>[0-9]{1,9})\)"
)
_CAPPED: Final = re.compile(
    r"Cappingcudagraphcapturesizesfrommax(?P<sequences>[0-9]{1,9})to(?P<largest>[0-9]{1,9})tofitMambacacheblocks"
    r"(?:\((?P<blocks>[0-9]{1,9})blocks)?"
)
_CAPTURING: Final = frozenset({Phase.GRAPH_CAPTURE, Phase.WARM_UP})


def check(case: Case) -> Finding | None:
    """The engine's refusal; or, in releases that only warn, a capture that failed after the warning."""
    refused = case.spoken("sequences above states") or case.line(_REFUSED)
    capped = case.spoken("captures capped")
    if refused is None and (capped is None or case.phase not in _CAPTURING or case.failure is None):
        return None
    said = refused or capped
    if said is None:
        return None
    found = (_NUMBERS if refused is not None else _CAPPED).search(squeezed(case, said))
    blocks = None if found is None or not found["blocks"] else int(found["blocks"])
    asked = None if found is None else int(found["sequences"])
    return Finding(
        code="KV002",
        name="fewer-state-blocks-than-sequences",
        cause=CAUSE,
        confidence=0.97 if refused is not None else 0.7,
        summary=_summary(asked, blocks),
        lines=(said,),
        remedies=advised(case, Step.CAPTURE, _remedies(case, blocks)),
        unhelpful={"--max-model-len": "a state takes one block, however short its sequence is"},
        missing=() if blocks is not None else ("how many blocks the message names",),
    )


def _summary(asked: int | None, blocks: int | None) -> str:
    if asked is None or blocks is None:
        return "more sequences may run at once than the pool has blocks for their states"
    return f"{asked:,} sequences may run at once, and the pool has {blocks:,} blocks for their states"


def _remedies(case: Case, blocks: int | None) -> tuple[Remedy, ...]:
    fewer = blocks or 64
    larger = larger_share(share(case), 0, None)
    return (
        Remedy(
            change={"max_num_seqs": fewer},
            lever="max_num_seqs_down",
            price=f"at most {fewer:,} requests run at once; the others wait",
        ),
        *(() if larger is None else (larger,)),
    )
