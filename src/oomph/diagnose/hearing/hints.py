"""By which few words a line of a log is worth reading when a failure is asked about.

Knows the words of failures, of platforms and of engines, and collects what each rule looks for. Does not know what the
words mean.
"""

import pkgutil
from functools import cache
from importlib import import_module
from typing import Final

from oomph.diagnose import rules as _rules
from oomph.engines.vllm.hearing import HINTS as _SENTENCES

# A stretch of log without any of these holds nothing that matters. They are few, because all of a log is searched.
FIRST_HINTS: Final = (b"emor", b"iB", b"lloc", b"rror", b"illed", b"OOM", b"args: ")
_FAILURES: Final = (
    *(b" version ", b" took ", b"xception", b"startup complete", b"space left"),
    *(b'File "', b"Traceback", b"ERROR", b"WARN", b"CRITICAL", b"Aborted", b"Bus error", b"oom", b"shm", b"137"),
    *(b"ENOSPC", b"ENOMEM", b"SIGKILL", b"NVML", b"not ready", b"Process ", b"failed", b": prompt: "),
)
_ENGINES: Final = (
    *(b"ggml_", b"llama_", b"GGML", b"load_tensors", b"common_", b"VRAM", b"server is listening"),
    *(b"Load weight", b"avail mem", b"mem_fraction", b"mem-fraction", b"#token", b"fired up", b"Memory pool"),
    *(b"Uvicorn running", b"Starting vLLM API", b"cuda graph", b"CUDA graph", b"profile run", b"autotun"),
)
_PLATFORMS: Final = (
    *(b"WSL", b"MIG", b"ROCm", b"rocm", b"gfx", b"XPU", b"xpu", b"GB10", b"Orin", b"Thor", b"detected platform"),
)


@cache
def hints() -> tuple[bytes, ...]:
    """Every word that makes a line worth reading, those of all rules among them."""
    modules = (import_module(f"{_rules.__name__}.{found.name}") for found in pkgutil.iter_modules(_rules.__path__))
    of_rules = (hint for module in modules for hint in getattr(module, "HINTS", ()))
    known = (*FIRST_HINTS, *_FAILURES, *_ENGINES, *_PLATFORMS, *_SENTENCES)
    return tuple(dict.fromkeys((*known, *of_rules)))
