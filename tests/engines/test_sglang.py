"""What SGLang says of its memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.engines.sglang import heard, model_in
from oomph.ledger.observation import Quantity
from oomph.units import GIB, Bounds


@pytest.mark.parametrize(
    ("text", "name", "quantity", "figure"),
    [
        ("Load weight begin. avail mem=78.58 GB", "free", Quantity.FREE, 78.58 * GIB),
        (
            "Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=63.43 GB, mem usage=15.05 GB.",
            "weights",
            Quantity.WEIGHTS,
            15.05 * GIB,
        ),
        (
            "Capture cuda graph end. Time elapsed: 9.93 s. mem usage=0.83 GB. avail mem=10.83 GB.",
            "graphs captured",
            Quantity.GRAPHS,
            0.83 * GIB,
        ),
    ],
)
def test_each_sentence_says_a_size(text: str, name: str, quantity: Quantity, figure: float) -> None:
    ((spoken, figures),) = heard(f"[2025-07-02 07:41:58 TP0] {text}")
    value = figures[quantity]

    assert spoken == name
    assert isinstance(value, Bounds)
    assert round(figure) in value


def test_the_pool_is_keys_and_values_together() -> None:
    said = dict(heard("KV Cache is allocated. #tokens: 382961, K size: 23.37 GB, V size: 23.37 GB"))

    assert round(46.74 * GIB) in said["pool"][Quantity.POOL]  # type: ignore[operator]  # it is a size
    assert said["tokens"][Quantity.TOKENS] == 382961


def test_counts_and_the_share_stand_in_its_arguments() -> None:
    text = (
        "server_args=ServerArgs(model_path='Qwen/Qwen3-8B', tokenizer_path='Qwen/Qwen3-8B', mem_fraction_static=0.88, "
        "chunked_prefill_size=8192)"
    )
    said = dict(heard(text))

    assert said["share"][Quantity.SHARE] == 0.88
    assert said["step"][Quantity.STEP_TOKENS] == 8192
    assert model_in(text) == "Qwen/Qwen3-8B"


@given(st.text(max_size=3_000))
def test_no_text_breaks_it(text: str) -> None:
    assert all(figures for _, figures in heard(text))
    assert model_in(text) is None or "ServerArgs(" in text
