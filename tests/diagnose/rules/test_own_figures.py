"""Advice and evidence follow from the figures of the log at hand, and name nothing that is not in it."""

import pytest

from diagnose.rules.failed_starts import CAPTURE, case, out_of_memory, traceback
from oomph.diagnose.case import Case
from oomph.diagnose.explain import SURE, explain
from oomph.diagnose.finding import Finding
from oomph.diagnose.hearing.case_of import case_of

NOTHING = "(EngineCore pid=1) ERROR 07-02 09:01:10 [core.py:1100] ValueError: No available memory for the cache blocks."


def heard(*lines: str, engine: str | None = None) -> Case:
    return case_of(enumerate(lines, 1), engine=engine)


def found(asked: Case, code: str) -> Finding:
    return next(finding for finding in explain(asked) if finding.code == code)


@pytest.mark.parametrize(("now", "upgrades"), [("30.52", True), ("41.87", False)])
def test_an_upgrade_is_advised_only_where_both_figures_are_equal(now: str, upgrades: bool) -> None:  # noqa: FBT001 - a column
    said = f"AssertionError: Error in memory profiling. Initial free memory 30.52 GiB, current free memory {now} GiB."
    finding = found(case(said, release="0.15.1"), "PR007")

    assert any("release" in remedy.change for remedy in finding.remedies) is upgrades


def test_a_context_is_advised_that_fits_beside_the_weights() -> None:
    """(23621 − 4460.45 − 512) MiB ÷ 147,456 B = 132,610, and 129 × 1,024 are 132,096."""
    finding = found(
        heard(
            "llama_model_load_from_file_impl: using device CUDA0 (NVIDIA GeForce RTX 4090) - 23621 MiB free",
            "load_tensors:        CUDA0 model buffer size =  4460.45 MiB",
            "llama_context: n_ctx         = 1048576",
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 147456.00 MiB on device 0: cudaMalloc failed: "
            "out of memory",
            "llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache",
        ),
        "LC001",
    )

    assert (finding.remedies[0].act or "").endswith("-c 132096")
    assert (finding.remedies[1].act or "").endswith("-c 247808")  # 32 numbers in 34 B instead of 64


def test_the_static_fraction_is_advised_at_once_and_not_asked_for_where_it_is_printed() -> None:
    """61.20 / (61.20 + 17.51) = 0.7775; rounded up, and three hundredths more."""
    finding = found(
        heard(
            "[2026-07-02 09:00:00] server_args=ServerArgs(model_path='some/model', mem_fraction_static=0.6, tp_size=1)",
            "[2026-07-02 09:00:20] Load weight end. type=X, dtype=bfloat16, avail mem=17.51 GB, mem usage=61.20 GB.",
            "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
        ),
        "SG001",
    )

    assert finding.remedies[0].act == "raise --mem-fraction-static to 0.81"
    assert finding.summary.startswith("weights fill 0.6 of the device")
    assert not finding.missing


def pool(size: str, rank: str = "EngineCore") -> str:
    return f"({rank} pid=1) INFO 07-02 09:01:10 [gpu_worker.py:424] Available KV cache memory: {size} GiB"


def test_a_pool_below_nothing_is_evidence_and_is_not_asked_for() -> None:
    took = "(EngineCore pid=1) INFO 07-02 09:01:10 [x.py:1] Model loading took 27.52 GiB memory and 5.012345 seconds"
    finding = found(heard(took, pool("-2.02"), NOTHING), "PS001")

    assert [said.line for said in finding.lines] == [2, 3]
    assert finding.arithmetic == ("27.52 GiB of weights and what comes beside them are 2.02 GiB above the share",)
    assert not any("Available KV" in words or "weights" in words for words in finding.missing)


def test_a_rank_without_room_beside_one_with_room_is_two_candidates() -> None:
    findings = explain(heard(pool("6.34", "Worker_TP0"), pool("-1.22", "Worker_TP1"), NOTHING))

    assert [finding.code for finding in findings[:2]] == ["PS002", "PS005"]
    assert all(finding.confidence < SURE for finding in findings)
    assert all([said.line for said in finding.lines] == [1, 2, 3] for finding in findings[:2])
    assert findings[0].summary.endswith("somebody else may be on its device")


