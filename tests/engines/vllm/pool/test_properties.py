"""What must hold of every pool, whatever the model and the release."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.vllm.pool.models import named, one
from oomph.engines.history import Release, release
from oomph.engines.vllm.pool import layers
from oomph.engines.vllm.pool.caches import State
from oomph.engines.vllm.pool.dealing import group_size, in_slices, round_robin
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.engines.vllm.pool.group import Layers
from oomph.engines.vllm.pool.limits import Limits, StateMode
from oomph.engines.vllm.pool.needs import longest
from oomph.engines.vllm.pool.packing import least_padding
from oomph.engines.vllm.pool.plan import largest_length, plan
from oomph.engines.vllm.pool.pool import Pool, Worker
from oomph.engines.vllm.pool.refusal import Reason, Refusal
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention
from oomph.units import GIB

EVERY = [known for known in HISTORY.releases if known.key >= release("0.8.0").key]
quick = settings(max_examples=40, deadline=None)
releases = st.sampled_from(EVERY)
counts = st.integers(1, 30)
sizes = st.integers(GIB, 80 * GIB)


@st.composite
def models(draw: st.DrawFn, asked: Release) -> Layers:
    """Full attention, beside windows or beside states with equal pages."""
    heads, dim = draw(st.sampled_from([2, 4, 8])), draw(st.sampled_from([64, 128, 256]))
    shape = Attention(heads=8, kv_heads=heads, head_dim=dim)
    full = layers.attention(shape, asked, block_tokens=16, kept=KvFormat.BFLOAT16)
    if draw(st.booleans()):
        local = Attention(heads=8, kv_heads=heads, head_dim=dim, window=1024)
        cache = layers.attention(local, asked, block_tokens=16, kept=KvFormat.BFLOAT16)
        return named((full, draw(counts)), (cache, draw(counts)))
    state = State(shape=(full.page // 4,), dtype=Dtype.F32)
    return named((full, draw(counts)), (layers.recurrent((state,), block_tokens=4096), draw(st.integers(0, 30))))


@st.composite
def questions(draw: st.DrawFn) -> tuple[Release, Layers, Limits]:
    asked = draw(releases)
    told = Limits(
        context_tokens=draw(st.integers(1, 40_000)),
        step_tokens=draw(st.sampled_from([512, 8192])),
        state_mode=draw(st.sampled_from(list(StateMode))),
    )
    return asked, draw(models(asked)), told


def blocks(answer: Pool | Refusal) -> int:
    return answer.blocks if isinstance(answer, Pool) else 0


def too_small(answer: Pool | Refusal) -> bool:
    return isinstance(answer, Refusal) and answer.reason is Reason.TOO_SMALL


@quick
@given(questions(), sizes, st.integers(0, GIB))
def test_more_bytes_never_make_fewer_blocks(
    question: tuple[Release, Layers, Limits], available: int, more: int
) -> None:
    asked, found, told = question

    assert blocks(plan(one(found, available), told, asked)) <= blocks(plan(one(found, available + more), told, asked))


@quick
@given(questions(), sizes)
def test_tensors_take_no_more_than_is_available_and_waste_less_than_one_block(
    question: tuple[Release, Layers, Limits], available: int
) -> None:
    asked, found, told = question
    answer = plan(one(found, available), told, asked)
    if isinstance(answer, Refusal):
        return
    (share,) = answer.shares

    assert share.size == answer.blocks * share.bytes_per_block
    assert 0 <= available - share.size < share.bytes_per_block


@quick
@given(questions(), sizes)
def test_every_layer_is_in_exactly_one_group(question: tuple[Release, Layers, Limits], available: int) -> None:
    asked, found, told = question
    answer = plan(one(found, available), told, asked)
    if isinstance(answer, Refusal):
        return

    assert sorted(name for group in answer.groups for name in group.names) == sorted(found)


@quick
@given(questions(), sizes)
def test_the_largest_length_fits_and_one_token_more_does_not(
    question: tuple[Release, Layers, Limits], available: int
) -> None:
    asked, found, told = question
    length = largest_length(one(found, available // 50), told, asked)
    if isinstance(length, Refusal) or length == 0:
        return
    at = plan(one(found, available // 50), replace(told, context_tokens=length), asked)
    above = plan(one(found, available // 50), replace(told, context_tokens=length + 1), asked)

    assert not too_small(at)
    assert length == told.context_tokens or too_small(above)


@quick
@given(questions(), sizes, sizes)
def test_the_poorer_of_two_equal_workers_decides(
    question: tuple[Release, Layers, Limits], first: int, second: int
) -> None:
    asked, found, told = question
    both = plan([Worker(layers=found, available=first), Worker(layers=found, available=second)], told, asked)

    assert blocks(both) == blocks(plan(one(found, min(first, second)), told, asked))


@quick
@given(questions(), sizes)
def test_what_the_user_overrides_is_what_there_is(question: tuple[Release, Layers, Limits], available: int) -> None:
    asked, found, told = question
    answer = plan(one(found, available), replace(told, override_blocks=100_000), asked)
    if isinstance(answer, Refusal):
        return

    assert answer.blocks == 100_000 or asked == release("0.9.1")


@given(st.lists(counts, min_size=1, max_size=4), st.sampled_from([1.0, 1.25, 1.5]))
def test_a_group_is_as_large_as_the_smallest_kind_or_as_the_largest(found: list[int], padding: float) -> None:
    assert group_size(found, padding=padding) in {min(found), max(found)}
    assert group_size(found, padding=1.0) == min(found)


@given(counts, counts)
def test_dealing_gives_every_layer_once_and_no_group_more_than_its_size(count: int, size: int) -> None:
    names = [str(index) for index in range(count)]

    for dealt in (in_slices(names, size), round_robin(names, size)):
        assert sorted(name for group in dealt for name in group) == sorted(names)
        assert len(dealt) == -(-count // size)
        assert max(len(group) for group in dealt) <= size


@given(st.lists(counts, min_size=1, max_size=5), counts)
def test_the_size_with_least_padding_has_no_better(found: list[int], at_least: int) -> None:
    def waste(size: int) -> int:
        return sum(-count % size for count in found)

    best = least_padding(found, at_least=at_least)

    assert best >= at_least
    assert all(waste(best) <= waste(size) for size in range(at_least, max(found) + 1))


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_the_longest_is_found_wherever_it_lies(limit: int, upto: int) -> None:
    assert longest(lambda length: length <= limit, upto) == min(limit, upto)


@pytest.mark.parametrize("asked", EVERY, ids=str)
def test_every_release_from_0_8_on_plans_a_dense_model(asked: Release) -> None:
    shape = Attention(heads=32, kv_heads=8, head_dim=128)
    found = named((layers.attention(shape, asked, block_tokens=16, kept=KvFormat.BFLOAT16), 32))
    answer = plan(one(found, 10 * GIB), Limits(context_tokens=32_768, step_tokens=2048), asked)

    assert isinstance(answer, Pool)
    assert (answer.blocks, answer.tokens, answer.concurrency) == (5120, 81_920, 2.5)
