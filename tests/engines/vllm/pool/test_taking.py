"""How a request takes blocks, as three numbers: the same as asking every layer, for every length."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from architectures.small_configs import SMALL, Config
from engines.vllm.pool.models import named, one
from engines.vllm.pool.test_properties import EVERY, questions
from oomph.architectures.registry import geometry
from oomph.engines.history import Release, release
from oomph.engines.vllm import kv
from oomph.engines.vllm.pool import facts, layers, needs
from oomph.engines.vllm.pool.formats import KvFormat
from oomph.engines.vllm.pool.group import Group, Groups, Layers
from oomph.engines.vllm.pool.limits import Limits
from oomph.engines.vllm.pool.plan import plan
from oomph.engines.vllm.pool.pool import Pool
from oomph.engines.vllm.pool.refusal import Refusal
from oomph.engines.vllm.pool.taking import Taking, taking
from oomph.engines.vllm.resolve import longest, resolve
from oomph.errors import OomphError
from oomph.ledger.device import Device
from oomph.ledger.geometry import Attention
from oomph.ledger.kv import KvGroup
from oomph.ledger.settings import Flags
from oomph.units import GIB, Bytes

NEWEST = release("0.32.0")
ENOUGH = 1 << 50
lengths = st.integers(1, 300_000)
quick = settings(max_examples=150, deadline=None, derandomize=True)


def told(group: Group, how: Taking) -> KvGroup:
    return KvGroup(
        layers=len(group.names),
        block_tokens=group.block_tokens,
        page=group.cache.page,
        spread=how.spread,
        most=how.most,
        besides=how.besides,
    )


def summed(groups: Groups, limits: Limits, length: int, asked: Release) -> int:
    rules = facts.rules(asked)
    return sum(told(group, taking(group, limits, rules)).taken(length) for group in groups)


def attention(window: int | None = None) -> Layers:
    shape = Attention(heads=8, kv_heads=2, head_dim=64, window=window)
    return named((layers.attention(shape, NEWEST, block_tokens=16, kept=KvFormat.BFLOAT16), 2))


def test_a_request_of_10_000_tokens_takes_625_blocks_of_all_tokens_and_193_of_a_window_of_1024() -> None:
    limits = Limits(context_tokens=32_768, step_tokens=2048)
    full, local = (plan(one(found, GIB), limits, NEWEST) for found in (attention(), attention(1024)))
    assert isinstance(full, Pool)
    assert isinstance(local, Pool)
    rules = facts.rules(NEWEST)

    assert taking(full.groups[0], limits, rules) == Taking(spread=1, most=None, besides=0)
    assert summed(full.groups, limits, 10_000, NEWEST) == 10_000 // 16
    assert taking(local.groups[0], limits, rules) == Taking(spread=1, most=1023 + 2048, besides=1)
    assert summed(local.groups, limits, 10_000, NEWEST) == 192 + 1  # of 1023 + 2048 tokens, and where a window begins


def test_a_window_takes_no_more_for_a_longer_request_and_less_for_a_short_one() -> None:
    local = KvGroup(layers=2, block_tokens=16, page=Bytes(1), most=3071, besides=1)

    assert [local.taken(tokens) for tokens in (16, 17, 3071, 3072, 100_000)] == [2, 3, 193, 193, 193]


def test_tokens_that_are_dealt_over_two_ranks_take_half_of_the_blocks() -> None:
    dealt = KvGroup(layers=2, block_tokens=16, page=Bytes(1), spread=2)

    assert [dealt.taken(tokens) for tokens in (32, 33, 10_000)] == [1, 2, 313]
    assert dealt.shared(10_000) == 312


def test_only_whole_blocks_of_a_beginning_are_shared_and_none_of_a_window_or_a_state() -> None:
    full = KvGroup(layers=2, block_tokens=16, page=Bytes(1))
    local = replace(full, most=3071, besides=1)
    state = replace(full, most=0, besides=2)

    assert [full.shared(tokens) for tokens in (15, 16, 100)] == [0, 1, 6]
    assert local.shared(100) == state.shared(100) == 0


@quick
@given(question=questions(), tokens=st.lists(lengths, min_size=1, max_size=8), hybrid=st.booleans())
def test_three_numbers_say_the_same_as_every_layer(
    *, question: tuple[Release, Layers, Limits], tokens: list[int], hybrid: bool
) -> None:
    asked, found, limits = question
    limits = replace(limits, hybrid=hybrid)
    planned = plan(one(found, ENOUGH), limits, asked)
    if isinstance(planned, Refusal):
        return
    groups, rules = planned.groups, facts.rules(asked)

    for length in tokens:
        assert summed(groups, limits, length, asked) == needs.blocks(groups, limits, length, rules)


@pytest.mark.parametrize("config", SMALL, ids=lambda config: config["architectures"][0])
def test_so_they_do_for_every_kind_of_model_in_every_release_that_plans_it(config: Config) -> None:
    plans = 0
    for asked in EVERY:
        for flags in (Flags(), Flags({"mamba_cache_mode": "all"}), Flags({"enable_prefix_caching": True})):
            for groups, limits in planned_for(config, flags, asked):
                for length in (1, 15, 16, 17, 63, 64, 65, 1000, 4096, 100_003):
                    wanted = needs.blocks(groups, limits, length, facts.rules(asked))
                    assert summed(groups, limits, length, asked) == wanted, (asked, flags, length)
                plans += 1

    assert plans > len(EVERY)


def planned_for(config: Config, flags: Flags, asked: Release) -> list[tuple[Groups, Limits]]:
    """None where the release does not know such a model, or such a flag."""
    shape = geometry(config)
    device = Device(name="card", total=Bytes(80 * GIB))
    try:
        resolved = resolve(flags, device=device, release=asked, context_tokens=longest(shape, asked))
        kept = kv.kept(shape, flags, resolved, device=device, release=asked)
        planned = plan(one(kept.layers, ENOUGH), kept.limits, asked)
    except OomphError:
        return []
    return [(planned.groups, kept.limits)] if isinstance(planned, Pool) else []
