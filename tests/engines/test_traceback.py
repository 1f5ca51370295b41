"""Python's tracebacks as logs hold them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.traceback import begins, chains, frame_in, is_code, raised_in, shortened


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        (
            'File "/opt/venv/lib/python3.12/site-packages/vllm/v1/worker/gpu_worker.py", line 381, in load_model',
            ("v1/worker/gpu_worker.py", "load_model"),
        ),
        ('  File "…/vllm/v1/engine/core.py", line 506, in run_engine_core', ("v1/engine/core.py", "run_engine_core")),
        ('  File "/vllm/v1/engine/core.py", line 506, in __init__', ("v1/engine/core.py", "__init__")),
        ('File "/src/vllm/vllm/worker/worker.py", line 9, in wake_up', ("worker/worker.py", "wake_up")),
        (
            'File "/usr/lib/torch/cuda/graphs.py", line 84, in capture_end',
            ("/usr/lib/torch/cuda/graphs.py", "capture_end"),
        ),
        (
            '  File "/x/sglang/srt/model_executor/model_runner.py", line 2, in f',
            ("sglang/srt/model_executor/model_runner.py", "f"),
        ),
        ('  File "<string>", line 1, in <module>', ("<string>", "<module>")),
        ('  File "a.py", line 1', ("a.py", "")),
        ('File "C:\\venv\\site-packages\\vllm\\worker\\worker.py", line 3, in f', ("worker/worker.py", "f")),
    ],
)
def test_a_frame_is_a_file_without_where_it_is_installed_and_a_function(text: str, frame: tuple[str, str]) -> None:
    assert frame_in(text) == frame


@pytest.mark.parametrize("text", ["return func(*args)", "see a.py, line 3", 'opened File "x"', "", '"File", line'])
def test_what_only_looks_like_a_frame_is_none(text: str) -> None:
    assert frame_in(text) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory.", "torch.OutOfMemoryError"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory.", "torch.cuda.OutOfMemoryError"),
        ("ValueError: No available memory for the cache blocks.", "ValueError"),
        ("Exception: Capture cuda graph failed", "Exception"),
        ("AssertionError", "AssertionError"),
        ("vllm.v1.engine.exceptions.EngineDeadError: x", "vllm.v1.engine.exceptions.EngineDeadError"),
        ("ray.exceptions.RayTaskError(ValueError): ray::x()", "ValueError"),
        ("KeyboardInterrupt", "KeyboardInterrupt"),
        (
            "triton.runtime.errors.OutOfResources: out of resource: shared memory",
            "triton.runtime.errors.OutOfResources",
        ),
    ],
)
def test_an_exception_stands_at_the_beginning_of_its_line(text: str, kind: str) -> None:
    raised = raised_in(text)

    assert raised is not None
    assert raised[0] == kind


@pytest.mark.parametrize("text", ["an Error: no", "raise ValueError('x')", "an error: x", "Errors: 3", ""])
def test_what_only_speaks_of_an_error_raises_none(text: str) -> None:
    assert raised_in(text) is None


def test_lines_of_source_below_a_frame_are_told_from_what_is_said() -> None:
    assert is_code('raise ValueError("No available memory for the cache blocks. "')
    assert is_code("self.model_runner._dummy_sampler_run(")
    assert not is_code("ValueError: No available memory for the cache blocks.")


def test_a_traceback_begins_and_one_follows_from_another() -> None:
    assert begins("Traceback (most recent call last):")
    assert chains("During handling of the above exception, another exception occurred:")
    assert chains("The above exception was the direct cause of the following exception:")
    assert not chains("Traceback (most recent call last):")


@given(st.text(max_size=3_000))
def test_no_text_breaks_it(text: str) -> None:
    assert frame_in(text) is None or ", line " in text
    assert raised_in(text) is None or raised_in(text)[0] in text  # type: ignore[index]  # it is there
    assert len(shortened(text)) <= len(text)
