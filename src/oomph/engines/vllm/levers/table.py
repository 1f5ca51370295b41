"""Every lever, the least painful first, and the gates at which each tells.

Which gates: what each flag is read by in the releases' own files, one line per change. Whether it helps enough is for
the forecast to say; a lever that does not act at a gate is neither tried nor advised there.
"""

from typing import Final

from oomph.engines.history import Since
from oomph.engines.vllm.levers import prices, values
from oomph.engines.vllm.levers.lever import Lever, Steps
from oomph.engines.vllm.levers.startup import RELEASE
from oomph.ledger.gate import Step

_NONE: Final[Steps] = frozenset()
_POOL: Final = frozenset({Step.POOL_SIZE, Step.ONE_REQUEST})
_AFTER: Final = frozenset({Step.CAPTURE, Step.WARM_UP, Step.SERVING})
_GRAPHS: Final = frozenset({Step.GRAPH_PROFILE})
_PROFILE: Final = frozenset({Step.PROFILE})
_LOADED: Final = frozenset({Step.LOAD}) | _PROFILE | _GRAPHS | _POOL | _AFTER
_ALL: Final = frozenset(Step)

# Graphs: budgeted by nobody, then estimated in a pool of their own, then charged to the budget.
_OF_GRAPHS: Final[Since[Steps]] = Since(
    {
        "0.6.0": _AFTER,  # worker/model_runner.py
        "0.18.0": _AFTER | _GRAPHS,  # v1/worker/gpu_worker.py
        "0.20.0": _AFTER | _GRAPHS | _POOL,  # envs.py
    }
)

# The same for their sizes, which were no flags of their own at first.
_OF_CAPTURES: Final[Since[Steps]] = Since(
    {
        "0.6.0": _NONE,  # engine/arg_utils.py
        "0.11.1": _AFTER,  # config/vllm.py
        "0.18.0": _AFTER | _GRAPHS,  # v1/worker/gpu_model_runner.py
        "0.20.0": _AFTER | _GRAPHS | _POOL,  # envs.py
    }
)

HOST: Final = "cpu_offload_gb"
MORE_GPUS: Final = "tensor_parallel_size"
LAST: Final = (HOST, MORE_GPUS)  # what costs most of the speed, and what costs money

SEQUENCES: Final = Lever(
    flag="max_num_seqs",
    values=values.fewer_sequences,
    price=prices.fewer_sequences,
    acts=Since(
        {
            "0.6.0": _PROFILE | _POOL | _AFTER,  # worker/model_runner.py
            "0.18.0": _PROFILE | _GRAPHS | _POOL | _AFTER,  # v1/worker/gpu_model_runner.py
        }
    ),
)

UPGRADE: Final = Lever(
    flag=RELEASE,
    values=values.newer_release,
    price=prices.newer_release,
    acts=Since({"0.6.0": _ALL}),  # version.py
)

