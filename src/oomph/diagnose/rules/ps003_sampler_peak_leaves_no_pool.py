"""Nothing is left for the pool because the profile samples for more sequences than anybody needs.

## What happened

The profile run ends with the sampler, for as many requests as may run at once. Its peak is charged to the budget like
any activation. With 1,024 sequences it is 2.6 to 5 GiB for vocabularies of 100,000 to 200,000 words, and on a small
card that is all that the weights had left.

```log fires
INFO 04-27 11:00:00 [api_server.py:981] vLLM API server version 0.8.1
(VllmWorker rank=0 pid=11) INFO 04-27 11:08:00 [gpu_model_runner.py:1155] Model loading took 16.2312 GB and 20.031472 seconds
ERROR 04-27 11:08:32 [core.py:340] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
```

```log silent
INFO 04-27 11:00:00 [api_server.py:981] vLLM API server version 0.8.1
INFO 04-27 11:08:30 [kv_cache_utils.py:537] GPU KV cache size: 45,248 tokens
```

## Why

Releases 0.8.0 to 0.8.3 run 1,024 sequences on every device where nobody says how many. Since 0.8.4 cards below
70 GiB, and the A100, run 256. The message speaks of the share, which was right before the upgrade and still is.

## What to do

Say how many requests shall run at once: `--max-num-seqs`. What the profile then takes less, the pool gets.
"""

from typing import Final

from oomph.diagnose.advised import advised
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding
from oomph.diagnose.grounds.sizing import NoRoom, no_room
from oomph.diagnose.grounds.usual import fewer_sequences, newer
from oomph.engines.vllm.charged import MANY_SEQUENCES, V1_BY_DEFAULT
from oomph.ledger.gate import Step
from oomph.units import Bytes

CAUSE: Final = "sampler_logits_max_num_seqs"

_FEW: Final = 64  # sequences that no card notices
_MANY: Final = 1024
_OLD: Final = ("worker.py", "engine.py", "llm_engine.py", "model_runner.py")  # files of V0, which is not meant here
_BYTES: Final = 4 + 4 + 8 + 12  # for each word of each sequence: logits, sorted, their order, the sort's scratch
_WORDS: Final = 152_064  # of a vocabulary that many models have


def check(case: Case) -> Finding | None:
    """Where nothing else is said, the release decides how likely it is."""
    room = no_room(case)
    if room is None or (sure := _confidence(case, room)) is None:
        return None
    rows = case.flags.positive("max_num_seqs") or _MANY
    return Finding(
        code="PS003",
        name="sampler-peak-leaves-no-pool",
        cause=CAUSE,
        confidence=sure,
        summary=f"the profile samples for up to {rows:,} sequences, and what that takes leaves nothing for the pool",
        lines=(room.said,),
        arithmetic=(
            (
                f"{rows} × {_WORDS} × {_BYTES} B = {Bytes(rows * _WORDS * _BYTES)}: the sampler's peak for a vocabulary of "
                f"{_WORDS:,} words"
            ),
        ),
        remedies=advised(
            case,
            Step.POOL_SIZE,
            (fewer_sequences(case, rows), newer("0.8.4", "256 sequences by default on cards below 70 GiB")),
        ),
        unhelpful=_VAIN,
        missing=("--max-num-seqs and the release: 0.8.0 to 0.8.3 run 1,024 sequences by default",),
    )


_VAIN: Final = {
    "--gpu-memory-utilization, as the message says": "the share was enough before; what grew is the profile's peak",
    "--max-model-len": "the sampler counts sequences, not their length",
    "--enforce-eager": "no graph is charged in releases that do this",
}


def _confidence(case: Case, room: NoRoom) -> float | None:
    given = case.flags.positive("max_num_seqs")
    if (given is not None and given <= _FEW) or room.uneven or room.pools or room.activations is not None:
        return None
    if case.release is not None and case.release not in V1_BY_DEFAULT and case.release not in MANY_SEQUENCES:
        return None
    if case.release in MANY_SEQUENCES and given is None:
        return 0.56
    if not _second(case, room):
        return None
    return 0.31 if room.cut else 0.3 if case.release is not None else 0.44


def _second(case: Case, room: NoRoom) -> bool:
    """Whether V1 may have run: no line of V0's says it."""
    return room.said.file not in _OLD and not any("worker/worker.py" in said.text for said in case.log)
