"""Running out while weights are loaded: of what."""

import pytest

from oomph.diagnose.case import Case
from oomph.diagnose.explain import explain
from oomph.diagnose.finding import Finding
from oomph.diagnose.hearing.case_of import case_of
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.settings import Flags, Value

ERROR = "(EngineCore pid=7) ERROR 05-11 09:14:02 [core.py:1104] "
INFO = "(EngineCore pid=7) INFO 05-11 09:14:02 [gpu_model_runner.py:4820] "
FULL = (
    ERROR + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1002.00 MiB. GPU 0 has a total capacity of "
    "15.59 GiB of which 940.12 MiB is free. Including non-PyTorch memory, this process has 14.30 GiB memory in use. Of "
    "the allocated memory 14.01 GiB is allocated by PyTorch, {}and 15.49 MiB is reserved by PyTorch but unallocated."
)


def frame(file: str, function: str) -> str:
    return f'{ERROR}  File "/usr/lib/python3/site-packages/vllm/{file}", line 7, in {function}'


LOADING = frame("model_executor/model_loader/base_loader.py", "load_model")
MAKING = frame("model_executor/layers/linear.py", "create_weights")


def case(*lines: str, release: str = "0.19.1", model: str | None = None, **flags: Value) -> Case:
    return case_of(enumerate(lines, 1), release=HISTORY.release(release), model_name=model, flags=Flags(flags))


def first(*lines: str, release: str = "0.19.1", model: str | None = None, **flags: Value) -> Finding:
    return explain(case(*lines, release=release, model=model, **flags))[0]


def test_a_request_that_is_a_table_of_words_is_named() -> None:
    finding = first(
        LOADING, frame("model_executor/layers/vocab_parallel_embedding.py", "create_weights"), FULL.format("")
    )

    # 128256 × 4096 × 2 = 1,050,673,152 B = 1002 MiB
    assert finding.cause == "weights_exceed_gpu"
    assert any("128256 × 4096 × 2 B" in line for line in finding.arithmetic)


@pytest.mark.parametrize(
    "function",
    [
        "process_weights_after_loading",
        "gptq_marlin_repack",
        "scaled_fp8_quant",
        "_swizzle_mxfp4",
        "patched_weight_loader",
    ],
)
def test_a_conversion_in_the_traceback_is_a_conversion(function: str) -> None:
    assert first(LOADING, frame("_custom_ops.py", function), FULL.format("")).cause == "load_quant_or_repack_peak"


def test_rooms_are_made_before_files_are_read_so_that_running_out_later_is_of_something_else() -> None:
    shards = "Loading safetensors checkpoint shards:   3% Completed | 1/37 [00:01<00:40,  1.12s/it]"

    assert first(LOADING, FULL.format("")).cause == "weights_exceed_gpu"
    assert first(shards, LOADING, FULL.format("")).cause == "load_quant_or_repack_peak"


def test_a_checkpoint_that_is_quantized_on_the_way_is_there_in_16_bits_first_up_to_0_15_1() -> None:
    lines = (LOADING, MAKING, FULL.format(""))

    assert first(*lines, release="0.15.1", model="org/m-8b", quantization="fp8").code == "LD002"
    assert first(*lines, release="0.15.1", model="org/m-8b-FP8", quantization="fp8").code == "LD001"
    assert first(*lines, release="0.16.0", model="org/m-8b", quantization="fp8").code == "LD001"


def test_fewer_bits_are_not_the_first_advice_for_a_checkpoint_that_has_few() -> None:
    lines = (LOADING, MAKING, FULL.format(""))

    assert first(*lines, model="org/m-8b").remedies[0].lever == "quantised_checkpoint"
    assert first(*lines, model="org/m-31b-NVFP4").remedies[0].lever == "tp_or_more_gpus"


def test_no_advice_during_the_load_moves_the_share() -> None:
    finding = first(LOADING, MAKING, FULL.format(""))

    assert all("gpu_memory_utilization" not in remedy.change for remedy in finding.remedies)
    assert "--gpu-memory-utilization" in (finding.unhelpful or {})


def test_private_pools_before_any_graph_are_the_pool_for_sleeping() -> None:
    private = FULL.format("with 11.20 GiB allocated in private pools (e.g., CUDA Graphs), ")
    captured = INFO + "Graph capturing finished in 12 secs, took 1.20 GiB"

    assert first(LOADING, private).code == "LD003"
    assert "LD003" not in {each.code for each in explain(case(captured, private))}


def test_the_allocator_for_sleeping_that_refuses_a_wake_up_is_not_the_load() -> None:
    refused = "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62"
    waking = (frame("v1/worker/gpu_worker.py", "wake_up"), frame("device_allocator/cumem.py", "create_and_map"))

    assert first(refused, LOADING, FULL.format(""), enable_sleep_mode=True).code == "LD003"
    assert "LD003" not in {each.code for each in explain(case(refused, *waking, FULL.format("")))}


def test_stages_that_leave_no_pool_are_a_candidate_and_no_more() -> None:
    line = ERROR + "ValueError: No available memory for the cache blocks."
    staged = {each.cause: each for each in explain(case(line, pipeline_parallel_size=4))}
    alone = {each.cause for each in explain(case(line))}

    assert staged["weights_replicated_per_rank"].confidence < 0.6
    assert "weights_replicated_per_rank" not in alone


@pytest.mark.parametrize(("took", "code"), [("0.0000", True), ("0.0311", False), ("14.9595", False)])
def test_weights_of_nothing_were_measured_elsewhere(took: str, code: bool) -> None:  # noqa: FBT001 - a column of the table
    line = f"INFO 01-30 05:50:12 model_runner.py:1115] Loading model weights took {took} GB"
    found = {each.code for each in explain(case(line, "Traceback (most recent call last):", release="0.7.0"))}

    assert ("LD005" in found) is code
