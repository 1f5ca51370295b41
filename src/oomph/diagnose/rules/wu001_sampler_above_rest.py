"""The engine ran out while it warmed up the sampler, which takes a row of the vocabulary for every sequence.

## What happened

The last step of a start-up runs the sampler once for as many requests as may run at once. It makes the logits of all
of them in 32 bits, sorts them, and keeps the order: 4, 8 and 12 bytes for every word of the vocabulary and every
sequence, in single allocations. With 1,024 sequences and 152,064 words the sort alone takes 1.74 GiB. The pool and the
graphs are there already, and have left less.

```log fires
(EngineCore pid=1) INFO 03-19 07:27:50 [gpu_model_runner.py:1442] Graph capturing finished in 24 secs, took 1.78 GiB
(EngineCore pid=1) ERROR 03-19 07:27:53 [core.py:340]   File "/vllm/v1/worker/gpu_model_runner.py", line 1299, in _dummy_sampler_run
(EngineCore pid=1) ERROR 03-19 07:27:53 [core.py:340] RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. Please try lowering `max_num_seqs` or `gpu_memory_utilization` when initializing the engine.
```

```log fires
(EngineCore pid=1) ERROR 03-19 07:27:53 [core.py:340]   File "/vllm/v1/worker/gpu_worker.py", line 226, in compile_or_warm_up_model
(EngineCore pid=1) ERROR 03-19 07:27:53 [core.py:340] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.74 GiB. GPU 0 has a total capacity of 23.57 GiB of which 605.88 MiB is free.
```

```log silent
(EngineCore pid=1) INFO 03-19 07:27:50 [gpu_model_runner.py:1442] Graph capturing finished in 24 secs, took 1.78 GiB
(EngineCore pid=1) INFO 03-19 07:27:52 [core.py:138] init engine (profile, create kv cache, warmup model) took 61.02 seconds
```

## Why

The same run was made in the profile, so that the budget knows its peak. What it does not know is what came after: the
graphs (before 0.20.0), what lies outside of PyTorch, and pieces that the allocator cannot join. Where little is left
beyond the share, a run for fewer sequences fits and one for many does not. Releases 0.8.0 to 0.8.3 run 1,024 sequences
everywhere; since then cards of 70 GiB and more do, except the A100, and all others run 256.

## What to do

Run fewer sequences: what is asked for shrinks in proportion, and the pool grows by what the profile then takes less.
Then a smaller share, by what is missing.
"""

from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Said
from oomph.diagnose.grounds.arithmetic import COMMON, Match
from oomph.diagnose.grounds.sampling import sampled, sentence, sequences
from oomph.diagnose.grounds.serving import ENGINE, smaller_share, through
from oomph.diagnose.grounds.usual import EAGER, fewer_sequences, smaller_graphs
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity
from oomph.units import GIB

CAUSE: Final = "sampler_logits_max_num_seqs"

_RUN: Final = ("_dummy_sampler_run", "v1/sample/", "_dummy_pooler_run")
_BEFORE: Final = ("profile_run", "determine_available_memory")  # the same run, made while profiling
_WARMING: Final = ("compile_or_warm_up_model", "initialize_from_config")
_LATER: Final = frozenset({Phase.WARM_UP, Phase.GRAPH_CAPTURE, Phase.KV_ALLOC, None})
_LARGE: Final = 2 * GIB  # graphs that took this much, and not the sampler, are what no budget knew
_MANY: Final = 512  # sequences, from which on the sampler is the larger
_RARE: Final = 0.1  # fits by chance, where a size is all that there is
_BARE: Final = GIB // 4  # and how large it must be


def check(case: Case) -> Finding | None:
    """The engine says so; or it went through the sampler after the pool was made; or the size is the sampler's."""
    if case.engine not in ENGINE:
        return None
    match = None if case.served else sampled(case)
    said = _shown(case, match)
    if said is None or (sure := _confidence(case, match)) is None:
        return None
    now = sequences(case) or (None if match is None else match.term.rows)
    return Finding(
        code="WU001",
        name="sampler-above-rest",
        cause=CAUSE,
        confidence=sure,
        summary=_summary(case, now),
        lines=(said, *(() if case.failure is None or case.failure.said == said else (case.failure.said,))),
        arithmetic=() if match is None else (str(match),),
        remedies=advised(
            case, Step.WARM_UP, (fewer_sequences(case, now), smaller_share(case), *smaller_graphs(case), EAGER)
        ),
        unhelpful={**_VAIN, **_joined(case)},
        missing=() if match is not None or sentence(case) is not None else ("the whole traceback, and --max-num-seqs",),
    )


_VAIN: Final = {
    "--max-model-len": "the pool takes all that is left, however short requests are; the sampler counts sequences",
    "fewer adapters, other weights": "what is asked for follows from sequences and words alone",
}


def _joined(case: Case) -> dict[str, str]:
    """What PyTorch itself advises, where its own figures are against it."""
    tried, unused = case.size(Quantity.TRIED), case.size(Quantity.RESERVED)
    if tried is None or unused is None or unused.high >= tried.low:
        return {}
    why = f"it joins what the allocator holds unused, {unused.likely}, and {tried.likely} are asked for"
    return {"expandable_segments": why}


def _shown(case: Case, match: Match | None) -> Said | None:
    """The line that shows it best."""
    if (said := sentence(case)) is not None:
        return said
    if case.served or not (case.phase in _LATER or case.phase_assumed) or through(case, *_BEFORE) is not None:
        return None
    failed = case.failure is not None
    if (frame := through(case, *_RUN)) is not None and failed:
        return frame
    return case.failure.said if failed and match is not None and case.failure is not None else None


def _confidence(case: Case, match: Match | None) -> float | None:
    """The sentence is enough, unless graphs took far more; a frame nearly; a size alone only after graphs were made."""
    if sentence(case) is not None:
        graphs, now = case.size(Quantity.GRAPHS), sequences(case)
        small = now is None or now < _MANY
        return 0.85 if graphs is not None and graphs.likely >= _LARGE and small else 0.95
    if through(case, *_RUN) is not None:
        return 0.9 if match is not None else 0.8
    return None if match is None else _by_size(case, match)


def _by_size(case: Case, match: Match) -> float | None:
    """A size alone: after graphs were made, or where the way up is told, and no frame leads elsewhere."""
    pools, warmed = case.size(Quantity.PRIVATE), through(case, *_WARMING) is not None
    if not warmed and case.failure is not None and case.failure.frames:
        return None
    if warmed or (pools is not None and pools.low > 0):
        return 0.45 if match.chance >= COMMON else (0.8 if warmed or case.phase in _LATER else 0.7) - match.chance / 4
    return 0.4 if match.chance < _RARE and match.tried.low >= _BARE else None


def _summary(case: Case, now: int | None) -> str:
    rows = "all sequences" if now is None else f"{now:,} sequences"
    tried, free = case.size(Quantity.TRIED), case.size(Quantity.DEVICE_FREE)
    asked = "" if tried is None else f": {tried.likely} were asked for"
    left = "" if tried is None or free is None else f", {free.likely} were free"
    return f"warming up the sampler for {rows} does not fit beside pool and graphs{asked}{left}"
