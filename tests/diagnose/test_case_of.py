"""From a log, whatever it looks like, to a case."""

import gzip
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.logs import CORE, OVERFLOW, POOL, SERVER, UP, WEIGHTS, case, traced
from oomph.diagnose.case import Case, Phase, Platform
from oomph.diagnose.hearing.case_of import case_of
from oomph.diagnose.hearing.hints import FIRST_HINTS, hints
from oomph.engines.history import release
from oomph.ledger.catalogue import devices
from oomph.ledger.observation import Quantity
from oomph.ledger.settings import Flags
from oomph.readers.log import read_log
from oomph.units import GIB

NO_POOL = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`."
START = (
    SERVER.format(release="0.14.0"),
    WEIGHTS,
    *traced("v1/worker/gpu_worker.py:determine_available_memory", ":profile_run"),
)


def size(found: Case, quantity: Quantity) -> float | None:
    said = found.size(quantity)
    return None if said is None else round(said.likely / GIB, 2)


def test_a_failed_start_is_read_whole() -> None:
    found = case(*START)

    assert (found.engine, str(found.release), found.phase, found.served) == ("vLLM", "0.14.0", Phase.PROFILE, False)
    assert found.failure is not None
    assert found.failure.kind == "torch.OutOfMemoryError"
    assert (found.failure.said.line, found.failure.said.rank) == (6, "EngineCore_DP0")
    assert [frame.place for frame in found.failure.frames] == [
        "v1/worker/gpu_worker.py:determine_available_memory",
        "v1/worker/x.py:profile_run",
    ]
    assert (size(found, Quantity.WEIGHTS), size(found, Quantity.TRIED)) == (18.47, 1.56)
    assert len(found.log) == 6


def test_what_is_given_wins_over_what_the_log_says() -> None:
    args = "INFO 04-24 10:20:00 [utils.py:233] non-default args: {'model': 'a/b', 'max_num_seqs': 8, 'seed': 1}"
    found = case_of(
        enumerate((args, *START), 1),
        release=release("0.19.1"),
        flags=Flags({"max_num_seqs": 16}),
        model_name="c/d",
        devices=devices("rtx-5090"),
        platform=[Platform.WSL2],
    )

    assert (str(found.release), found.model, found.flags["max_num_seqs"], found.flags["seed"]) == (
        "0.19.1",
        "c/d",
        16,
        1,
    )
    assert found.devices == devices("rtx-5090")
    assert found.platform == {Platform.WSL2}


def test_nothing_is_known_of_nothing() -> None:
    found = case()

    assert (found.engine, found.phase, found.failures, found.log, found.devices) == (None, None, (), (), ())


def test_a_healthy_log_has_no_failure_and_no_phase() -> None:
    found = case(SERVER.format(release="0.14.0"), WEIGHTS, POOL, UP)

    assert found.served
    assert (found.phase, found.failures) == (None, ())


# --- which failure


def test_of_chained_exceptions_the_first_is_the_root_and_the_callers_frames_go_before_its_own() -> None:
    wrapper = "RuntimeError: CUDA out of memory occurred when warming up sampler with 256 dummy requests."
    found = case(
        *traced(":_dummy_sampler_run", "v1/sample/sampler.py:forward"),
        f"{CORE}The above exception was the direct cause of the following exception:",
        *traced("v1/worker/gpu_worker.py:compile_or_warm_up_model", ":_dummy_sampler_run", raised=wrapper),
    )

    assert found.failure is not None
    assert found.failure.kind == "torch.OutOfMemoryError"
    assert [frame.function for frame in found.failure.frames] == [
        *("compile_or_warm_up_model", "_dummy_sampler_run"),
        *("_dummy_sampler_run", "forward"),
    ]
    assert found.phase is Phase.WARM_UP


@pytest.mark.parametrize(
    "wrapper",
    [
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
        "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
        "torch.distributed.DistBackendError: NCCL error, unhandled system error, ncclRemoteError: a peer",
        "the process exited with exit code 137",
    ],
)
def test_who_only_reports_is_never_the_cause(wrapper: str) -> None:
    before = case(f"(APIServer pid=1) {wrapper}", *START)
    after = case(*START, f"(APIServer pid=1) {wrapper}")

    assert [failure.kind for failure in before.failures] == ["torch.OutOfMemoryError"]
    assert [failure.kind for failure in after.failures] == ["torch.OutOfMemoryError"]


def test_each_rank_has_its_first_error_and_the_earliest_rank_comes_first() -> None:
    lines = [
        line
        for number in (1, 0)
        for line in traced(":load_model", prefix=f"(Worker_TP{number} pid={number}) ERROR 04-24 10:22:36 [x.py:857] ")
    ]
    found = case(*lines, *lines)

    assert [failure.said.rank for failure in found.failures] == ["Worker_TP1", "Worker_TP0"]
    assert [failure.said.line for failure in found.failures] == [3, 6]


def test_interleaved_ranks_keep_their_own_frames() -> None:
    one = traced(":load_model", prefix="(Worker_TP0 pid=1) ")
    two = traced(":init_device", prefix="(Worker_TP1 pid=2) ", raised="ValueError: something else")
    found = case(*(line for pair in zip(one, two, strict=True) for line in pair))

    assert [(failure.said.rank, [frame.function for frame in failure.frames]) for failure in found.failures] == [
        ("Worker_TP0", ["load_model"])
    ]


def test_memory_counts_before_an_error_of_another_kind() -> None:
    found = case(*traced(":f", raised="KeyError: 'x'"), *START)

    assert [failure.kind for failure in found.failures] == ["torch.OutOfMemoryError"]


def test_an_error_of_another_kind_counts_where_there_is_no_other() -> None:
    found = case(*traced(":f", raised="KeyError: 'x'"), "the process ended with exit code 137")

    assert [failure.kind for failure in found.failures] == ["KeyError", "Killed"]


def test_frames_without_their_exception_are_a_failure_too() -> None:
    found = case('  File "…/vllm/v1/worker/gpu_model_runner.py", line 1, in capture_model')

    assert found.failure is not None
    assert (found.failure.kind, found.phase) == ("Traceback", Phase.GRAPH_CAPTURE)


def test_the_heading_of_rays_traceback_is_not_the_error_that_stands_below_it() -> None:
    heading = (
        "ray.exceptions.RayTaskError(OutOfMemoryError): ray::RayWorkerWrapper.execute_method() (pid=12, ip=10.0.0.2)"
    )
    found = case(heading, *traced(":load_model", prefix=""))

    assert found.failure is not None
    assert found.failure.said.line == 4
    assert [frame.function for frame in found.failure.frames] == ["load_model"]
    assert case(heading).failure is not None


def test_frames_that_are_told_after_the_error_are_its_own() -> None:
    found = case(
        OVERFLOW, "Traceback (most recent call last):", '  File "/vllm/v1/worker/gpu_worker.py", line 1, in load_model'
    )

    assert found.failure is not None
    assert [frame.function for frame in found.failure.frames] == ["load_model"]


def test_a_line_of_source_is_not_the_error_that_it_would_raise() -> None:
    found = case(f'{CORE}    raise ValueError("No available memory for the cache blocks. "', f"{CORE}{NO_POOL}")

    assert found.failure is not None
    assert found.failure.said.line == 2


def test_a_calm_warning_of_memory_is_no_failure() -> None:
    found = case("INFO 02-03 03:43:49 model_runner.py:629] Something ran out of memory and was tried again")

    assert found.failures == ()


# --- which start-up


def test_of_several_start_ups_the_last_that_failed_is_asked_about() -> None:
    first = (SERVER.format(release="0.14.0"), WEIGHTS, f"{CORE}{NO_POOL}")
    second = (SERVER.format(release="0.14.0"), WEIGHTS.replace("18.47", "17.11"), *traced(":capture_model"))
    third = (SERVER.format(release="0.14.0"), WEIGHTS.replace("18.47", "16.05"))

    assert (case(*first, *second).phase, size(case(*first, *second), Quantity.WEIGHTS)) == (Phase.GRAPH_CAPTURE, 17.11)
    assert (case(*second, *first).phase, size(case(*second, *first), Quantity.WEIGHTS)) == (Phase.PROFILE, 18.47)
    assert size(case(*first, *second, *third), Quantity.WEIGHTS) == 17.11
    assert all(said.line > len(first) for said in case(*first, *second, *third).log)


def test_a_second_attempt_is_known_by_a_step_back_where_no_beginning_was_pasted() -> None:
    too_little = (
        "ValueError: Free memory on device (6.44/11.63 GiB) on startup is less than desired GPU memory utilization "
        "(0.9, 10.47 GiB)."
    )
    found = case(NO_POOL, too_little)

    assert found.failure is not None
    assert found.failure.said.line == 2
    assert found.phase is Phase.LOAD


def test_a_step_back_after_which_nothing_fails_is_only_a_paste_out_of_order() -> None:
    found = case(NO_POOL, WEIGHTS)

    assert found.failure is not None
    assert found.failure.said.line == 1
    assert size(found, Quantity.WEIGHTS) == 18.47


# --- what carries a log


PREFIXES = {
    "compose": "qwen3-1  | ",
    "quoted": "> ",
    "runtime": "2025-09-24T03:57:04.496343045Z stderr F ",
    "kubectl": "[pod/vllm-0/vllm] ",
    "journald": "Apr 24 10:22:36 host vllm[4242]: ",
    "model server": "WARN  PyProcess W-252-model-stderr: ",
}


@pytest.mark.parametrize("carrier", PREFIXES.values(), ids=PREFIXES.keys())
@pytest.mark.parametrize("named", [True, False])
def test_whatever_carries_a_line_is_taken_off(carrier: str, *, named: bool) -> None:
    lines = START if named else [line.replace(CORE, "") for line in START]
    plain, carried = case(*lines), case(*(carrier + line for line in lines))

    assert carried.failures == plain.failures
    assert (carried.phase, carried.release, carried.engine) == (plain.phase, plain.release, plain.engine)
    assert size(carried, Quantity.TRIED) == 1.56


def test_a_log_that_begins_with_the_newest_line_is_read_in_the_order_of_time() -> None:
    lines = [
        "INFO 02-03 03:43:48 llm_engine.py:316] # GPU blocks: 7754, # CPU blocks: 2048",
        "INFO 02-03 03:43:49 model_runner.py:625] Capturing the model for CUDA graphs.",
        "INFO 02-03 03:43:50 model_runner.py:629] CUDA graphs can take additional 1~3 GiB memory per GPU.",
        f"ERROR 02-03 03:44:03 engine.py:190] {OVERFLOW}",
    ]
    found = case(*reversed(lines))

    assert found.phase is Phase.GRAPH_CAPTURE
    assert [said.line for said in found.log] == [4, 3, 2, 1]


def test_torchs_sentence_is_read_though_a_terminal_broke_it() -> None:
    width = 71
    broken = [OVERFLOW[at : at + width].strip() for at in range(0, len(OVERFLOW), width)]
    found = case(*broken)

    assert [size(found, quantity) for quantity in (Quantity.TRIED, Quantity.DEVICE_TOTAL)] == [1.56, 31.36]


# --- who else is there


def test_other_processes_are_tenants_and_those_of_nothing_are_not() -> None:
    text = OVERFLOW.replace(
        "Including", "Process 627536 has 0 bytes memory in use. Process 308335 has 41.09 GiB memory in use. Including"
    )
    (tenant,) = case(text).tenants

    assert tenant.pid == 308335
    assert round(41.09 * GIB) in tenant.holds


def test_the_only_process_that_a_container_names_is_the_failing_one() -> None:
    found = case("CUDA out of memory. Tried to allocate 2.00 GiB. Process 2722 has 22.22 GiB memory in use.")

    assert found.tenants == ()


@pytest.mark.parametrize(
    ("line", "platform"),
    [
        ("WARNING 01-01 00:00:00 [interface.py:1] Using 'pin_memory=False' as WSL is detected.", Platform.WSL2),
        ("misc dxg: dxgk: dxgkio_make_resident: Ioctl failed: -12", Platform.WSL2),
        ('RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "x":1165', Platform.MIG),
        ("GPU 0: NVIDIA H100 80GB HBM3 MIG 3g.40gb", Platform.MIG),
        ("GPU 0: NVIDIA GB10", Platform.UNIFIED),
        ("Device 0: Orin, compute capability 8.7", Platform.UNIFIED),
        ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.", Platform.ROCM),
        ("Device 0: AMD Instinct, gfx942:sramecc+:xnack-", Platform.ROCM),
        ("Free memory on device xpu:0 (0.22/30.3 GiB) on startup is less than desired", Platform.XPU),
        ("INFO 01-01 00:00:00 [__init__.py:1] Automatically detected platform cpu.", Platform.CPU),
    ],
)
def test_the_platform_is_known_by_its_words(line: str, platform: Platform) -> None:
    assert platform in case(line).platform


def test_what_is_only_looked_for_is_no_platform() -> None:
    assert case("DEBUG 01-01 00:00:00 [__init__.py:1] Checking if ROCm platform is available.").platform == frozenset()


def test_the_device_is_that_of_the_log_where_its_name_or_size_tells() -> None:
    named = case("Using default config. device_name=NVIDIA_GeForce_RTX_4090.json")
    sized = case("GPU 0 has a total capacity of 178.35 GiB of which 1.00 GiB is free. Tried to allocate 2.00 GiB")
    doubtful = case(
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.16 GiB of which 1.00 GiB is "
        "free"
    )

    assert [device.name for device in named.devices] == ["NVIDIA GeForce RTX 4090"]
    assert [device.name for device in sized.devices] == ["NVIDIA B200"]
    assert [device.name for device in doubtful.devices] == ["a device of 79.16 GiB"]


def test_there_are_as_many_devices_as_ranks() -> None:
    args = "non-default args: {'model': 'a/b', 'tensor_parallel_size': 4, 'pipeline_parallel_size': 2}"

    assert len(case(f"INFO 04-24 10:20:00 [utils.py:233] {args}", OVERFLOW).devices) == 8


# --- other engines


def test_llama_cpp_is_known_and_its_figures_are_read() -> None:
    found = case(
        "llama_context: n_ctx         = 20480",
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 3040.00 MiB on device 0: cudaMalloc failed: out of "
        "memory",
    )

    assert (found.engine, found.phase, found.number(Quantity.LENGTH)) == ("llama.cpp", Phase.LOAD, 20480)
    assert size(found, Quantity.TRIED) == 2.97
    assert found.failure is not None
    assert found.failure.kind == "ggml"


def test_sglang_is_known_and_its_figures_are_read_with_those_of_torch() -> None:
    found = case(
        "[2025-07-02 07:41:58 TP0] Load weight end. type=X, avail mem=21.73 GB, mem usage=166.59 GB.",
        f"Exception: Capture cuda graph failed: {OVERFLOW}",
    )

    assert (found.engine, found.phase) == ("SGLang", Phase.GRAPH_CAPTURE)
    assert (size(found, Quantity.WEIGHTS), size(found, Quantity.TRIED)) == (166.59, 1.56)


# --- however long, whatever it holds


@given(st.lists(st.text(max_size=300), max_size=30))
def test_no_text_breaks_it(lines: list[str]) -> None:
    assert len(case(*lines).log) <= len(lines)


@given(st.binary(max_size=4_000))
def test_no_bytes_break_it(raw: bytes) -> None:
    assert case(*raw.decode(errors="replace").splitlines()).engine in {None, "vLLM", "SGLang", "llama.cpp"}


def test_an_engine_that_is_only_spoken_of_is_not_the_one() -> None:
    assert case("vLLM and llama.cpp both run out of memory").engine == "vLLM"


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from([*START, UP, POOL, "Killed", OVERFLOW[:90], OVERFLOW[90:], "> ", "```", "\x00"]), max_size=40
    )
)
def test_no_order_of_known_lines_breaks_it(lines: list[str]) -> None:
    found = case(*lines)

    assert (found.phase is None) or isinstance(found.phase, Phase)
    assert all(failure.said.line <= len(lines) for failure in found.failures)