@pytest.mark.parametrize(("needed", "raised"), [("18.0", False), ("4.50", True)])
def test_the_share_is_not_raised_where_even_all_of_the_card_is_too_little(needed: str, raised: bool) -> None:  # noqa: FBT001 - a column
    finding = found(
        case(
            "(EngineCore pid=1) INFO 07-02 09:01:10 [x.py:1] Model loading took 15.27 GiB memory and 5.012345 seconds",
            "ValueError: To serve at least one request with the model's max seq len (131072), "
            f"({needed} GiB KV cache is needed, which is larger than the available KV cache memory (4.02 GiB).",
            release="0.28.0",
            gpu_memory_utilization=0.9,
        ),
        "KV001",
    )

    assert any(remedy.lever == "gpu_memory_utilization_up" for remedy in finding.remedies) is raised
    assert ("--gpu-memory-utilization up" in (finding.unhelpful or {})) is not raised
    assert (
        raised
        or "13.98 GiB more only on a card of 139.90 GiB" in (finding.unhelpful or {})["--gpu-memory-utilization up"]
    )


def test_nothing_is_said_of_a_kill_that_is_not_in_the_log() -> None:
    failed = traceback(*CAPTURE, error=out_of_memory("136.00 MiB"))
    killed = "exit code 137, more host memory"

    assert killed not in (found(case(*failed, release="0.11.2"), "CG001").unhelpful or {})
    assert killed in (found(case(*failed, "exited with code 137", release="0.11.2"), "CG001").unhelpful or {})


def test_a_vocabulary_is_told_by_its_number_and_the_model_of_the_log() -> None:
    said = "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests."
    finding = found(
        heard(
            "(EngineCore pid=1) INFO 07-02 09:01:10 [core.py:93] Initializing a V1 LLM engine (v0.19.0) with config: "
            "model='Qwen/Qwen3-8B', speculative_config=None",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 594.00 MiB. GPU 0 has a total capacity of "
            "23.64 GiB of which 221.00 MiB is free.",
            said,
        ),
        "WU001",
    )

    assert finding.arithmetic[0].endswith("with a vocabulary of 151,936 words, as Qwen/Qwen3-8B has")


def test_a_refusal_of_the_pool_for_sleeping_stands_beside_the_one_of_torch() -> None:
    finding = found(
        case(
            "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:137",
            *traceback("v1/worker/gpu_worker.py:load_model", error=out_of_memory("768.00 MiB")),
            release="0.21.0",
            enable_sleep_mode=True,
        ),
        "LD003",
    )

    assert len({said.line for said in finding.lines}) == len(finding.lines) == 2
    assert "Tried to allocate" in finding.lines[1].text


def test_a_mapping_that_failed_is_a_candidate_for_nothing_left() -> None:
    asked = heard(
        "(APIServer pid=1) INFO 07-02 09:00:01 [api_server.py:1977] vLLM API server version 0.22.0",
        "(APIServer pid=1) INFO:     Application startup complete.",
        "[W702 09:20:11.1 CUDACachingAllocator.cpp:400] expandable_segments: memory mapping failed with OOM on device "
        "0 while trying to map 20971520 bytes (free: 30578304, total: 25386352640).",
        *traceback("v1/worker/gpu_worker.py:execute_model", error=out_of_memory("20.00 MiB")),
    )
    finding = found(asked, "SV007")

    assert finding.confidence < SURE
    assert finding.arithmetic == ("20.00 MiB were to be mapped, 29.16 MiB were free: it was refused all the same",)


@pytest.mark.parametrize(("engine", "named"), [("vLLM", False), ("SGLang", True)])
def test_a_flag_of_one_engine_is_not_named_to_another(engine: str, named: bool) -> None:  # noqa: FBT001 - a column
    asked = heard(
        *traceback("v1/worker/gpu_model_runner.py:_get_prompt_logprobs_dict", error=out_of_memory("4.64 GiB")),
        engine=engine,
    )

    assert ("--mem-fraction-static" in (found(asked, "SV004").unhelpful or {})) is named


def test_a_whole_log_of_the_second_runner_lacks_nothing() -> None:
    finding = found(
        case(
            "(EngineCore pid=1) INFO 07-02 09:01:10 [gpu_worker.py:300] Using V2 Model Runner",
            *traceback(*CAPTURE, "v1/worker/gpu/cudagraph_utils.py:capture", error=out_of_memory("136.00 MiB")),
            release="0.28.0",
        ),
        "CG004",
    )

    assert not finding.missing
