"""The numbers in which batches are set."""

from hypothesis import given
from hypothesis import strategies as st

from oomph.fit.grids import batch_for, batches, halves


def test_batches_are_powers_of_two_and_three_quarters_of_them() -> None:
    assert list(batches(256)) == [192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1]
    assert list(batches(100)) == [96, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1]
    assert list(batches(1)) == []


def test_a_batch_is_the_least_of_them_that_has_room() -> None:
    assert [batch_for(users) for users in range(1, 10)] == [1, 2, 3, 4, 6, 6, 8, 8, 12]


@given(st.integers(1, 100_000))
def test_no_smaller_batch_of_the_grid_has_room(users: int) -> None:
    size = batch_for(users)

    assert size >= users
    assert next(batches(size), 0) < users


def test_halves_end_at_the_least() -> None:
    assert list(halves(8192, least=256)) == [4096, 2048, 1024, 512, 256]
    assert list(halves(3000, least=1024)) == [2048, 1024]
    assert list(halves(256, least=256)) == []