LEVERS: Final = (
    Lever(
        flag="gpu_memory_utilization",
        values=values.lower_share,
        price=prices.lower_share,
        acts=Since(
            {
                "0.6.0": _AFTER,  # worker/worker.py
                "0.9.1": _AFTER | {Step.START_CHECK},  # v1/worker/gpu_worker.py
            }
        ),
        against=_POOL,
    ),
    Lever(
        flag="gpu_memory_utilization",
        values=values.higher_share,
        price=prices.higher_share,
        acts=Since({"0.6.0": _POOL}),  # worker/worker.py
        against=_AFTER | {Step.START_CHECK},
    ),
    Lever(
        flag="max_cudagraph_capture_size",
        values=values.smaller_captures,
        price=prices.smaller_captures,
        acts=_OF_CAPTURES,
    ),
    Lever(
        flag="cudagraph_capture_sizes",
        values=values.shorter_captures,
        price=prices.smaller_captures,
        acts=_OF_CAPTURES,
    ),
    SEQUENCES,
    Lever(
        flag="kv_cache_memory_bytes",
        values=values.given_pool,
        price=prices.given_pool,
        acts=Since(
            {
                "0.6.0": _NONE,  # engine/arg_utils.py
                "0.10.2": _POOL | _AFTER,  # v1/worker/gpu_worker.py
                "0.18.0": _POOL | _AFTER | _GRAPHS,  # v1/worker/gpu_worker.py
            }
        ),
        against=_POOL,
        risky=True,
    ),
    Lever(
        flag="kv_cache_memory_bytes",
        values=values.larger_pool,
        price=prices.given_pool,
        acts=Since(
            {
                "0.6.0": _NONE,  # engine/arg_utils.py
                "0.10.2": _POOL,  # v1/worker/gpu_worker.py
            }
        ),
        against=_AFTER,
    ),
    Lever(
        flag="kv_cache_memory_bytes",
        values=values.no_given_pool,
        price=prices.no_given_pool,
        acts=Since(
            {
                "0.6.0": _NONE,  # engine/arg_utils.py
                "0.10.2": _POOL | _AFTER,  # v1/worker/gpu_worker.py
            }
        ),
        monotone=False,
    ),
    Lever(
        flag="max_num_batched_tokens",
        values=values.fewer_step_tokens,
        price=prices.fewer_step_tokens,
        acts=Since({"0.6.0": _PROFILE | _POOL | _AFTER}),  # worker/model_runner.py
    ),
    Lever(
        flag="limit_mm_per_prompt",
        values=values.fewer_pictures,
        price=prices.fewer_pictures,
        acts=Since(
            {
                "0.6.0": _NONE,  # engine/arg_utils.py
                "0.8.5": _PROFILE | _POOL | _AFTER,  # engine/arg_utils.py
            }
        ),
    ),
    Lever(
        flag="language_model_only",
        values=values.text_alone,
        price=prices.text_alone,
        acts=Since(
            {
                "0.6.0": _NONE,  # engine/arg_utils.py
                "0.17.0": _LOADED,  # config/multimodal.py
            }
        ),
    ),
    Lever(
        flag="kv_cache_dtype",
        values=values.narrow_keys,
        price=prices.narrow_keys,
        acts=Since(
            {
                "0.6.0": frozenset({Step.ONE_REQUEST}),  # worker/cache_engine.py
                "0.18.0": frozenset({Step.ONE_REQUEST}) | _GRAPHS,  # v1/worker/gpu_model_runner.py
            }
        ),
    ),
    Lever(
        flag="speculative_config",
        values=values.fewer_guesses,
        price=prices.fewer_guesses,
        acts=Since(
            {
                "0.6.0": _NONE,  # engine/arg_utils.py
                "0.8.2": _LOADED,  # config.py
            }
        ),
    ),
    Lever(
        flag="max_model_len",
        values=values.shorter_requests,
        price=prices.shorter_requests,
        acts=Since(
            {
                "0.6.0": _PROFILE | _POOL,  # worker/model_runner.py
                "0.8.0": frozenset({Step.ONE_REQUEST}),  # v1/core/kv_cache_utils.py
            }
        ),
    ),
    Lever(
        flag="quantization",
        values=values.narrow_weights,
        price=prices.narrow_weights,
        acts=Since({"0.6.0": _LOADED}),  # model_executor/layers/quantization/fp8.py
    ),
    Lever(
        flag="enforce_eager",
        values=values.no_graphs,
        price=prices.no_graphs,
        acts=_OF_GRAPHS,
    ),
    UPGRADE,
    Lever(
        flag=HOST,
        values=values.with_host,
        price=prices.with_host,
        acts=Since({"0.6.0": _LOADED}),  # model_executor/models/utils.py
    ),
    Lever(
        flag=MORE_GPUS,
        values=values.more_ranks,
        price=prices.more_ranks,
        acts=Since({"0.6.0": _LOADED}),  # config.py
        monotone=False,
    ),
)
