"""By which words lines are worth reading."""

from importlib import import_module
from pkgutil import iter_modules

import pytest

from diagnose.logs import OVERFLOW
from oomph.diagnose import rules
from oomph.diagnose.hearing.hints import FIRST_HINTS, hints
from oomph.engines.vllm.hearing import HINTS


def test_every_rule_gets_the_lines_that_it_looks_for() -> None:
    modules = [import_module(f"{rules.__name__}.{found.name}") for found in iter_modules(rules.__path__)]
    wanted = {hint for module in modules for hint in getattr(module, "HINTS", ())}

    assert wanted <= set(hints())
    assert set(HINTS) | set(FIRST_HINTS) <= set(hints())
    assert len(hints()) == len(set(hints()))


@pytest.mark.parametrize(
    "line",
    [
        OVERFLOW,
        "ValueError: No available memory for the cache blocks.",
        "Out of memory: Killed process 3742074 (python) total-vm:81306880kB",
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8849.72 MiB on device 0: cudaMalloc failed",
        "RuntimeError: CUDA driver error: device not ready",
        "Reason: OOMKilled",
        "OSError: [Errno 28] No space left on device",
        "INFO 04-24 10:20:00 [utils.py:233] non-default args: {'model': 'a/b'}",
        "Killed",
    ],
)
def test_a_failure_is_never_passed_over(line: str) -> None:
    assert any(hint in line.encode() for hint in FIRST_HINTS)
