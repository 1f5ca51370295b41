"""A long prompt's chunk states did not fit: linear attention keeps them while it reads, and no profile counts them.

## What happened

The model has layers of linear attention with a gated delta rule (Qwen3-Next, Qwen3.5 and newer, Kimi Linear). Reading a
prompt, each of them cuts a step's tokens into chunks of 64 and keeps a state and several vectors for each. The first
long prompt fills a step to the brim, asks for some tens of MiB, and a little less is free.

```log fires
(EngineCore pid=104) ERROR 05-05 12:36:59 [core.py:1138]   File "/vllm/model_executor/layers/fla/ops/chunk.py", line 111, in forward
(EngineCore pid=104) ERROR 05-05 12:36:59 [core.py:1138]   File "/vllm/model_executor/layers/fla/ops/chunk_delta_h.py", line 336, in chunk_gated_delta_rule_fwd_h
(EngineCore pid=104) ERROR 05-05 12:36:59 [core.py:1138] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total capacity of 31.36 GiB of which 58.88 MiB is free.
```

```log silent
(EngineCore pid=104) ERROR 05-05 12:36:59 [core.py:1138]   File "/vllm/v1/worker/gpu_model_runner.py", line 4101, in execute_model
(EngineCore pid=104) ERROR 05-05 12:36:59 [core.py:1138]   File "/vllm/model_executor/layers/activation.py", line 131, in forward_cuda
(EngineCore pid=104) ERROR 05-05 12:36:59 [core.py:1138] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total capacity of 31.36 GiB of which 58.88 MiB is free.
```

## Why

The profile run skips the core of these layers, so that what they keep per token of a step is in nobody's budget. It
grows with the tokens of a step, not with the length of a prompt.

## What to do

Fewer tokens in a step. That also makes the profiled peak and the graphs smaller, so that the pool grows.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.arithmetic import Term, explained
from oomph.diagnose.grounds.serving import (
    ENGINE,
    VAIN,
    device_overflow,
    fewer_tokens,
    serving,
    smaller_share,
    starting,
    step_tokens,
    through,
    told,
    untold,
)
from oomph.diagnose.grounds.usual import more_ranks
from oomph.ledger.gate import Step
from oomph.ledger.geometry import Delta
from oomph.ledger.observation import Quantity

CAUSE: Final = "gdn_prefill_activation_underprofiled"

_CHUNK: Final = 64  # tokens, FLA_CHUNK_SIZE in model_executor/layers/fla/ops/utils.py
_WIDTH: Final = 2  # bytes: states and vectors of a step are kept in 16 bits
# As names of models are written; their configs speak of `linear_attention` layers.
_FAMILIES: Final = ("qwen3-next", "qwen3.5", "qwen3.6", "qwen3.7", "qwen3.8", "kimi-linear", "qwen3_next", "qwen3_5")
_CORE: Final = (
    *("chunk_gated_delta_rule", "chunk_gated_delta_rule_fwd", "chunk_gated_delta_rule_fwd_h", "chunk_fwd_o"),
    *(
        "recompute_w_u_fwd",
        "chunk_scaled_dot_kkt_fwd",
        "solve_tril",
        "chunk_kda",
        "chunk_kda_fwd",
        "gdn_attention_core",
    ),
    *("fla/ops/chunk.py", "fla/ops/chunk_o.py", "fla/ops/chunk_delta_h.py", "fla/ops/kda.py", "fla/ops/wy_fast.py"),
    *("flash_linear_attention/ops/chunk.py", "flash_linear_attention/ops/kda.py"),
)


def check(case: Case) -> Finding | None:
    """Frames of the delta rule's core after the start; or such a model, up, and out of memory."""
    overflow = device_overflow(case)
    if (overflow is None and not untold(case)) or case.engine not in ENGINE or starting(case):
        return None
    core = through(case, *_CORE)
    proof = tuple(_arithmetic(case))
    if core is None and not (serving(case) and _has_delta_layers(case) and case.size(Quantity.TRIED) is not None):
        return None
    return _finding(case, core, overflow, proof)


def _finding(case: Case, core: Said | None, overflow: Said | None, proof: tuple[str, ...]) -> Finding:
    return Finding(
        code="SV002",
        name="delta-states-above-rest",
        cause=CAUSE,
        confidence=_confidence(case, core, proved=bool(proof)),
        summary=f"the chunk states of linear attention, which no profile counts, do not fit beside the pool{told(case)}",
        lines=tuple(line for line in (core, overflow) if line is not None),
        arithmetic=proof,
        remedies=advised(case, Step.SERVING, _remedies(case)),
        unhelpful=VAIN | {"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True": _NOT_IN_FRAGMENTS},
        missing=() if core is not None else ("the traceback: its innermost frames would name fla/ops/chunk*.py",),
    )


_NOT_IN_FRAGMENTS: Final = "it joins fragments of what the allocator holds; here next to nothing is held"


def _confidence(case: Case, core: Said | None, *, proved: bool) -> float:
    tuning = through(case, "autotuner.py", "do_bench") is not None
    if core is None:
        return 0.85 if proved else 0.68
    if tuning or untold(case):
        return 0.65
    return 0.97 if proved else 0.93


def _remedies(case: Case) -> Iterator[Remedy]:
    yield fewer_tokens(case)
    yield smaller_share(case)
    yield more_ranks(case)


def _has_delta_layers(case: Case) -> bool:
    if _delta(case) is not None:
        return True
    name = (case.model or "").lower().replace(" ", "-")
    return any(word in name for word in _FAMILIES)


def _delta(case: Case) -> Delta | None:
    model = None if case.startup is None else case.startup.model
    mixers = () if model is None else (mixer for layer in model.geometry.layers for mixer in layer.mixers)
    return next((mixer for mixer in mixers if isinstance(mixer, Delta)), None)


def _arithmetic(case: Case) -> Iterator[str]:
    """What was asked for is one of the tensors of a full step."""
    tried, delta, tokens = case.size(Quantity.TRIED), _delta(case), step_tokens(case)
    if tried is None or delta is None or tokens is None:
        return
    found = explained(tried, _terms(delta, tokens, ranks=case.flags.positive("tensor_parallel_size") or 1))
    if found is not None:
        yield str(found)


def _terms(delta: Delta, tokens: int, *, ranks: int) -> Iterator[Term]:
    heads = -(-delta.value_heads // ranks)
    chunks = -(-tokens // _CHUNK)
    yield Term(
        size=chunks * heads * delta.key_dim * delta.value_dim * _WIDTH,
        formula=f"{chunks} × {heads} × {delta.key_dim} × {delta.value_dim} × {_WIDTH} B",
        reason=f"a state of every head for each of {chunks:,} chunks of {_CHUNK} tokens",
    )
    for width, what in ((delta.value_dim, "values"), (delta.key_dim, "keys")):
        yield Term(
            size=tokens * heads * width * _WIDTH,
            formula=f"{tokens} × {heads} × {width} × {_WIDTH} B",
            reason=f"the {what} of every head for each of {tokens:,} tokens of a step",
        )
