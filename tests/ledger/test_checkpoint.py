import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.ledger.checkpoint import Checkpoint, Tensor
from oomph.ledger.dtype import Dtype

dtypes = st.sampled_from(list(Dtype))
shapes = st.lists(st.integers(0, 1 << 10), max_size=4).map(tuple)


def test_the_embedding_of_llama_3_8b_takes_1_050_673_152_bytes() -> None:
    embedding = Tensor(name="model.embed_tokens.weight", dtype=Dtype.BF16, shape=(128256, 4096))

    assert embedding.size == 1_050_673_152


def test_three_four_bit_numbers_take_two_whole_bytes() -> None:
    assert Tensor(name="packed", dtype=Dtype.F4, shape=(3,)).size == 2


def test_a_checkpoint_tells_its_formats_largest_first() -> None:
    checkpoint = Checkpoint(
        (
            Tensor(name="norm", dtype=Dtype.BF16, shape=(10,)),
            Tensor(name="weight", dtype=Dtype.F8_E4M3, shape=(10, 10)),
            Tensor(name="scale", dtype=Dtype.F32, shape=()),
        )
    )

    assert checkpoint.by_dtype() == {Dtype.F8_E4M3: 100, Dtype.BF16: 20, Dtype.F32: 4}
    assert checkpoint.size == 124


def test_a_tensor_that_stands_twice_is_refused() -> None:
    tensor = Tensor(name="twice", dtype=Dtype.F32, shape=(1,))

    with pytest.raises(ValueError, match="'twice' stands twice"):
        Checkpoint((tensor, tensor))


def test_a_negative_extent_is_refused() -> None:
    with pytest.raises(ValueError, match="negative extent"):
        Tensor(name="broken", dtype=Dtype.F32, shape=(4, -1))


@given(st.lists(st.tuples(dtypes, shapes), max_size=8))
def test_formats_add_up_to_the_checkpoint(parts: list[tuple[Dtype, tuple[int, ...]]]) -> None:
    checkpoint = Checkpoint(
        tuple(Tensor(name=str(index), dtype=dtype, shape=shape) for index, (dtype, shape) in enumerate(parts))
    )

    assert sum(checkpoint.by_dtype().values()) == checkpoint.size


@given(dtypes, st.integers(0, 1 << 40), st.integers(0, 1 << 40))
def test_elements_kept_apart_never_take_less(dtype: Dtype, one: int, two: int) -> None:
    assert dtype.size(one) + dtype.size(two) >= dtype.size(one + two)
