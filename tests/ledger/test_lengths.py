"""Lengths of prompts and answers: worked by hand, and never shorter than what was seen."""

from math import ceil, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oomph.ledger.histogram import Histogram
from oomph.ledger.lengths import Lengths

EDGES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)  # vLLM's, for a length of 1,000
tokens = st.lists(st.integers(1, 1_000), min_size=1, max_size=200)


def histogram(lengths: list[int], edges: tuple[float, ...] = EDGES) -> Histogram:
    all_edges = (*edges, inf)
    return Histogram(edges=all_edges, counts=tuple(sum(each <= edge for each in lengths) for edge in all_edges))


def test_of_a_hundred_lengths_the_fiftieth_and_the_ninety_ninth_are_taken() -> None:
    lengths = Lengths.counted(reversed(range(1, 101)), basis="by hand")

    assert lengths is not None
    assert (lengths.p50, lengths.p99, lengths.most, lengths.count) == (50, 99, 100, 100)
    assert lengths.samples[:3] == (100, 99, 98)


def test_of_buckets_the_upper_edge_is_taken() -> None:
    lengths = Lengths.bucketed(histogram([3] * 60 + [300] * 40), basis="by hand")

    assert lengths is not None
    assert (lengths.p50, lengths.p99, lengths.most, lengths.count, lengths.samples) == (5, 500, 500, 100, ())


def test_a_length_above_the_last_edge_is_bounded_only_by_what_the_engine_accepts() -> None:
    counted = histogram([3] * 10 + [4_000] * 10)
    free, bounded = (Lengths.bucketed(counted, basis="", at_most=most) for most in (None, 8_192))

    assert free is not None
    assert (free.p50, free.p99, free.most) == (5, 1_001, None)
    assert bounded is not None
    assert (bounded.p50, bounded.p99, bounded.most) == (5, 8_192, 8_192)


def test_no_lengths_are_no_lengths_and_not_none_long() -> None:
    assert Lengths.counted([], basis="") is None
    assert Lengths.bucketed(histogram([]), basis="") is None
    assert Lengths.bucketed(Histogram(edges=(inf,), counts=(5,)), basis="") is None


def test_a_part_of_many_keeps_the_longest_of_all() -> None:
    lengths = Lengths.counted([5, 6], basis="", count=1_000, most=900)

    assert lengths is not None
    assert (lengths.p99, lengths.most, lengths.count) == (6, 900, 1_000)


def test_lengths_that_fall_are_refused() -> None:
    with pytest.raises(ValueError, match="must not fall: p50 9, p99 8"):
        Lengths(p50=9, p99=8, basis="")


@given(tokens)
def test_buckets_never_promise_less_than_the_lengths_themselves(lengths: list[int]) -> None:
    exact, rough = Lengths.counted(lengths, basis=""), Lengths.bucketed(histogram(lengths), basis="")

    assert exact is not None
    assert rough is not None
    assert rough.p50 >= exact.p50
    assert rough.p99 >= exact.p99
    assert rough.most is not None
    assert exact.most is not None
    assert rough.most >= exact.most


@given(tokens)
def test_the_stated_share_is_no_longer(lengths: list[int]) -> None:
    exact = Lengths.counted(lengths, basis="")

    assert exact is not None
    assert sum(each <= exact.p50 for each in lengths) >= ceil(len(lengths) / 2)
    assert sum(each <= exact.p99 for each in lengths) >= ceil(0.99 * len(lengths))


@given(tokens, tokens)
def test_what_came_since_is_what_came_since(before: list[int], after: list[int]) -> None:
    assert histogram(before + after).since(histogram(before)) == histogram(after)


def test_counts_that_fell_are_of_another_process() -> None:
    assert histogram([5]).since(histogram([5, 5])) is None
    assert histogram([5]).since(histogram([5], edges=(7.0,))) is None


@pytest.mark.parametrize(
    ("edges", "counts"), [((1.0, inf), (2, 1)), ((2.0, 1.0), (1, 1)), ((1.0,), (1,)), ((inf,), (1, 2)), ((), ())]
)
def test_what_is_no_histogram_is_refused(edges: tuple[float, ...], counts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="no histogram"):
        Histogram(edges=edges, counts=counts)
