"""The engine ran out while it captured CUDA graphs, in what the pool had left over.

## What happened

Before 0.20.0 graphs are captured after the pool has taken the budget, and nothing was set aside for them: they must fit
into the part of the device beyond the share, together with the driver's context and the buffers of collectives. Often
the driver itself runs out, and PyTorch's account is missing.

```log fires
INFO 04-07 15:54:56 [worker.py:267] the current vLLM instance can use total_gpu_memory (21.99GiB) x gpu_memory_utilization (0.98) = 21.55GiB
ERROR 04-07 15:55:35 [engine.py:448]   File "/torch/cuda/graphs.py", line 84, in capture_end
ERROR 04-07 15:55:35 [engine.py:448] RuntimeError: CUDA error: out of memory
```

```log fires
INFO 02-03 03:43:48 llm_engine.py:316] # GPU blocks: 7754, # CPU blocks: 2048
INFO 02-03 03:43:49 model_runner.py:625] Capturing the model for CUDA graphs. This may lead to unexpected consequences if the model is not static.
ERROR 02-03 03:44:03 engine.py:190] torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU 0 has a total capacity of 44.35 GiB of which 53.38 MiB is free.
```

```log silent
INFO 02-03 03:43:49 model_runner.py:625] Capturing the model for CUDA graphs. This may lead to unexpected consequences if the model is not static.
INFO 02-03 03:44:09 model_runner.py:689] Graph capturing finished in 20 secs.
INFO 02-03 03:44:10 core.py:138] init engine (profile, create kv cache, warmup model) took 61.02 seconds
```

## Why

Graphs take 0.5 to 4 GiB, more with many sizes (V1 captures 67), with several ranks and with AWQ and GPTQ. Where weights,
activations and pool add up to the share exactly, all of that has only what the share leaves: 1.2 GiB of a card of
24 GiB at 0.95. More ranks do not help: the pool takes what the weights free.

## What to do

A smaller share, by what the graphs take: 0.95 to 0.90 is typical. Fewer and smaller graphs. Or none. From 0.20.0 on an
estimate of them is set aside.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.capturing import BEGUN, FRAMES, capturing, estimated, failed, second_runner
from oomph.diagnose.grounds.sampling import sentence, sequences
from oomph.diagnose.grounds.serving import device_overflow, smaller_share, through, told
from oomph.diagnose.grounds.usual import EAGER, fewer_sequences, newer, smaller_graphs
from oomph.engines.vllm.charged import GRAPHS_NOT_CHARGED
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity
from oomph.units import GIB, Bytes

CAUSE: Final = "cudagraph_capture_unbudgeted"
HINTS: Final = (b"CUDA graph", b"cudagraph", b"cuda graph", b"Capturing")

_LARGE: Final = 2 * GIB  # graphs that are the larger part of what no budget knew
_MANY: Final = 512  # sequences, from which on the sampler is the larger
_KILLED: Final = re.compile(r"\b137\b|exit(?:ed)? (?:with )?(?:code|status) -9")
_DRAFTS: Final = ("speculative_model", "speculative_config", "num_speculative_tokens")


def check(case: Case) -> Finding | None:
    """Frames or sentences of a capture; or the sampler fails right after graphs that took far more than it needs."""
    said = capturing(case)
    sure = _after_graphs(case) if sentence(case) is not None else _confidence(case, said)
    if case.flags.get("enforce_eager") is True or sure is None:
        return None
    shown = (said, device_overflow(case), case.spoken("graphs captured"))
    return Finding(
        code="CG001",
        name="graphs-above-rest",
        cause=CAUSE,
        confidence=sure,
        summary=f"capturing graphs does not fit into what the pool has left over{told(case)}",
        lines=tuple(dict.fromkeys(line for line in shown if line is not None)),
        arithmetic=tuple(_arithmetic(case)),
        remedies=advised(case, Step.CAPTURE, _remedies(case)),
        unhelpful={**_VAIN, **({} if case.line(_KILLED) is None else _HOST)},
        missing=() if failed(case) else ("the end of the log: what it failed with",),
    )


_VAIN: Final = {
    "--max-model-len": "the pool takes all that is left, however short requests are",
    "--disable-custom-all-reduce": "its buffers are small beside the graphs",
    "more GPUs": "the pool takes what the weights free, and graphs and collectives stay",
}
_HOST: Final = {
    "exit code 137, more host memory": "the device ran out; whoever stopped the process did it for that",
}


def _confidence(case: Case, said: Said | None) -> float | None:
    if said is None:
        return None
    if not failed(case):
        return 0.55
    if second_runner(case) is not None or case.spoken("pool given") is not None:
        return 0.5
    if estimated(case) or (case.release is not None and case.release not in GRAPHS_NOT_CHARGED):
        return 0.5
    if any(case.flags.get(name) for name in _DRAFTS):
        return 0.65
    shown = through(case, *FRAMES) is not None or case.line(BEGUN) is not None
    return 0.87 if shown else 0.66


def _after_graphs(case: Case) -> float | None:
    """The sampler had its peak in the budget; graphs that took more than it needs had not."""
    graphs, now = case.size(Quantity.GRAPHS), sequences(case)
    many = now is not None and now >= _MANY
    charged = estimated(case) or (case.release is not None and case.release not in GRAPHS_NOT_CHARGED)
    return None if graphs is None or graphs.likely < _LARGE or many or charged else 0.9


def _arithmetic(case: Case) -> Iterator[str]:
    total, budget = case.size(Quantity.TOTAL), case.size(Quantity.BUDGET)
    if total is not None and budget is not None and total.likely > budget.likely:
        beyond = Bytes(total.likely - budget.likely)
        yield f"{total.likely} − {budget.likely} of the share = {beyond} for context, collectives and graphs"
    graphs = case.size(Quantity.GRAPHS)
    if graphs is not None:
        yield f"the graphs took {graphs.likely}, which no budget knew"


def _remedies(case: Case) -> tuple[Remedy, ...]:
    usual = (smaller_share(case, least=5), EAGER, *smaller_graphs(case), fewer_sequences(case))
    upgrade = newer("0.20.0", "an estimate of the graphs is taken from the budget: the pool is smaller")
    old = case.release is None or case.release in GRAPHS_NOT_CHARGED
    return (*usual, *((upgrade,) if old else ()))
