"""Where chunks end, by hand: blocks of 16, a prompt of 50 tokens."""

from dataclasses import replace

import pytest

from oomph.engines.vllm.admission.splitting import (
    Chunk,
    Split,
    by_boundary,
    by_last_block,
    by_prompt_end,
    by_replay,
    unanswered,
    uncached_first,
    whole,
)

FIRST = Chunk(start=0, tokens=50, prompt=50, known=50, fork=0, found=0, most=500)
ALL = [unanswered, by_last_block, uncached_first, by_boundary, by_prompt_end, by_replay]


@pytest.mark.parametrize("split", ALL)
def test_a_prompt_is_cut_at_its_last_whole_block(split: Split) -> None:
    assert whole(FIRST, 16) == 50
    assert split(FIRST, 16) == 48
    assert split(replace(FIRST, start=48, tokens=2), 16) == 2
    assert split(replace(FIRST, tokens=40), 16) == 32  # the step has room for 40


@pytest.mark.parametrize("split", ALL)
def test_an_answer_is_not_cut(split: Split) -> None:
    assert split(replace(FIRST, start=63, tokens=1, known=64, found=None), 16) == 1


def test_a_step_shorter_than_a_block_computes_nothing_before_0_27_and_a_part_of_it_since() -> None:
    short = replace(FIRST, tokens=10, most=10)

    assert (by_last_block(short, 16), by_boundary(short, 16)) == (0, 0)
    assert (by_prompt_end(short, 16), by_replay(short, 16)) == (10, 10)


def test_a_prompt_that_ends_with_a_block_keeps_the_state_before_its_last_block_since_0_32() -> None:
    even = replace(FIRST, tokens=48, prompt=48, known=48)

    assert by_prompt_end(even, 16) == 48
    assert by_replay(even, 16) == 32  # if it is sent again, its last token must be computed


def test_a_fork_is_computed_up_to() -> None:
    forked = replace(FIRST, fork=33)

    assert [split(forked, 16) for split in ALL] == [48, 48, 32, 32, 32, 32]
