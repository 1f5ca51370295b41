"""What the engine was doing when it failed."""

import json
import os
from pathlib import Path

import pytest

from diagnose.logs import CORE, OVERFLOW, POOL, SERVER, UP, WEIGHTS, case, traced
from oomph.diagnose.case import Phase
from tidy.repository import ROOT

CRASHES = ROOT.parent / "shared" / "corpus" / "crashes.jsonl"
GRAPHS = "with 128.00 MiB allocated in private pools (e.g., CUDA Graphs), and 4.49 GiB"
PRIVATE = OVERFLOW.replace("and 4.49 GiB", GRAPHS)


@pytest.mark.parametrize(
    ("sentence", "phase"),
    [
        ("ValueError: Free memory on device cuda:0 (3.1/23.5 GiB) on startup is less than desired GPU", Phase.LOAD),
        ("AssertionError: Error in memory profiling. Initial free memory 82.94 GiB, current", Phase.PROFILE),
        ("ValueError: No available memory for the cache blocks.", Phase.PROFILE),
        ("ValueError: To serve at least one request with the model's max seq len (1000)", Phase.KV_ALLOC),
        ("ValueError: more than the maximum number of tokens that can be stored", Phase.KV_ALLOC),
        ("ValueError: max_num_seqs (256) exceeds available Mamba cache blocks (128)", Phase.KV_ALLOC),
        ("RuntimeError: CUDA out of memory occurred when warming up sampler with 256 dummy requests.", Phase.WARM_UP),
        ("RuntimeError: Prefill out of memory. Try to lower your batch size.", Phase.SERVING_PREFILL),
        ("RuntimeError: Decode out of memory. Try to lower your batch size.", Phase.SERVING_DECODE),
        ("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.", Phase.KV_ALLOC),
        ("Exception: Capture cuda graph failed: CUDA out of memory.", Phase.GRAPH_CAPTURE),
        ("Out of memory: Killed process 3742074 (python) total-vm:81306880kB, anon-rss:1058560kB", Phase.HOST),
        ("OSError: [Errno 28] No space left on device: '/dev/shm/psm_1'", Phase.HOST),
        ("CUDA error: out of memory in function ggml_cuda_pool_malloc_vmm at ggml-cuda.cu:7812", Phase.SERVING_DECODE),
    ],
)  # fmt: skip
def test_some_sentences_are_said_in_one_phase_only(sentence: str, phase: Phase) -> None:
    found = case(sentence)

    assert (found.phase, found.phase_assumed) == (phase, False)


@pytest.mark.parametrize(
    ("functions", "phase"),
    [
        # the first engine's, then those of V1
        ((":load_model", "model_executor/layers/linear.py:create_weights"), Phase.LOAD),
        ((":load_model", ":process_weights_after_loading"), Phase.LOAD),
        (("worker/worker.py:determine_num_available_blocks", ":profile_run", ":execute_model"), Phase.PROFILE),
        (("worker/worker.py:initialize_cache", ":_init_cache_engine", ":_allocate_kv_cache"), Phase.KV_ALLOC),
        (("worker/worker.py:_warm_up_model", ":capture_model", "worker/model_runner.py:capture"), Phase.GRAPH_CAPTURE),
        (("v1/engine/core.py:_initialize_kv_caches", ":determine_available_memory", ":_dummy_run"), Phase.PROFILE),
        (
            (":determine_available_memory", ":profile_cudagraph_memory", ":_allocate_kv_cache_tensors"),
            Phase.GRAPH_PROFILE,
        ),
        ((":_initialize_kv_caches", ":get_kv_cache_configs", ":_check_enough_kv_cache_memory"), Phase.KV_ALLOC),
        ((":initialize_from_config", ":initialize_kv_cache", ":initialize_kv_cache_tensors"), Phase.KV_ALLOC),
        ((":compile_or_warm_up_model", ":kernel_warmup", ":flashinfer_autotune", ":_dummy_run"), Phase.WARM_UP),
        ((":compile_or_warm_up_model", ":capture_model", ":_capture_cudagraphs", ":_dummy_run"), Phase.GRAPH_CAPTURE),
        ((":compile_or_warm_up_model", ":warmup_kernels", ":execute_model"), Phase.WARM_UP),
        ((":wake_up", "device_allocator/cumem.py:create_and_map"), Phase.SERVING_PREFILL),
    ],
)
def test_some_functions_are_called_in_one_phase_only(functions: tuple[str, ...], phase: Phase) -> None:
    prefix = CORE.replace("core.py:936", "x.py:1")
    found = case(*traced(*functions, prefix=prefix))

    assert (found.phase, found.phase_assumed) == (phase, False)


