"""How running out looks, and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.overflow import killed_in, overflow_in, reports

TORCH = "CUDA out of memory. Tried to allocate 1.56 GiB. GPU 0 has a total capacity of 31.36 GiB"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"torch.OutOfMemoryError: {TORCH}", "torch.OutOfMemoryError"),
        (f"RuntimeError: Worker failed with error '{TORCH}'", "torch.OutOfMemoryError"),
        ("HIP out of memory. Tried to allocate 2.00 GiB.", "torch.OutOfMemoryError"),
        ("XPU out of memory. Tried to allocate 2.00 GiB.", "torch.OutOfMemoryError"),
        ('RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "x":1165', "NVML assert"),
        ("RuntimeError: CUDA driver error: device not ready", "cudaErrorNotReady"),
        ("torch.AcceleratorError: CUDA error: out of memory", "CUDA error"),
        ("RuntimeError: CUDA Error: out of memory at /csrc/cumem_allocator.cpp:62", "CUDA error"),
        ("Cuda failure 2 'out of memory'", "CUDA error"),
        ("cudaErrorMemoryAllocation: x", "CUDA error"),
        ("expandable_segments: memory mapping failed with OOM on device 0 while trying to map 20971520", "CUDA error"),
        (
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8849.72 MiB: cudaMalloc failed: out of memory",
            "ggml",
        ),
        ("ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 13327728640", "ggml"),
        ("llama_kv_cache_init: failed to allocate buffer for kv cache", "ggml"),
        ("Out of memory: Killed process 3742074 (python) total-vm:81306880kB, anon-rss:1058560kB", "Killed"),
        ("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=python3,pid=12,uid=0", "Killed"),
        ("Memory cgroup out of memory: Killed process 12 (VLLM::EngineCor)", "Killed"),
        ("    Reason:       OOMKilled", "Killed"),
        ('            "OOMKilled": true,', "Killed"),
        ("systemd-oomd[812]: Killed /user.slice due to memory pressure", "Killed"),
        ("Ray killed this worker (ID: 7) because it was the most recently scheduled task", "Killed"),
        ("NCCL WARN Error while creating shared memory segment /dev/shm/nccl-97p6hH (size 9637888)", "OSError"),
        ("OSError: [Errno 28] No space left on device: '/dev/shm/psm_1'", "OSError"),
        (
            "RuntimeError: [enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried",
            "MemoryError",
        ),
        ("MemoryError", "MemoryError"),
        ("terminate called after throwing an instance of 'std::bad_alloc'", "MemoryError"),
        ("RuntimeError: Prefill out of memory. Try to lower your batch size.", "OutOfMemoryError"),
    ],
)
def test_each_way_to_run_out_is_known_by_its_own_words(text: str, kind: str) -> None:
    assert overflow_in(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "CUDA graphs can take additional 1~3 GiB memory per GPU. If you are running out of memory, decrease",
        "this may lead to out of memory errors later",
        '            "OOMKilled": false,',
        "Memory profiling takes 3.25 seconds",
        "Model loading took 18.47 GiB memory and 10.99 seconds",
        "",
    ],
)
def test_a_warning_of_it_is_not_it(text: str) -> None:
    assert overflow_in(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Killed",
        "./run.sh: line 3: 4242 Killed  python -m vllm.entrypoints.openai.api_server",
        "worker exited with exit code 137",
        "The process was terminated by SIGKILL",
        "exitcode: -9",
        "code=killed, status=9/KILL",
    ],
)
def test_a_kill_without_a_reason_is_a_kill_and_no_overflow(text: str) -> None:
    assert killed_in(text)
    assert overflow_in(text) is None


@pytest.mark.parametrize("text", ["took 137 s", "signal 15", "rank 9", "exit code 1", "-9.5"])
def test_numbers_that_look_like_a_kill_are_none(text: str) -> None:
    assert not killed_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
        "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
        "Exception: WorkerProc initialization failed due to an exception in a background process.",
        "torch.distributed.DistBackendError: ncclRemoteError: A call failed possibly due to a network error",
    ],
)
def test_who_tells_of_another_that_failed_only_reports(text: str) -> None:
    assert reports(text)


def test_the_cause_itself_is_no_report() -> None:
    assert not reports(f"torch.OutOfMemoryError: {TORCH}")


@given(st.text(max_size=5_000))
def test_no_text_breaks_it(text: str) -> None:
    assert overflow_in(text) is None or text
    assert reports(text) in {True, False}
    assert killed_in(text) in {True, False}
