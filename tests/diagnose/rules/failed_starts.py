"""Failed starts for tests of rules: tracebacks as the engine prints them, and the cases that they make."""

from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.explain import explain
from oomph.diagnose.finding import Finding
from oomph.diagnose.hearing.case_of import case_of
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.settings import Flags, Value

_BEFORE: Final = "(EngineCore pid=1) ERROR 08-10 10:00:36 [core.py:1108] "
PROFILE: Final = (
    "v1/worker/gpu_worker.py:determine_available_memory",
    "v1/worker/gpu_model_runner.py:profile_run",
)
WARM_UP: Final = (
    "v1/executor/abstract.py:initialize_from_config",
    "v1/worker/gpu_worker.py:compile_or_warm_up_model",
)
CAPTURE: Final = (*WARM_UP, "v1/worker/gpu_model_runner.py:capture_model")
STEP: Final = "v1/worker/gpu_model_runner.py:_dummy_run"
SAMPLER: Final = "v1/worker/gpu_model_runner.py:_dummy_sampler_run"


def traceback(*frames: str, error: str, root: str = "/vllm/") -> tuple[str, ...]:
    """Frames as `file:function`; a file that begins with a stroke is no file of the engine's."""
    told = (frame.rpartition(":") for frame in frames)
    return (
        f"{_BEFORE}Traceback (most recent call last):",
        *(
            f'{_BEFORE}  File "{file if file.startswith("/") else root + file}", line 500, in {function}'
            for file, _, function in told
        ),
        f"{_BEFORE}{error}",
    )


def out_of_memory(
    tried: str,
    *,
    free: str = "80.00 MiB",
    total: str = "23.57 GiB",
    in_use: str = "23.40 GiB",
    allocated: str = "22.50 GiB",
    private: str | None = None,
) -> str:
    """PyTorch's account."""
    pools = "" if private is None else f", with {private} allocated in private pools (e.g., CUDA Graphs)"
    return (
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}. GPU 0 has a total capacity of {total} "
        f"of which {free} is free. Including non-PyTorch memory, this process has {in_use} memory in use. Of the "
        f"allocated memory {allocated} is allocated by PyTorch{pools}, and 100.00 MiB is reserved by PyTorch but "
        "unallocated."
    )


def case(*lines: str, release: Value = None, model: Value = None, gpu: Value = None, **flags: Value) -> Case:
    """What a log shows, with what is given beside it."""
    return case_of(
        enumerate(lines, 1),
        release=None if release is None else HISTORY.release(str(release)),
        model_name=None if model is None else str(model),
        devices=() if gpu is None else (CATALOGUE[str(gpu)],),
        flags=Flags(flags),
    )


def first(*lines: str, **given: Value) -> Finding:
    """The root cause."""
    return explain(case(*lines, **given))[0]
