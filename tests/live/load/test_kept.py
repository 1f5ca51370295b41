"""What is remembered of a long scene."""

from hypothesis import given
from hypothesis import strategies as st

from oomph.live.load.kept import Kept
from proofs import answered


@given(count=st.integers(0, 400), most=st.integers(4, 200))
def test_every_request_is_kept_and_no_more_gaps_than_there_is_room_for(count: int, most: int) -> None:
    kept = Kept(most=most)
    for user in range(count):
        kept.add(answered(user))  # with four gaps each

    assert [outcome.user for outcome in kept.outcomes] == list(range(count))
    assert sum(len(outcome.gaps) for outcome in kept.outcomes) <= most
    assert all(outcome.pieces == 5 for outcome in kept.outcomes)


def test_what_is_left_is_of_the_whole_time() -> None:
    kept = Kept(most=40)
    for user in range(100):
        kept.add(answered(user))

    assert [outcome.user for outcome in kept.outcomes if outcome.gaps] == list(range(0, 100, 16))
