"""What the budget of vLLM counts, and what it leaves out, by release: what explanations of failures turn on.

One line per fact, with the file, below `vllm/`, where it can be seen; releases before 0.6.0 as their published source
has them. Does not know any log.
"""

from typing import Final

from oomph.engines.history import Span, span

# Whatever another process holds on the device is charged to this engine: by V0, and by V1.
NEIGHBOURS_CHARGED: Final[tuple[Span, ...]] = (
    span("0.2.5", "0.4.0"),  # worker/worker.py
    span("0.6.4", "0.6.5"),  # worker/worker.py
    span("0.6.6", "0.9.1"),  # v1/worker/gpu_worker.py
)

# V1 runs where nobody chooses.
V1_BY_DEFAULT: Final[Span] = span("0.8.0")  # envs.py

# 1,024 sequences at once where nobody says how many, on every device.
MANY_SEQUENCES: Final[Span] = span("0.8.0", "0.8.4")  # engine/arg_utils.py

# Graphs are captured in what the pool has left over: no estimate of them is taken from the budget.
GRAPHS_NOT_CHARGED: Final[Span] = span("0.2.7", "0.20.0")  # v1/worker/gpu_worker.py
GRAPHS_CHARGED: Final[Span] = span("0.20.0")  # envs.py

# The second runner tells an estimate of 0 for them.
SECOND_RUNNER_SILENT: Final[Span] = span("0.16.0", "0.29.0")  # v1/worker/gpu/model_runner.py

# Graphs are profiled in a throw-away pool.
THROW_AWAY_POOL: Final[Span] = span("0.18.0")  # v1/worker/gpu_model_runner.py

# Free memory that stayed the same while profiling is taken for an error, as memory that rose is.
EQUAL_IS_AN_ERROR: Final[Span] = span("0.2.0", "0.16.0")  # v1/worker/gpu_worker.py

# Buffers of collectives may come after the first look at free memory, and are then charged.
COLLECTIVES_AFTER_LOOK: Final[Span] = span("0.2.0", "0.11.0")  # v1/worker/gpu_worker.py

# A prompt can be read in pieces at all; before, a step reads the longest one whole.
PROMPT_IN_PIECES: Final[Span] = span("0.4.0")  # config.py

# A pool of a given size, with which the profile of graphs and the measuring of memory are left out.
POOL_GIVEN: Final[Span] = span("0.10.2")  # config/cache.py

# The largest graph can be given by itself; before, as a list of all of them.
LARGEST_GRAPH: Final[Span] = span("0.11.1")  # engine/arg_utils.py
