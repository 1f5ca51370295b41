"""llama.cpp: which of its buffers could not be had, and what follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.case import Case
from oomph.diagnose.explain import SURE, Outcome, explain, outcome
from oomph.diagnose.grounds.buffers import Buffer, refusal
from oomph.diagnose.hearing.case_of import case_of
from oomph.engines.llama_cpp_refusals import mebibytes, refused, whole
from oomph.units import MIB

REFUSED = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating {} MiB on device 0: cudaMalloc failed: out of memory"
WEIGHTS = "load_tensors:        CUDA0 model buffer size = 18432.55 MiB"
CONTEXT = "llama_context: n_ctx         = 131072"
CACHE = "llama_kv_cache:      CUDA0 KV buffer size =   512.00 MiB"
COPIES = "llama_context: pipeline parallelism enabled (n_copies=4)"
RETRY = "sched_reserve: compute buffer allocation failed, retrying without pipeline parallelism"
COMPUTE = "sched_reserve:      CUDA0 compute buffer size =   304.75 MiB"


def case(*lines: str) -> Case:
    return case_of(enumerate(lines, 1))


@pytest.mark.parametrize(
    ("line", "buffer"),
    [
        (
            "llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache",
            Buffer.CACHE,
        ),
        ("llama_new_context_with_model: llama_kv_cache_init() failed for self-attention cache", Buffer.CACHE),
        ("ggml_gallocr_reserve_n_impl: failed to allocate CUDA0 buffer of size 13327728640", Buffer.COMPUTE),
        (
            "llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers",
            Buffer.COMPUTE,
        ),
        ("llama_model_load: error loading model: unable to allocate CUDA0 buffer", Buffer.WEIGHTS),
    ],
)
def test_what_it_says_decides(line: str, buffer: Buffer) -> None:
    found = refusal(case(REFUSED.format("2048.00"), line))

    assert found is not None
    assert (found.buffer, found.told) == (buffer, True)


def test_what_it_had_got_before_decides_where_it_says_nothing() -> None:
    after_weights = refusal(case(WEIGHTS, CONTEXT, REFUSED.format("3040.00")))
    after_cache = refusal(case(WEIGHTS, CACHE, REFUSED.format("12710.31")))

    assert after_weights is not None
    assert after_weights.buffer is Buffer.CACHE
    assert after_cache is not None
    assert after_cache.buffer is Buffer.COMPUTE


def test_a_lone_refusal_is_a_guess_with_another_behind_it() -> None:
    first, second = explain(case(REFUSED.format("8849.72")))[:2]

    assert (first.cause, second.cause) == ("llamacpp_compute_buffer", "weights_exceed_gpu")
    assert first.confidence >= SURE > second.confidence
    assert first.missing


def test_a_cache_of_the_whole_context_is_told_by_the_token() -> None:
    """137,438,953,472 B / 1,048,576 tokens = 131,072 B."""
    finding = explain(
        case(
            "llama_new_context_with_model: n_ctx      = 1048576",
            "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 137438953472",
            "llama_kv_cache_init: failed to allocate buffer for kv cache",
        )
    )[0]

    assert finding.cause == "llamacpp_kv_default_context"
    assert finding.arithmetic[0].startswith("128.00 GiB = 1,048,576 tokens × 131,072 B")
    assert finding.remedies[0].act == "give the context that is needed: -c 262144"


def test_copies_are_named_first_where_there_are_some() -> None:
    finding = explain(
        case(
            CACHE,
            COPIES,
            REFUSED.format("12710.31"),
            "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 13327728640",
        )
    )[0]

    assert finding.arithmetic == ("12.41 GiB / 4 copies = about 3.10 GiB without pipeline parallelism",)
    assert "GGML_SCHED_MAX_COPIES=1" in (finding.remedies[0].act or "")


def test_an_encoder_is_left_on_the_host() -> None:
    finding = explain(
        case(
            REFUSED.format("4514.05"),
            "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 4733328896",
            "/x/ggml-backend.cpp:1662: GGML_ASSERT((char *)addr + ggml_backend_buffer_get_alloc_size() <= 0) failed",
        )
    )[0]

    assert "--no-mmproj-offload" in (finding.remedies[0].act or "")


def test_a_retry_that_went_on_is_no_failure_and_one_that_did_not_is_one() -> None:
    went_on = case(COPIES, REFUSED.format("51748.72"), RETRY, COMPUTE)
    ended = case(COPIES, REFUSED.format("51748.72"), RETRY, REFUSED.format("12937.18"))

    assert outcome(went_on, explain(went_on)) is Outcome.NO_MEMORY_FAILURE
    assert explain(ended)[0].cause == "llamacpp_compute_buffer"


@pytest.mark.parametrize("where", ["ggml_cuda_pool_malloc_vmm at /x/ggml-cuda.cu:7812", "alloc at /x/ggml-cuda.cu:589"])
def test_kernels_without_room_are_told_by_the_pool_they_ask(where: str) -> None:
    finding = explain(case("CUDA error: out of memory", f"  current device: 0, in function {where}", "ggml_abort"))[0]

    assert finding.cause == "llamacpp_runtime_pool"


def test_a_layer_on_the_host_is_called_missing_support() -> None:
    said = (
        "sched_reserve: layer 0 is assigned to device CPU but fused Gated Delta Net is assigned to device CUDA0 "
        "(usually due to missing support)"
    )

    assert explain(case(said))[0].code == "LC005"
    assert not explain(case(said.replace("device CPU", "device CUDA1")))


@given(st.integers(1, 1 << 40))
def test_a_size_is_within_what_was_printed_of_it(size: int) -> None:
    printed = f"{size / MIB:.2f}"

    assert size in mebibytes(printed)


@given(st.integers(0, 1 << 20), st.integers(1, 99))
def test_only_round_numbers_of_mib_are_whole(mib: int, hundredths: int) -> None:
    assert whole(mebibytes(f"{mib}.00"))
    assert not whole(mebibytes(f"{mib}.{hundredths:02}"))


@pytest.mark.parametrize(
    "line",
    [
        REFUSED.format("8849.72"),
        "ggml_vulkan: Device memory allocation of size 9279603670 failed.",
        "ggml_metal_buffer_init: error: failed to allocate buffer, size =  8849.72 MiB",
        "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 9279603670",
    ],
)
def test_every_backend_is_understood(line: str) -> None:
    found = refused(line)

    assert found is not None
    assert found[0].likely // MIB == 8849
