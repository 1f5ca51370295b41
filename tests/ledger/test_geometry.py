import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Latent, Layer

counts = st.integers(min_value=1, max_value=1 << 12)


def geometry(*layers: Layer) -> Geometry:
    return Geometry(
        family="test",
        architecture="Test",
        dtype=Dtype.BF16,
        hidden=4096,
        vocabulary=128256,
        context_tokens=131072,
        layers=layers,
    )


def test_llama_3_8b_keeps_2048_numbers_per_token_and_layer() -> None:
    assert Attention(heads=32, kv_heads=8, head_dim=128).elements == 2048


def test_deepseek_v3_keeps_576_numbers_per_token_and_layer() -> None:
    assert Latent(heads=128, rank=512, rope_dim=64).elements == 576


def test_narrower_values_are_counted_as_such() -> None:
    assert Attention(heads=8, kv_heads=8, head_dim=192, value_dim=128).elements == 8 * (192 + 128)


def test_a_layer_that_reads_the_cache_of_an_earlier_one_keeps_none() -> None:
    own = Layer(mixers=(Attention(heads=8, kv_heads=2, head_dim=256),))
    shared = Layer(mixers=own.mixers, shares=0)

    assert geometry(own, shared).keeping == (own,)


@pytest.mark.parametrize("shares", [1, 2, -1])
def test_a_cache_can_only_be_shared_with_an_earlier_layer(shares: int) -> None:
    layer = Layer(mixers=(Attention(heads=8, kv_heads=2, head_dim=256),))

    with pytest.raises(ValueError, match="which does not precede it"):
        geometry(layer, Layer(mixers=layer.mixers, shares=shares))


@pytest.mark.parametrize("name", ["heads", "kv_heads", "head_dim", "window"])
def test_a_broken_config_is_refused_by_the_field(name: str) -> None:
    fields = {"heads": 8, "kv_heads": 8, "head_dim": 64, "window": 128} | {name: 0}

    with pytest.raises(ValueError, match=name.replace("kv_heads", "kv_heads")):
        Attention(**fields)


@given(counts, counts, counts)
def test_attention_keeps_as_much_for_keys_as_for_values(kv_heads: int, group: int, head_dim: int) -> None:
    layer = Attention(heads=kv_heads * group, kv_heads=kv_heads, head_dim=head_dim)

    assert layer.elements == 2 * kv_heads * head_dim
