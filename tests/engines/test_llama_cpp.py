"""What llama.cpp says of its memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.llama_cpp import device_in, heard
from oomph.ledger.observation import Quantity
from oomph.units import GIB, MIB, Bounds


@pytest.mark.parametrize(
    ("text", "device", "name", "quantity", "figure"),
    [
        (
            "load_tensors:        CUDA0 model buffer size = 10788.36 MiB",
            "CUDA0",
            "weights",
            Quantity.WEIGHTS,
            10788.36 * MIB,
        ),
        (
            "llm_load_tensors:      CUDA1 buffer size =  4095.05 MiB",
            "CUDA1",
            "weights",
            Quantity.WEIGHTS,
            4095.05 * MIB,
        ),
        ("llama_kv_cache_init:      CUDA0 KV buffer size =   379.23 MiB", "CUDA0", "pool", Quantity.POOL, 379.23 * MIB),
        (
            "llama_new_context_with_model: KV self size  = 1005.79 MiB, K (f16):",
            "",
            "pool whole",
            Quantity.POOL,
            1005.79 * MIB,
        ),
        (
            "llama_kv_cache: size = 23480.00 MiB (150272 cells,  40 layers)",
            "",
            "pool whole",
            Quantity.POOL,
            23480 * MIB,
        ),
        (
            "llama_context:      CUDA0 compute buffer size =   304.00 MiB",
            "CUDA0",
            "compute",
            Quantity.ACTIVATIONS,
            304 * MIB,
        ),
        (
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8849.72 MiB on device 1: cudaMalloc failed: ",
            "CUDA1",
            "tried",
            Quantity.TRIED,
            8849.72 * MIB,
        ),
        (
            "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 13327728640",
            "CUDA0",
            "tried",
            Quantity.TRIED,
            13327728640,
        ),
        ("llama_context: n_ctx         = 20480", "", "context", Quantity.LENGTH, 20480),
        ("llama_new_context_with_model: n_ubatch   = 512", "", "step", Quantity.STEP_TOKENS, 512),
    ],
)
def test_each_sentence_says_what_of_which_device(
    text: str, device: str, name: str, quantity: Quantity, figure: float
) -> None:
    ((on, spoken, figures),) = heard(text)
    value = figures[quantity]

    assert (on, spoken) == (device, name)
    assert round(figure) in value if isinstance(value, Bounds) else value == figure


def test_the_free_memory_of_a_device_and_its_name() -> None:
    text = (
        "llama_model_load_from_file_impl: using device CUDA0 (NVIDIA GeForce RTX 3090) (0000:01:00.0) - 23871 MiB free"
    )
    ((device, _, figures),) = heard(text)

    assert device == "CUDA0"
    assert figures[Quantity.DEVICE_FREE] == Bounds(23871 * MIB, 23872 * MIB - 1)
    assert device_in(text) == "NVIDIA GeForce RTX 3090"
    assert (
        device_in("  Device 0: NVIDIA GeForce RTX 2080, compute capability 7.5, VMM: yes") == "NVIDIA GeForce RTX 2080"
    )


def test_other_engines_say_nothing_here() -> None:
    assert list(heard("Model loading took 18.47 GiB memory and 10.99 seconds")) == []
    assert device_in("Free memory on device (1.0/24.0 GiB) on startup") is None


@given(st.text(max_size=3_000))
def test_no_text_breaks_it(text: str) -> None:
    assert all(figures for _, _, figures in heard(text))


def test_sizes_are_binary() -> None:
    ((_, _, figures),) = heard("allocating 1024.00 MiB on device 0: cudaMalloc failed: out of memory")

    assert GIB in figures[Quantity.TRIED]  # type: ignore[operator]  # it is a size
