"""Short logs in the engine's own words, for the tests of cases."""

from oomph.diagnose.case import Case
from oomph.diagnose.hearing.case_of import case_of

CORE = "(EngineCore_DP0 pid=9) ERROR 04-24 10:22:36 [core.py:936] "
WEIGHTS = (
    "(EngineCore_DP0 pid=9) INFO 04-24 10:21:03 [x.py:4820] Model loading took 18.47 GiB memory and 10.990096 seconds"
)
POOL = "(EngineCore_DP0 pid=9) INFO 04-24 10:22:30 [gpu_worker.py:436] Available KV cache memory: 9.37 GiB"
SERVER = "(APIServer pid=1) INFO 04-24 10:20:00 [utils.py:233] vLLM API server version {release}"
UP = "(APIServer pid=1) INFO:     Application startup complete."
OVERFLOW = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.56 GiB. GPU 0 has a total capacity of 31.36 GiB "
    "of which 1.37 GiB is free. Including non-PyTorch memory, this process has 29.98 GiB memory in use. Of the "
    "allocated memory 24.95 GiB is allocated by PyTorch, and 4.49 GiB is reserved by PyTorch but unallocated."
)


def case(*lines: str) -> Case:
    return case_of(enumerate(lines, 1))


def traced(*functions: str, raised: str = OVERFLOW, prefix: str = CORE) -> list[str]:
    """A traceback through these, each `file:function`."""
    places = [each.rpartition(":") for each in functions]
    frames = [f'{prefix}  File "/opt/vllm/{file or "v1/worker/x.py"}", line 1, in {name}' for file, _, name in places]
    return [f"{prefix}Traceback (most recent call last):", *frames, f"{prefix}{raised}"]