def test_a_line_of_a_megabyte_takes_no_long() -> None:
    begun = time.process_time()
    found = case("x" * 1_000_000, f"{'(' * 500_000}{OVERFLOW}", ("Error " * 150_000), OVERFLOW)

    assert time.process_time() - begun < 5
    assert [failure.said.line for failure in found.failures] == [4]
    assert sum(len(said.text) for said in found.log) < 10_000


def test_two_hundred_ranks_are_two_hundred_failures() -> None:
    lines = [line for rank in range(200) for line in traced(":load_model", prefix=f"(Worker_TP{rank} pid={rank}) ")]
    found = case(*lines)

    assert [failure.said.rank for failure in found.failures] == [f"Worker_TP{rank}" for rank in range(200)]
    assert found.phase is Phase.LOAD


def test_what_is_kept_of_an_endless_log_is_bounded_and_the_failure_is_in_it() -> None:
    chatter = [
        f"(APIServer pid=1) ERROR 05-28 09:00:36 [x.py:1] request {n} failed with code {n % 7}" for n in range(20_000)
    ]
    tracemalloc.start()
    found = case_of(enumerate((*START[:2], UP, *chatter, *START[2:], *chatter), 1))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert found.failure is not None
    assert found.failure.said in found.log
    assert found.log[0].line == 1
    assert len(found.log) < 4_000
    assert held < 60_000_000


def test_a_log_is_read_from_a_file_as_from_a_paste(tmp_path: Path) -> None:
    access = '(APIServer pid=1) INFO:     127.0.0.1:5000 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n' * 20_000
    text = "\n".join((*START[:2], UP)) + "\n" + access + "\n".join(START[2:]) + "\n" + access
    (tmp_path / "long.log.gz").write_bytes(gzip.compress(text.encode()))
    found = case_of(read_log(str(tmp_path / "long.log.gz"), hints=hints(), first_hints=FIRST_HINTS, after=2, ends=True))

    assert (found.served, found.engine, str(found.release)) == (True, "vLLM", "0.14.0")
    assert found.failure is not None
    assert found.failure.said.line == 20_000 + len(START) + 1
    assert [frame.function for frame in found.failure.frames] == ["determine_available_memory", "profile_run"]
