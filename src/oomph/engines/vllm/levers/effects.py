"""At which gate which lever changes nothing, or makes it worse, and why: the table that no advice may go against.

Knows it without any model at hand. What a forecast finds in a case of its own is finer (`table`), and a test holds the
two together.
"""

from collections.abc import Mapping
from typing import Final

from oomph.engines.history import Release, Since
from oomph.engines.vllm.levers.names import SHARE_DOWN, SHARE_UP
from oomph.ledger.gate import Step

Why = Mapping[Step, str]

_START: Final = "the start check compares only the share with what is free"
_WEIGHTS: Final = "weights take what they take: this is looked at long after they are loaded"
_NO_BUDGET: Final = {
    Step.LOAD: "the share is compared before anything is loaded, and divides what is left long after",
    Step.PROFILE: "the share divides what this run leaves; the run itself takes what it takes",
    Step.GRAPH_PROFILE: "this pool is made before there is any budget, and does not look at the share",
}
_PROFILED: Final = {
    Step.START_CHECK: _START,
    Step.LOAD: _WEIGHTS,
}
_GRAPHS: Final = {
    **_PROFILED,
    Step.PROFILE: "no graph is captured in this run",
    Step.SERVING: "graphs were captured before the first request, and take nothing more",
}
_SMALLER_POOL: Final = "a smaller share leaves a smaller pool, and the pool is what is short"
_LARGER_POOL: Final = "a larger share makes a larger pool, which leaves less for this"
_ALLOCATOR: Final = "it joins what the allocator holds unused, and that is not what is short"
_ESTIMATE: Final = "it only decides whether the estimate is charged to the budget; nothing takes less with it"

INERT: Final[Mapping[str, Why]] = {
    SHARE_DOWN: {**_NO_BUDGET, Step.POOL_SIZE: _SMALLER_POOL, Step.ONE_REQUEST: _SMALLER_POOL},
    SHARE_UP: {
        **_NO_BUDGET,
        Step.START_CHECK: "a larger share asks for more than the share that is not free already",
        **dict.fromkeys((Step.CAPTURE, Step.WARM_UP, Step.SERVING), _LARGER_POOL),
    },
    "max_model_len_down": {
        **_PROFILED,
        Step.PROFILE: "one step reads --max-num-batched-tokens, however long a request may be",
        Step.GRAPH_PROFILE: "the blocks of this pool are counted by graphs and sequences, not by length",
        **dict.fromkeys(
            (Step.POOL_SIZE, Step.CAPTURE, Step.WARM_UP, Step.SERVING),
            "the pool takes all that is left, however short requests are",
        ),
    },
    "max_num_seqs_down": _PROFILED,
    "max_num_batched_tokens_down": {
        **_PROFILED,
        Step.GRAPH_PROFILE: "the blocks of this pool are counted by graphs and sequences, not by the tokens of a step",
    },
    "enforce_eager": _GRAPHS,
    "fewer_cudagraph_sizes": _GRAPHS,
    "kv_cache_memory_bytes": {
        Step.START_CHECK: "the share is compared all the same",
        Step.LOAD: _WEIGHTS,
        Step.PROFILE: "this run is made all the same; only what it leaves is not shared out",
    },
    "kv_cache_dtype_fp8": {
        **_PROFILED,
        Step.PROFILE: "there are no keys and values yet",
        **dict.fromkeys(
            (Step.POOL_SIZE, Step.CAPTURE, Step.WARM_UP),
            "the pool takes all that is left; it then holds more tokens, not fewer bytes",
        ),
    },
    "mm_limits": {
        **_PROFILED,
        Step.GRAPH_PROFILE: "no picture is encoded while graphs are profiled",
        Step.CAPTURE: "no picture is encoded while graphs are captured",
        Step.WARM_UP: "no picture is encoded while the sampler is warmed up",
    },
    "tp_or_more_gpus": {Step.START_CHECK: "every rank compares its own device with the share"},
    "quantised_checkpoint": {Step.START_CHECK: _START},
    "env_estimate_cudagraphs_0": {
        **dict.fromkeys((Step.START_CHECK, Step.LOAD, Step.PROFILE, Step.GRAPH_PROFILE, Step.SERVING), _ESTIMATE),
        **dict.fromkeys((Step.CAPTURE, Step.WARM_UP), "without the estimate the pool takes what the graphs need"),
    },
    "alloc_conf": dict.fromkeys(Step, _ALLOCATOR),
}

# Where one prompt is read in one step, its length sizes the step, and with it what the profile takes.
_WHOLE_PROMPTS: Final[Since[frozenset[Step]]] = Since(
    {
        "0.1.0": frozenset({Step.PROFILE, Step.POOL_SIZE}),  # worker/worker.py
        "0.8.0": frozenset(),  # engine/arg_utils.py
    }
)


def idle(lever: str, step: Step, release: Release | None) -> str | None:
    """Why moving this lever does not help at this gate; None where it may."""
    if lever == "max_model_len_down" and release is not None and step in _WHOLE_PROMPTS.at(release):
        return None
    return INERT.get(lever, {}).get(step)
