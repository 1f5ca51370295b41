"""What rules about the capture of graphs have in common: whether it failed there, and what the engine had set aside.

Knows frames and sentences of captures, old and new. Does not know any cause.
"""

import re
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Said
from oomph.diagnose.grounds.profiling import RUN, SAMPLER
from oomph.diagnose.grounds.sampling import sampled
from oomph.diagnose.grounds.serving import ENGINE, device_overflow, through
from oomph.engines.vllm.charged import GRAPHS_NOT_CHARGED
from oomph.ledger.observation import Quantity
from oomph.units import MIB

# worker/model_runner.py, v1/worker/gpu_model_runner.py, compilation/cuda_graph.py, torch/cuda/graphs.py
FRAMES: Final = (
    *("capture_model", "_capture_cudagraphs", "capture_end", "capture_begin", "warm_up_model", "capture_graphs"),
    *("torch/cuda/graphs.py", "compilation/cuda_graph.py", "compilation/cuda_piecewise_backend.py"),
    *("cudagraph_utils.py", "_warmup_and_capture", "capture_piecewise_graphs"),
)
BEGUN: Final = re.compile(
    r"Capturing the model for CUDA graphs|Capturing cudagraphs for decoding|CUDA graphs can take additional"
    r"|Capturing CUDA graphs?\b|Capturing model for|Registering [0-9]{1,9} cuda graph addresses"
)
DONE: Final = re.compile(r"Graph capturing finished in")
_PHASES: Final = frozenset({Phase.GRAPH_CAPTURE, Phase.WARM_UP, Phase.KV_ALLOC, None})
_SMALL: Final = 512 * MIB
_MAKING_POOL: Final = ("initialize_kv_cache", "initialize_kv_cache_tensors", "_allocate_kv_cache_tensors")
_ROOMY: Final = 0.7  # of a device that the weights take: one step of a profile that reads in pieces fits beside them
_PROFILE_OF_GRAPHS: Final = ("profile_cudagraph_memory", "_init_minimal_kv_cache_for_profiling")


def capturing(case: Case) -> Said | None:
    """The line that shows best that it failed while graphs were captured; None where nothing does."""
    if case.engine not in ENGINE or case.phase not in _PHASES or through(case, *_PROFILE_OF_GRAPHS) is not None:
        return None
    if (frame := through(case, *FRAMES)) is not None or case.served:
        return frame
    begun = None if through(case, *RUN) is not None else case.line(BEGUN)
    if begun is not None:
        return begun if case.line(DONE) is None else None
    likely = case.phase is Phase.GRAPH_CAPTURE or _among_graphs(case) or _after_pool(case)
    return case.failure.said if likely and case.failure is not None else None


def _among_graphs(case: Case) -> bool:
    """On the way up, with graphs on the device already, and not in the sampler: between two captures."""
    pools = case.size(Quantity.PRIVATE)
    if case.phase is not Phase.WARM_UP or pools is None or pools.low <= 0 or case.line(DONE) is not None:
        return False
    return through(case, *SAMPLER) is None and sampled(case) is None


def _after_pool(case: Case) -> bool:
    """A small request right after the pool was counted: the pool itself is made of large ones."""
    tried, counted = case.size(Quantity.TRIED), case.spoken("tokens")
    if tried is None or counted is None or tried.high > _SMALL or case.line(DONE) is not None:
        return False
    return case.phase is Phase.KV_ALLOC and through(case, *_MAKING_POOL) is None


def failed(case: Case) -> bool:
    """It is certain that something failed: an error is there, or a traceback."""
    return device_overflow(case) is not None or bool(case.failures) or through(case, *FRAMES) is not None


def estimated(case: Case) -> bool:
    """An estimate of the graphs was made, and was not left out of the budget."""
    told = case.size(Quantity.GRAPH_ESTIMATE) is not None or case.spoken("graphs charged") is not None
    return told and case.spoken("graphs not charged") is None


def second_runner(case: Case) -> Said | None:
    """The second model runner ran: it says so, or its frames are there."""
    return case.spoken("runner") or through(case, "v1/worker/gpu/model_runner.py", "v1/worker/gpu/cudagraph_utils.py")


def past_profile(case: Case) -> bool:
    """A traceback inside the model, after weights that leave a step plenty of room: no profile, then a capture."""
    weights, device = case.size(Quantity.WEIGHTS), case.devices[0].total if case.devices else None
    if weights is None or device is None or case.release is None or case.release not in GRAPHS_NOT_CHARGED:
        return False
    inside = through(case, "model_executor/") is not None and through(case, *RUN, "load_model") is None
    return inside and weights.likely <= _ROOMY * device and case.flags.get("enforce_eager") is not True
