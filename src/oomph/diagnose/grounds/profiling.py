"""What rules about the profile run have in common: whether it failed there, and in which part of it.

Knows the order of a profile run (pictures, one full step, the sampler) and what its frames are called. Does not know
any cause.
"""

from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.finding import Said
from oomph.diagnose.grounds.arithmetic import expert_workspace, explained
from oomph.diagnose.grounds.serving import ENGINE, device_overflow, through
from oomph.diagnose.grounds.sizing import TRACEBACK
from oomph.ledger.observation import Quantity
from oomph.ledger.weights import Experts

# v1/worker/gpu_model_runner.py, worker/model_runner.py
RUN: Final = ("profile_run", "determine_available_memory", "determine_num_available_blocks")
STEP: Final = ("_dummy_run",)
SAMPLER: Final = ("_dummy_sampler_run", "v1/sample/", "layers/sampler.py")
ENCODER: Final = (
    *("get_multimodal_embeddings", "embed_multimodal", "get_image_features", "get_video_features"),
    *("_process_image_input", "_process_video_input", "_process_audio_input", "_image_pixels_to_features"),
    *("vision_embeddings", "get_vision_embeddings", "_execute_mm_encoder", "models/siglip.py", "models/clip.py"),
    *("models/intern_vit.py", "models/pixtral.py", "models/idefics2_vision_model.py", "models/vision.py"),
)
_AFTER: Final = frozenset(
    {"profile", "pool", "blocks", "tokens", "concurrency", "graphs begun", "graphs captured", "started"}
)


def profiling(case: Case) -> bool:
    """It failed in the profile run, as far as can be told."""
    if case.served or case.engine not in ENGINE:
        return False
    return case.phase is Phase.PROFILE or (case.phase is None and through(case, *RUN) is not None)


def cut(case: Case) -> bool:
    """Nothing says that it ran out: the log ends inside the traceback."""
    return device_overflow(case) is None and case.failure is not None and case.failure.kind == TRACEBACK


def passed(case: Case, said: Said) -> bool:
    """Whether the engine came further than this line: to its pool."""
    lines = () if case.observation is None else case.observation.lines
    return any(line.name in _AFTER and line.line > said.line for line in lines)


def overflowed(case: Case) -> Said | None:
    """The line in which it ran out; where the log keeps only frames, the last of them."""
    if (said := device_overflow(case)) is not None:
        return said
    return next((said for said in reversed(case.log) if 'File "' in said.text), None)


_BEGINS: Final = frozenset(
    {"server", "engine", "weights", "budget", "profile", "pool", "graphs begun", "graphs profiled"}
)


def went_on(case: Case, said: Said) -> bool:
    """Whether an engine was heard to come up after this line: what it tells is of an earlier start."""
    lines = () if case.observation is None else case.observation.lines
    return any(line.name in _BEGINS and line.line > said.line and line.rank == said.rank for line in lines)


def of_experts(case: Case) -> tuple[str, ...]:
    """What experts keep of a full step, where just that was asked for and the model is at hand."""
    tried, forecast = case.size(Quantity.TRIED), case.forecast
    geometry = None if forecast is None else forecast.geometry
    if tried is None or forecast is None or geometry is None or geometry.chosen is None:
        return ()
    pieces = (piece for layer in geometry.layers for piece in layer.weights)
    experts = next((piece for piece in pieces if isinstance(piece, Experts)), None)
    step = forecast.settings.get("max_num_batched_tokens")
    if experts is None or step is None or not isinstance(step.value, int):
        return ()
    inner = experts.inner // case.flags.count("tensor_parallel_size")
    found = explained(tried, expert_workspace(step.value, chosen=geometry.chosen, inner=inner, hidden=geometry.hidden))
    return () if found is None else (str(found),)
