"""Platforms on which a message means something else."""

import pytest

from oomph.diagnose.case import Case, Platform
from oomph.diagnose.explain import SURE, explain
from oomph.diagnose.finding import Finding
from oomph.diagnose.hearing.case_of import case_of
from oomph.ledger.settings import Flags, Value

ERROR = "(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] "
REPACK = ERROR + '  File "/x/site-packages/vllm/_custom_ops.py", line 1203, in gptq_marlin_repack'
LOADING = ERROR + '  File "/x/site-packages/vllm/v1/worker/gpu_worker.py", line 345, in load_model'
ROOMY = (
    ERROR
    + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 24.00 "
    "GiB of which {} is free. Of the allocated memory 9.01 GiB is allocated by PyTorch, and 12.54 MiB is reserved by "
    "PyTorch but unallocated."
)
SEGMENTS = "PYTORCH_CUDA_ALLOC_CONF"


def case(*lines: str, platform: tuple[Platform, ...] = (), **flags: Value) -> Case:
    return case_of(enumerate(lines, 1), platform=platform, flags=Flags(flags))


def first(*lines: str, platform: tuple[Platform, ...] = (), **flags: Value) -> Finding:
    return explain(case(*lines, platform=platform, **flags))[0]


@pytest.mark.parametrize("words", ["device not ready", "out of memory"])
def test_a_driver_that_will_not_map_memory_is_no_full_device(words: str) -> None:
    finding = first(LOADING, REPACK, f"{ERROR}RuntimeError: CUDA driver error: {words}", platform=(Platform.WSL2,))

    assert finding.cause == "wsl2_alloc_fails_with_free_vram"
    assert finding.remedies[0].change == {SEGMENTS: "expandable_segments:False"}


def test_more_free_than_was_asked_for_is_evidence_where_windows_is_below() -> None:
    assert first(LOADING, ROOMY.format("13.20 GiB"), platform=(Platform.WSL2,)).code == "PL001"
    assert first(LOADING, ROOMY.format("13.20 GiB")).confidence < SURE
    assert first(LOADING, ROOMY.format("210.00 MiB"), platform=(Platform.WSL2,)).code != "PL001"


def test_more_free_than_was_asked_for_is_page_cache_where_memory_is_shared() -> None:
    finding = first(LOADING, ROOMY.format("13.20 GiB"), platform=(Platform.UNIFIED,))

    assert finding.cause == "unified_memory_pool_shared_with_host"
    assert finding.remedies[0].lever == "drop_page_cache"


def test_the_driver_of_a_tegra_says_that_the_system_gave_nothing() -> None:
    said = "NvMapMemAllocInternalTagged: 1075072515 error 12"

    assert first(said, LOADING, ROOMY.format("210.00 MiB")).cause == "unified_memory_pool_shared_with_host"


@pytest.mark.parametrize("call", ["r", "DriverAPI::get()->nvmlInit_v2_()"])
def test_an_assertion_about_nvml_hides_an_overflow(call: str) -> None:
    line = f'RuntimeError: NVML_SUCCESS == {call} INTERNAL ASSERT FAILED at "/c10/cuda/CUDACachingAllocator.cpp":844'

    assert first(line).cause == "mig_nvml_assert_masks_oom"


def test_advice_on_a_slice_is_that_of_the_phase() -> None:
    line = ERROR + 'RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "CUDACachingAllocator.cpp":838'
    loading = first(LOADING, line)
    serving = first("INFO:     Application startup complete.", line)

    assert all(remedy.lever != "gpu_memory_utilization_down" for remedy in loading.remedies)
    assert serving.remedies[0].lever == "gpu_memory_utilization_down"


@pytest.mark.parametrize(
    "line",
    [
        "AssertionError: Expandable segments are not compatible with memory pool. Please track the issue.",
        "ValueError: KV connector Nixl is incompatible with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True unless",
    ],
)
def test_a_setting_that_is_refused_is_no_overflow(line: str) -> None:
    assert first(ERROR + line).cause == "expandable_segments_incompatible"


def test_memory_that_ranks_cannot_share_is_the_setting_s_fault_where_it_is_set() -> None:
    lines = (
        ERROR
        + '  File "/x/vllm/distributed/device_communicators/custom_all_reduce.py", line 9, in register_graph_buffers',
        ERROR + "RuntimeError: CUDA error: invalid argument",
    )
    found = first(*lines, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True", tensor_parallel_size=2)

    assert found.cause == "expandable_segments_incompatible"
    assert found.confidence > SURE
    assert all(each.confidence < SURE for each in explain(case(*lines)) if each.code == "PL004")


def test_the_hint_that_every_overflow_ends_with_is_no_setting() -> None:
    hint = ROOMY.format("210.00 MiB") + " If reserved but unallocated memory is large try setting "
    found = {each.code for each in explain(case(LOADING, hint + f"{SEGMENTS}=expandable_segments:True to avoid it."))}

    assert "PL004" not in found
