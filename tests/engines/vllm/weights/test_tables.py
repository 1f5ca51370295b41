"""Rows of the tables for positions, by release."""

from dataclasses import replace

import pytest

from oomph.engines.history import release
from oomph.engines.vllm.weights.tables import tables
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Layer
from oomph.ledger.rotary import Rotary, Stretch

PLAIN = Rotary(width=64, tokens=1000)


def rows(rotary: Rotary, at: str = "0.32.0", architecture: str = "LlamaForCausalLM") -> list[int]:
    found = Geometry(
        family="dense",
        architecture=architecture,
        dtype=Dtype.BF16,
        hidden=64,
        vocabulary=8,
        context_tokens=1000,
        layers=(Layer(mixers=(Attention(heads=1, kv_heads=1, head_dim=64),)),),
        rotary=(rotary,),
    )
    return [each // (64 * 2) for each in tables(found, Dtype.BF16, release(at))]


@pytest.mark.parametrize(
    ("rotary", "count"),
    [
        (PLAIN, 1000),
        (replace(PLAIN, stretch=Stretch.LLAMA, factor=8.0), 1000),
        (replace(PLAIN, stretch=Stretch.LINEAR, factor=8.0), 8000),
        (replace(PLAIN, stretch=Stretch.YARN, factor=4.0, original=500), 2000),
        (replace(PLAIN, stretch=Stretch.YARN, factor=4.0), 4000),
        (replace(PLAIN, stretch=Stretch.LONG, original=100), 1100),
        (replace(PLAIN, dtype=Dtype.F32), 2000),  # as wide as twice as many
    ],
)
def test_a_table_has_a_row_for_every_position(rotary: Rotary, count: int) -> None:
    assert rows(rotary) == [count]


def test_dynamic_tables_had_rows_for_the_longer_context_until_0_22_0() -> None:
    dynamic = replace(PLAIN, stretch=Stretch.DYNAMIC, factor=2.0)

    assert (rows(dynamic, "0.21.0"), rows(dynamic, "0.22.0")) == ([2000], [1000])


def test_positions_with_axes_have_spare_rows_but_for_some_since_0_32_0() -> None:
    seen = replace(PLAIN, axes=True)

    assert rows(seen, "0.31.0", "Qwen3VLForConditionalGeneration") == [4000]
    assert rows(seen, "0.32.0", "Qwen3VLForConditionalGeneration") == [1000]
    assert rows(seen, "0.32.0", "Qwen2_5_VLForConditionalGeneration") == [4000]


def test_transformers_keeps_no_table() -> None:
    assert (rows(PLAIN, "0.25.0", "Olmo2ForCausalLM"), rows(PLAIN, "0.26.0", "Olmo2ForCausalLM")) == ([1000], [])