@pytest.mark.parametrize(
    ("functions", "phase"),
    [
        ((":run_busy_loop", ":_process_engine_step", ":step", ":execute_model"), Phase.SERVING_PREFILL),
        ((":execute_model", ":_execute_mm_encoder"), Phase.SERVING_PREFILL),
        ((":execute_model", ":eplb_step"), Phase.SERVING_DECODE),
        (("entrypoints/llm.py:generate", "entrypoints/llm.py:_run_engine"), Phase.SERVING_PREFILL),
    ],
)
def test_a_step_is_a_step_of_serving(functions: tuple[str, ...], phase: Phase) -> None:
    assert case(*traced(*functions, prefix="")).phase is phase


def test_a_pool_that_asks_for_more_than_there_is_was_sized_by_no_budget() -> None:
    frames = (":initialize_kv_cache_tensors", ":_allocate_kv_cache_tensors")
    above = OVERFLOW.replace("24.95 GiB is allocated", "30.69 GiB is allocated")
    newer = CORE.replace("core.py:936", "core.py:1108")  # of 0.19, which profiles graphs

    assert case(*traced(*frames, raised=above, prefix=newer)).phase is Phase.GRAPH_PROFILE
    assert case(*traced(*frames, prefix=newer)).phase is Phase.KV_ALLOC
    assert case(POOL, *traced(*frames, raised=above, prefix=newer)).phase is Phase.KV_ALLOC
    assert case(SERVER.format(release="0.14.0"), *traced(*frames, raised=above)).phase is Phase.KV_ALLOC


@pytest.mark.parametrize(
    ("said", "phase"),
    [
        ((SERVER.format(release="0.14.0"),), Phase.LOAD),
        ((WEIGHTS,), Phase.PROFILE),
        (
            (WEIGHTS, "INFO 09-27 11:18:35 enc_dec_model_runner.py:297] Starting profile run for multi-modal models."),
            Phase.PROFILE,
        ),
        (
            (WEIGHTS, "INFO 04-24 10:22:30 [x.py:1] Profiling CUDA graph memory: PIECEWISE=51 (largest=512)"),
            Phase.GRAPH_PROFILE,
        ),
        ((WEIGHTS, POOL), Phase.KV_ALLOC),
        (
            (WEIGHTS, "INFO 02-03 03:43:49 model_runner.py:625] Capturing the model for CUDA graphs."),
            Phase.GRAPH_CAPTURE,
        ),
        (
            (WEIGHTS, POOL, "INFO 04-24 10:22:30 [x.py:1] Graph capturing finished in 12 secs, took 0.83 GiB"),
            Phase.WARM_UP,
        ),
        ((UP,), Phase.SERVING_PREFILL),
    ],
)
def test_without_frames_the_last_good_sentence_tells(said: tuple[str, ...], phase: Phase) -> None:
    found = case(*said, OVERFLOW)

    assert (found.phase, found.phase_assumed) == (phase, False)


