"""What is often advised, and at which gates it cannot help.

Knows why a flag is inert at a gate. Is never believed: whoever repeats it runs the forecast with the advice first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oomph.engines.vllm.levers.startup import Change, Startup
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One thing that people try."""

    words: str  # as it is written
    changes: Callable[[Startup, Forecast], Sequence[Change]]  # what people try it with; none where it is so already
    why: Mapping[Step, str]  # it changes nothing there
    modelled: bool = True  # a forecast can tell; else it only holds where what is surely needed exceeds all there is


def _shares(startup: Startup, now: Forecast) -> Sequence[Change]:
    del startup
    present = now.settings.number("gpu_memory_utilization")
    return [{"gpu_memory_utilization": share} for share in (0.8, 0.95) if share != present]


def _lengths(startup: Startup, now: Forecast) -> Sequence[Change]:
    del startup
    present = now.settings["max_model_len"].value if "max_model_len" in now.settings else None
    return [{"max_model_len": tokens} for tokens in (4096, 1024) if isinstance(present, int) and tokens < present][:1]


def _setting(name: str, value: str | float | bool) -> Callable[[Startup, Forecast], Sequence[Change]]:  # noqa: FBT001 - a flag's value
    def changes(startup: Startup, now: Forecast) -> Sequence[Change]:
        del now
        return () if startup.flags.get(name) == value else ({name: value},)

    return changes


def _fewer_sequences(startup: Startup, now: Forecast) -> Sequence[Change]:
    del startup
    return ({"max_num_seqs": 8},) if now.settings.whole("max_num_seqs") > 8 else ()  # noqa: PLR2004 - as people try


_LATER: Final = (Step.CAPTURE, Step.WARM_UP, Step.SERVING)
_POOL: Final = (Step.POOL_SIZE, Step.ONE_REQUEST)
_GIVEN: Final = "the pool's size is given, so the share is only compared at the start"
_REST: Final = "the pool takes what is left, however short requests are; only one-request asks for their length"
_NEVER: Final = "it is host memory, which nothing on the way up takes from; no release since 0.18.0 has the flag"

ADVICE: Final = (
    Advice(
        words="--gpu-memory-utilization",
        changes=_shares,
        why={
            Step.LOAD: "the share is compared before anything is loaded, and divides what is left long after",
            Step.PROFILE: "the share divides what this run leaves; the run itself takes what it takes",
            Step.GRAPH_PROFILE: "this pool is made before any budget exists; the share divides what is left afterwards",
            **dict.fromkeys((*_POOL, *_LATER), _GIVEN),
        },
    ),
    Advice(
        words="--max-model-len",
        changes=_lengths,
        why={
            Step.START_CHECK: "only the share and what is free are looked at",
            Step.LOAD: "weights do not depend on how long requests may be",
            Step.PROFILE: "one step reads --max-num-batched-tokens, however long a request may be",
            Step.GRAPH_PROFILE: "the blocks of this pool are counted by graphs and sequences, not by length",
            **dict.fromkeys((Step.POOL_SIZE, *_LATER), _REST),
        },
    ),
    Advice(
        words="--max-num-seqs",
        changes=_fewer_sequences,
        why={
            Step.START_CHECK: "only the share and what is free are looked at",
            Step.LOAD: "weights do not depend on how many requests run",
        },
    ),
    Advice(
        words="--enforce-eager",
        changes=_setting("enforce_eager", value=True),
        why={
            Step.START_CHECK: "only the share and what is free are looked at",
            Step.LOAD: "graphs are captured long after the weights are loaded",
            Step.PROFILE: "this run captures no graphs",
        },
    ),
    Advice(
        words="VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0",
        changes=_setting("VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", "0"),
        why={
            Step.GRAPH_PROFILE: "it only decides whether the estimate is charged; the estimate is made either way",
        },
    ),
    Advice(
        words="PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        changes=_setting("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),
        why=dict.fromkeys(
            (Step.START_CHECK, Step.LOAD, Step.PROFILE, Step.GRAPH_PROFILE, *_POOL, *_LATER),
            "it joins what the allocator holds unused; here what is surely needed exceeds all there is",
        ),
        modelled=False,
    ),
    Advice(
        words="--swap-space",
        changes=_setting("swap_space", 16),
        why=dict.fromkeys(Step, _NEVER),
    ),
)
