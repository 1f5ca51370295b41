from hypothesis import given, settings
from hypothesis import strategies as st

from oomph.fit.lengths_drawn import drawn, lengths_of
from oomph.fit.workload import Workload
from oomph.ledger.lengths import Lengths


def test_counted_lengths_are_spread_over_the_whole_trace() -> None:
    lengths = Lengths.counted(range(1, 1001), basis="counted")
    assert lengths is not None

    assert drawn(lengths, 10, which=0) == [1, 101, 201, 301, 401, 501, 601, 701, 801, 901]


def test_a_short_trace_is_gone_through_again() -> None:
    lengths = Lengths.counted([7, 9], basis="counted")
    assert lengths is not None

    assert sorted(drawn(lengths, 6, which=1)) == [7, 7, 7, 9, 9, 9]


def test_a_prompt_holds_what_all_begin_with() -> None:
    work = Workload(prompt=Lengths.given(4000, p50=1000), answer=Lengths.given(100), users=1, prefix=3000)

    assert min(prompt for prompt, _ in lengths_of(work, 100)) == 3000


@given(p50=st.integers(1, 5000), more=st.integers(0, 20_000), which=st.sampled_from([0, 1]))
@settings(max_examples=60, deadline=None)
def test_half_are_no_longer_than_the_middle_and_none_than_the_end(p50: int, more: int, which: int) -> None:
    found = sorted(drawn(Lengths.given(p50 + more, p50=p50), 400, which=which))

    assert found[-1] <= p50 + more
    assert found[190] <= p50 <= found[210]


def test_the_same_lengths_are_drawn_every_time() -> None:
    lengths = Lengths.given(900, p50=300)

    assert drawn(lengths, 50, which=0) == drawn(lengths, 50, which=0)
    assert drawn(lengths, 50, which=0) != drawn(lengths, 50, which=1)