def test_who_tells_of_it_tells_whether_it_was_up() -> None:
    starting, running = (
        f"(EngineCore_DP0 pid=9) ERROR 04-24 10:22:36 [core.py:{line}] {OVERFLOW}" for line in (936, 938)
    )
    loading = f"(Worker_TP0 pid=9) ERROR 04-24 10:22:36 [multiproc_executor.py:749] {OVERFLOW}"
    request = f"ERROR 02-11 08:25:49 serving_chat.py:661] {OVERFLOW}"

    assert case(running).phase is Phase.SERVING_PREFILL
    assert case(request).phase is Phase.SERVING_PREFILL
    assert (case(loading).phase, case(loading).phase_assumed) == (Phase.LOAD, False)
    assert case(starting, f'{CORE}  File "x.py", line 1, in execute_model').phase is not Phase.SERVING_PREFILL


def test_graphs_that_are_there_show_that_it_had_started() -> None:
    assert case(PRIVATE).phase is Phase.SERVING_PREFILL
    assert case(PRIVATE).phase_assumed
    assert case(*traced(":initialize_from_config", raised=PRIVATE)).phase is Phase.WARM_UP
    assert case(*traced(":_dummy_sampler_run", raised=PRIVATE)).phase is Phase.WARM_UP
    assert case(*traced(":_dummy_sampler_run")).phase is Phase.PROFILE


def test_private_pools_that_hold_nearly_all_are_those_of_sleep_mode() -> None:
    assert case(PRIVATE.replace("128.00 MiB", "24.10 GiB")).phase is Phase.LOAD


def test_where_nothing_tells_the_phase_is_only_assumed() -> None:
    bare = case(OVERFLOW)
    large = case(OVERFLOW.replace("Tried to allocate 1.56 GiB", "Tried to allocate 7.50 GiB"))

    assert (bare.phase, bare.phase_assumed) == (Phase.LOAD, True)
    assert (large.phase, large.phase_assumed) == (Phase.PROFILE, True)


def test_a_profile_that_left_nothing_is_where_it_failed() -> None:
    assert case(WEIGHTS, POOL.replace("9.37", "-3.86"), f"{CORE}EngineCore failed to start.").phase is Phase.PROFILE


def test_a_kill_without_a_reason_is_where_the_last_good_sentence_says() -> None:
    blocks = "INFO 01-23 07:34:26 gpu_executor.py:122] # GPU blocks: 11836, # CPU blocks: 4681"

    assert case(blocks, "Killed").phase is Phase.KV_ALLOC
    assert (case("Killed").phase, case("Killed").phase_assumed) == (Phase.HOST, True)


def test_shared_memory_of_a_kernel_is_not_that_of_the_host() -> None:
    found = case(WEIGHTS, "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456")

    assert found.phase is Phase.PROFILE
    assert found.failure is not None
    assert found.failure.kind == "triton.runtime.errors.OutOfResources"


def test_llama_cpp_aborts_while_it_computes_and_refuses_while_it_starts() -> None:
    refused = "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 4733328896"
    aborted = "/src/llama.cpp/ggml/src/ggml-backend.cpp:1662: GGML_ASSERT((char *)addr + size <= end) failed"

    assert case(refused).phase is Phase.LOAD
    assert case(refused, aborted).phase is Phase.SERVING_PREFILL


def test_more_held_after_each_sleep_is_growth() -> None:
    def slept(held: str) -> str:
        return f"INFO 04-24 10:22:30 [x.py:99] Sleep mode freed 40.00 GiB memory, {held} GiB memory is still in use."

    assert case(slept("2.10"), slept("2.90"), slept("3.70")).phase is Phase.IDLE_GROWTH
    assert case(slept("2.10"), slept("2.10")).phase is not Phase.IDLE_GROWTH


@pytest.fixture
def crashes() -> Path:
    if not CRASHES.is_file():
        if os.environ.get("CI"):
            pytest.fail("the shared corpus is not beside this checkout")
        pytest.skip("the shared corpus is not beside this checkout")
    return CRASHES


def test_the_phase_of_known_failures_is_found(crashes: Path) -> None:
    known = [json.loads(line) for line in crashes.read_text().splitlines()]
    scored = [crash for crash in known if crash["scorable"] and crash["log"]]
    right = [crash for crash in scored if case(*crash["log"].splitlines()).phase == crash["phase"]]

    assert len(right) / len(scored) >= 0.95
