"""The engine ran out in its profile run, when it encoded the largest pictures or videos that it would accept.

## What happened

The profile encodes items of the largest size that the model takes, as many as one step may hold, before it runs a step
of text. A picture may be 16,384 tokens and a video more; where the limits are left open, all of that is profiled.

```log fires
(EngineCore pid=1) INFO 08-04 16:54:40 [gpu_model_runner.py:2362] Encoder cache will be initialized with a budget of 114688 tokens, and profiled with 7 video items of the maximum feature size.
(EngineCore pid=1) ERROR 08-04 16:54:59 [core.py:632]   File "/vllm/v1/worker/gpu_model_runner.py", line 2401, in profile_run
(EngineCore pid=1) ERROR 08-04 16:54:59 [core.py:632]   File "/vllm/model_executor/models/qwen2_5_vl.py", line 1101, in get_multimodal_embeddings
(EngineCore pid=1) ERROR 08-04 16:54:59 [core.py:632] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 16.00 GiB. GPU 0 has a total capacity of 47.41 GiB of which 9.12 GiB is free.
```

```log silent
(EngineCore pid=1) INFO 08-04 16:54:40 [gpu_model_runner.py:2362] Encoder cache will be initialized with a budget of 16384 tokens, and profiled with 1 image items of the maximum feature size.
(EngineCore pid=1) INFO 08-04 16:54:59 [gpu_worker.py:276] Available KV cache memory: 21.07 GiB
```

## Why

The server does not know how large the pictures of its clients are: a limit that is set in a client's processor does not
reach it. The share is not looked at here: what is asked for is the same to the byte with 0.9 and with 0.5.

## What to do

Close what is not used and limit what is: `--limit-mm-per-prompt`, `--mm-processor-kwargs` with fewer pixels, on the
server. Then fewer tokens in a step, which are fewer items. `--skip-mm-profiling` only together with a smaller share:
what is not profiled is still needed when a picture comes.
"""

import re
from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.diagnose.grounds.profiling import ENCODER, RUN, SAMPLER, STEP, overflowed, passed, profiling
from oomph.diagnose.grounds.serving import device_overflow, fewer_tokens, through, told
from oomph.diagnose.grounds.sizing import no_room
from oomph.diagnose.grounds.usual import fewer_sequences
from oomph.ledger.gate import Step
from oomph.ledger.observation import Quantity
from oomph.units import GIB

CAUSE: Final = "mm_profile_item_size"
HINTS: Final = (b"multi-modal embeddings", b"Computed max_num_seqs", b"Encoder cache")

# multimodal/profiling.py, worker/model_runner.py: the items of one request are more tokens than a step has.
_WORST: Final = re.compile(
    r"too short to hold the multi-modal embeddings in the worst case(?: \((?P<tokens>[0-9]{1,9}) tokens)?"
    r"|Computed max_num_seqs .{0,80}to be less than 1"
)
_BUDGET: Final = re.compile(r"Encoder cache will be initialized with a budget of (?P<tokens>[0-9,]{1,12}) tokens")
_OF_WORKERS: Final = re.compile(r"processing method determine_num_available_blocks|in determine_num_available_blocks")
_TEXT: Final = (*STEP, *SAMPLER)
_OF_SEQUENCES: Final = ("enc_dec_model_runner.py", "models/mllama.py", "models/whisper.py")
_VISION: Final = re.compile(
    r"(?i)vision|[-_.]vl\b|vl[-_]|internvl|minicpm-?[vo]|llava|pixtral|molmo|qvq|paligemma|glm-4\.?[15]?v|omni|idefics|phi-3\.5-v"
)
_HUGE: Final = 4 * GIB
_MANY: Final = 32_768  # tokens of items at once


def check(case: Case) -> Finding | None:
    """In the profile, before its step of text: the encoder's frames, or the last thing said is what it will encode."""
    told_by = case.line(_BUDGET) or case.line(_WORST)
    if case.served or (sure := _confidence(case, told_by)) is None:
        return None
    said = overflowed(case)
    return Finding(
        code="PR004",
        name="profile-of-largest-items",
        cause=CAUSE,
        confidence=sure,
        summary=f"the profile encodes the largest pictures or videos that are accepted, and that does not fit{told(case)}",
        lines=tuple(line for line in (told_by, said) if line is not None),
        remedies=advised(case, Step.PROFILE, (*_REMEDIES, fewer_tokens(case), fewer_sequences(case))),
        unhelpful=_VAIN,
        missing=() if told_by is not None else ("--limit-mm-per-prompt, and the model",),
    )


_REMEDIES: Final = (
    Remedy(
        change={"limit_mm_per_prompt": '{"image": 1, "video": 0}'},
        lever="mm_limits",
        price="requests with more than one picture, or with a video, are refused",
    ),
    Remedy(
        change={"mm_processor_kwargs": '{"max_pixels": 1003520}'},
        lever="mm_limits",
        price="larger pictures are made smaller before they are seen (1,003,520 pixels are 1,280 tokens of Qwen-VL)",
    ),
)
_VAIN: Final = {
    "--gpu-memory-utilization": "the share divides what this run leaves: with any share the same is asked for",
    "max_pixels in the client": "the server profiles what it would accept, not what clients send",
    "--enforce-eager": "no graph is captured in this run",
}


def _confidence(case: Case, said: Said | None) -> float | None:
    if through(case, *_OF_SEQUENCES) is not None or (said is not None and passed(case, said)):
        return 0.5 if said is not None and _large(case) and no_room(case) is not None else None
    if through(case, *_TEXT) is not None:
        return None
    encoding = through(case, *ENCODER) is not None and (profiling(case) or through(case, *RUN) is not None)
    if encoding:
        return 0.92 if said is not None else 0.75
    if said is None and _seeing(case):
        return 0.77
    if said is None or case.phase not in {Phase.PROFILE, None}:
        return None
    failed = device_overflow(case) is not None or case.line(_OF_WORKERS) is not None or bool(case.failures)
    return 0.78 if failed else None


def _seeing(case: Case) -> bool:
    """By its name a model that sees, out of memory in its profile with a request that no step of text makes."""
    tried = case.size(Quantity.TRIED)
    named = case.model is not None and _VISION.search(case.model) is not None
    return named and profiling(case) and tried is not None and tried.low >= _HUGE


def _large(case: Case) -> bool:
    """Whether many tokens of items are encoded at once."""
    tokens = case.number(Quantity.ENCODER_TOKENS)
    return tokens is not None and tokens >= _MANY
