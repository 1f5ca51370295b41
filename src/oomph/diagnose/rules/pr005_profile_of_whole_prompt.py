"""The engine ran out in its profile run, which read a prompt of the longest length in one step.

## What happened

Where prompts are not read in pieces, one step must be able to hold the longest prompt there may be, and the profile
runs such a step: 131,072 tokens at once for a model of that context. Here, and only here, `--max-model-len` decides how
large activations become.

```log fires
INFO 05-02 10:00:00 [api_server.py:981] vLLM API server version 0.8.5
INFO 05-02 10:00:00 [api_server.py:982] non-default args: {'model': 'some/model', 'max_model_len': 131072, 'enable_chunked_prefill': False}
ERROR 05-02 10:01:00 [core.py:396]   File "/vllm/v1/worker/gpu_worker.py", line 185, in determine_available_memory
ERROR 05-02 10:01:00 [core.py:396]   File "/vllm/v1/worker/gpu_model_runner.py", line 1599, in profile_run
ERROR 05-02 10:01:00 [core.py:396]   File "/vllm/v1/worker/gpu_model_runner.py", line 1439, in _dummy_run
ERROR 05-02 10:01:00 [core.py:396] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.00 GiB. GPU 0 has a total capacity of 23.57 GiB of which 5.88 GiB is free.
```

```log silent
INFO 05-02 10:00:00 [api_server.py:981] vLLM API server version 0.8.5
INFO 05-02 10:00:00 [api_server.py:982] non-default args: {'model': 'some/model', 'max_model_len': 131072, 'enable_chunked_prefill': False}
INFO 05-02 10:01:00 [kv_cache_utils.py:634] GPU KV cache size: 156,480 tokens
```

## Why

The first engine (before 0.8.0) reads in pieces only above 32,768 tokens, or where it is asked to; releases before
0.4.0 never do; `--no-enable-chunked-prefill` turns it off.

## What to do

Read prompts in pieces: then a step holds `--max-num-batched-tokens`. Otherwise a shorter longest request.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.grounds.profiling import ENCODER, RUN, SAMPLER, cut, overflowed, profiling
from oomph.diagnose.grounds.serving import device_overflow, through, told
from oomph.engines.vllm.charged import PROMPT_IN_PIECES, V1_BY_DEFAULT
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity
from oomph.units import GIB

CAUSE: Final = "profile_full_context_no_chunked_prefill"

_OFF: Final = frozenset({"no_enable_chunked_prefill", "disable_chunked_prefill"})
_FIRST: Final = ("worker/model_runner.py", "determine_num_available_blocks")
_PICTURES: Final = ("enc_dec_model_runner.py", *ENCODER)
_UNKNOWN: Final = frozenset({None, Phase.PROFILE, Phase.LOAD})  # what is said where nothing tells
_LARGE: Final = GIB  # a single tensor of a whole prompt; weights and pools of that time come in smaller ones


def check(case: Case) -> Finding | None:
    """Out of memory in the profile of an engine that reads prompts whole."""
    said = overflowed(case) if cut(case) else device_overflow(case)
    if said is None or case.served or through(case, *SAMPLER, *_PICTURES) is not None:
        return None
    if (sure := _confidence(case)) is None:
        return None
    return Finding(
        code="PR005",
        name="profile-of-whole-prompt",
        cause=CAUSE,
        confidence=sure,
        summary=f"the profile reads the longest prompt in one step, and that does not fit{told(case)}",
        lines=(overflowed(case) or said,),
        remedies=advised(case, Step.PROFILE, tuple(_remedies(case))),
        unhelpful={
            "--gpu-memory-utilization": "the share divides what this run leaves; the run itself takes what it takes"
        },
        missing=tuple(_missing(case)),
    )


def _confidence(case: Case) -> float | None:
    profiled = profiling(case) or through(case, *RUN) is not None
    if _whole(case) and profiled:
        return 0.7 if cut(case) else 0.88
    if case.release is None or cut(case):
        return 0.4 if profiled and through(case, *_FIRST) is not None else None
    if (
        case.release not in V1_BY_DEFAULT
        and profiled
        and not case.flags.switch("enable_chunked_prefill", default=False)
    ):
        return 0.75
    tried = case.size(Quantity.TRIED)
    bare = case.phase in _UNKNOWN and case.failure is not None and not case.failure.frames and _silent(case)
    large = tried is not None and tried.low >= _LARGE
    return 0.61 if PROMPT_IN_PIECES.follows(case.release) and bare and large else None


def _silent(case: Case) -> bool:
    """The engine itself said nothing that tells how far it came."""
    return case.observation is None or not case.observation.lines


def _whole(case: Case) -> bool:
    """Reading in pieces was turned off."""
    return case.flags.get("enable_chunked_prefill") is False or any(case.flags.get(name) for name in _OFF)


def _remedies(case: Case) -> Iterator[Remedy]:
    if case.release is None or not PROMPT_IN_PIECES.follows(case.release):
        yield Remedy(
            change={"enable_chunked_prefill": True},
            lever="enable_chunked_prefill",
            price="a long prompt is read in several steps: its first token comes later",
        )
    length = case.flags.positive("max_model_len") or case.number(Quantity.LENGTH)
    shorter = 4096 if length is None else max(int(length) // 2, 1)
    yield Remedy(
        change={"max_model_len": shorter},
        lever="max_model_len_down",
        price=f"requests longer than {shorter:,} tokens are refused",
    )


def _missing(case: Case) -> Iterator[str]:
    if not _whole(case):
        yield "--max-model-len, and whether prompts are read in pieces"
    if through(case, *RUN) is None:
        yield "the traceback: that it was the profile"
