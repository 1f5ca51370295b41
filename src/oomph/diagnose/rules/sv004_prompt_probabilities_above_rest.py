"""A request asked for the probabilities of its own prompt: logits of every token of a step, over the whole vocabulary.

## What happened

With `prompt_logprobs` (evaluation harnesses, RL, `echo` with `logprobs`) the engine keeps one number per word of the
vocabulary for every token that it reads in a step, as computed and again in 32 bits: 8,192 tokens × 152,000 words × 6 B
are 7 GiB. Usually only the last token of a prompt has logits.

```log fires
(EngineCore pid=77) ERROR 02-02 09:00:01 [core.py:948]   File "/vllm/v1/worker/gpu_model_runner.py", line 4100, in _get_prompt_logprobs_dict
(EngineCore pid=77) ERROR 02-02 09:00:01 [core.py:948]   File "/vllm/v1/sample/sampler.py", line 207, in compute_logprobs
(EngineCore pid=77) ERROR 02-02 09:00:01 [core.py:948] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.64 GiB. GPU 0 has a total capacity of 79.10 GiB of which 3.91 GiB is free.
```

```log silent
(EngineCore pid=77) ERROR 02-02 09:00:01 [core.py:946]   File "/vllm/v1/worker/gpu_model_runner.py", line 4390, in _dummy_sampler_run
(EngineCore pid=77) ERROR 02-02 09:00:01 [core.py:946]   File "/vllm/v1/sample/ops/topk_topp_sampler.py", line 163, in apply_top_k_top_p
(EngineCore pid=77) ERROR 02-02 09:00:01 [core.py:946] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.74 GiB. GPU 0 has a total capacity of 79.10 GiB of which 0.91 GiB is free.
```

## Why

No profile runs with prompt probabilities, so that nothing is set aside for them. Lowering the share to a third did not
help those who tried: what is needed follows from the tokens of a step, and a step takes what prompts bring.

## What to do

Do not ask for them, or only for a span; or fewer tokens in a step, which shrinks it in proportion.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.arithmetic import explained, prompt_logprobs
from oomph.diagnose.grounds.serving import (
    device_overflow,
    serving,
    smaller_share,
    starting,
    step_tokens,
    through,
    told,
    tried,
    untold,
)
from oomph.diagnose.grounds.vocabularies import vocabularies
from oomph.ledger.gate import Step

CAUSE: Final = "logprobs_full_vocab_logits"

HINTS: Final = (b"logprob",)

_PROMPT: Final = (
    *("_get_prompt_logprobs_dict", "compute_prompt_logprobs", "compute_prompt_logprobs_with_chunking"),  # V1
    *("get_logprobs", "_get_logprobs", "_get_prompt_logprob_if_needed"),  # model_executor/layers/sampler.py, V0
    *("process_input_logprobs", "process_input_logprobs_by_chunk", "get_top_logprobs", "get_token_ids_logprobs"),
    *("compute_temp_top_p_normalized_logprobs", "layers/logprob_processor.py"),  # SGLang, layers/logits_processor.py
)
_PROFILED: Final = ("_dummy_sampler_run", "profile_run")
_SAMPLED: Final = ("compute_logprobs", "gather_logprobs", "compute_logprobs_only")  # of the next token, or of a prompt
_LOGITS: Final = ("layers/sampler.py", "layers/logits_processor.py", "compute_logits", "_get_logits")  # one row each
_SEQUENCES: Final = 1024  # the most that run at once by default, v1 of 0.8.0
_WIDTH: Final = 4  # bytes: 32 bits


def check(case: Case) -> Finding | None:
    """Frames that compute them; or logits of more rows than there are sequences."""
    overflow = device_overflow(case)
    if (overflow is None and not untold(case)) or starting(case) or through(case, *_PROFILED) is not None:
        return None
    proof = tuple(_arithmetic(case))
    for names, rate in ((_PROMPT, _of_prompt), (_SAMPLED, _of_next_token), (_LOGITS, _of_logits)):
        frame = through(case, *names)
        sure = None if frame is None else rate(case, proved=bool(proof))
        if sure is not None:
            return _finding(case, sure, (frame, overflow), proof)
    asked = any(case.flags.get(name) for name in ("prompt_logprobs", "return_logprob"))
    return _finding(case, 0.8 if proof else 0.62, (None, overflow), proof) if asked and serving(case) else None


def _of_prompt(case: Case, *, proved: bool) -> float:
    return 0.65 if untold(case) else 0.97 if proved else 0.93


def _of_next_token(case: Case, *, proved: bool) -> float:
    return 0.65 if untold(case) else 0.9 if proved or _many_rows(case) else 0.75


def _of_logits(case: Case, *, proved: bool) -> float | None:
    """Logits and sampling are of one row for each sequence, unless a prompt's own tokens are asked for."""
    if not (serving(case) or case.phase_assumed) or not _many_rows(case):
        return None
    return 0.9 if proved else 0.86


def _many_rows(case: Case) -> bool:
    """More rows of logits were asked for than sequences can run at once."""
    wanted = tried(case)
    widest = max(vocabularies(case.model))
    sequences = max(case.flags.positive("max_num_seqs") or 0, _SEQUENCES)
    return wanted is not None and wanted.low > 2 * sequences * widest * _WIDTH


def _finding(case: Case, confidence: float, lines: tuple[Said | None, Said | None], proof: tuple[str, ...]) -> Finding:
    usual = (_NONE, _fewer(case), smaller_share(case)) if case.engine != "SGLang" else (_NONE, _SPAN, _CHUNK)
    return Finding(
        code="SV004",
        name="prompt-probabilities-above-rest",
        cause=CAUSE,
        confidence=confidence,
        summary=f"a request asks for the probabilities of its prompt, and their logits do not fit{told(case)}",
        lines=tuple(line for line in lines if line is not None),
        arithmetic=proof,
        remedies=advised(case, Step.SERVING, usual),
        unhelpful={
            "--max-model-len": "logits are kept for the tokens of one step, however long a request may be",
            "--max-num-seqs": "one request's prompt is enough",
            **(_STATIC if case.engine == "SGLang" else {}),
        },
        missing=() if proof else ("the model's vocabulary and the tokens of a step: then the size can be checked",),
    )


_STATIC: Final = {"--mem-fraction-static": "what is asked for follows from the tokens of a step, not from the pool"}


def _fewer(case: Case) -> Remedy:
    tokens = step_tokens(case)
    return Remedy(
        change={"max_num_batched_tokens": 1024 if tokens is None else max(512, tokens // 8)},
        lever="max_num_batched_tokens_down",
        price="long prompts are read in smaller steps: slower, and the logits shrink in proportion",
    )


_NONE: Final = Remedy(
    change={},
    act="do not ask for prompt_logprobs (return_logprob), or only for a span of the prompt",
    lever="no_logprobs",
    price="the probabilities of the prompt's tokens are not known",
)
_SPAN: Final = Remedy(
    change={},
    act="set logprob_start_len to where probabilities begin to matter",
    lever="no_logprobs",
    price="probabilities of the tokens before it are not known",
)
_CHUNK: Final = Remedy(
    change={},
    act="lower --chunked-prefill-size to 2048",
    lever="enable_chunked_prefill",
    price="long prompts are read in smaller steps: slower",
)


def _arithmetic(case: Case) -> Iterator[str]:
    asked, tokens = tried(case), step_tokens(case)
    if asked is None:
        return
    found = explained(asked, prompt_logprobs((tokens,) if tokens else (8192, 2048, 16384), vocabularies(case.model)))
    if found is not None:
        yield str(found)
