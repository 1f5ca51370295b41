from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.proof.room import Room, blocks_of, planned_room, room, shared_blocks
from oomph.ledger.proof import Ask, Planned, Promise

sizes = st.integers(1, 5000)


def promise(blocks: int, *, engines: int = 1, caching: bool = True, tokens: int | None = None) -> Promise:
    return Promise(
        url="", model="", blocks=blocks, block_tokens=32, pool_tokens=tokens, engines=engines, prefix_caching=caching
    )


def test_a_request_of_161_tokens_keeps_160_which_are_5_blocks() -> None:
    assert blocks_of(Ask(prompt=100, answer=61), 32) == 5
    assert blocks_of(Ask(prompt=100, answer=62), 32) == 6


def test_64_blocks_hold_12_such_requests_because_one_block_is_never_given() -> None:
    expected = Room(users=12, because="(63 blocks) // 5 a request, of 32 tokens each")

    assert room(Ask(prompt=100, answer=61), promise(64)) == expected


def test_what_all_share_is_held_once() -> None:
    ask = Ask(prompt=128, answer=33, prefix=96)

    assert shared_blocks(ask, 32) == 3
    assert getattr(room(ask, promise(64)), "users", None) == (63 - 3) // 2
    assert getattr(room(ask, promise(64, caching=False)), "users", None) == 63 // 5


def test_a_prompt_that_is_all_prefix_still_computes_its_last_token() -> None:
    assert shared_blocks(Ask(prompt=64, answer=1, prefix=64), 32) == 1


def test_two_engines_hold_twice_as_many() -> None:
    found = room(Ask(prompt=100, answer=61), promise(64, engines=2))

    assert found is not None
    assert (found.users, found.because[:16]) == (24, "2 engines, each:")


def test_a_pool_whose_tokens_are_not_its_blocks_is_told_by_its_tokens() -> None:
    found = room(Ask(prompt=100, answer=100), promise(64, tokens=1000))

    assert found is not None
    assert (found.users, "layers take different blocks" in found.because) == (5, True)


def test_of_a_server_that_says_nothing_nothing_is_known() -> None:
    ask = Ask(prompt=100, answer=61)

    assert room(ask, Promise(url="", model="")) is None
    assert planned_room(ask, Planned()) is None


@given(prompt=sizes, answer=sizes, prefix=sizes, blocks=st.integers(2, 10_000))
def test_what_is_said_to_fit_fits_and_one_more_does_not(prompt: int, answer: int, prefix: int, blocks: int) -> None:
    ask = Ask(prompt=prompt, answer=answer, prefix=min(prefix, prompt))
    found = room(ask, promise(blocks))
    common = shared_blocks(ask, 32)
    own = blocks_of(ask, 32) - common

    assert found is not None
    assert common + found.users * own <= blocks - 1 or found.users == 0
    assert common + (found.users + 1) * own > blocks - 1
