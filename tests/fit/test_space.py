"""What can be chosen: what the user typed stays, the rest is consistent, and what the engine refuses is not offered."""

from dataclasses import replace

import pytest

from fit.problems import MODELS, RELEASES, workload
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.fit.choice import Lever, Places
from oomph.fit.search import easiest, ways
from oomph.fit.space import Space, space
from oomph.fit.states import least_step
from oomph.ledger.device import Device
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB, Bytes

WORK = workload(prompt=900, answer=100, users=8)


def start(
    name: str = "llama",
    release: str = "0.32.0",
    flags: dict[str, Value] | None = None,
    *,
    gib: int = 24,
    count: int = 1,
) -> Startup:
    return Startup(
        flags=Flags(flags),
        model=MODELS[name],
        devices=(Device(name="card", total=Bytes(gib * GIB)),) * count,
        release=HISTORY.release(release),
    )


def values(found: Space, lever: Lever) -> list[dict[str, Value]]:
    choice = next(choice for choice in found.choices if choice.lever is lever)
    return [dict(option.change) for option in choice.options]


def ends(found: Space) -> list[Places]:
    """The easiest setting of the first way, and the best."""
    way = next(ways(found.choices))
    return [easiest(found.choices, way), {choice.lever: 0 for choice in found.choices}]


def test_lengths_go_down_to_what_the_workload_needs_in_steps_of_1024() -> None:
    found = values(space(start(flags={"max_num_seqs": 4}), WORK), Lever.LENGTH)

    assert found[:3] == [{}, {"max_model_len": 130_048}, {"max_model_len": 129_024}]
    assert found[-2:] == [{"max_model_len": 2048}, {"max_model_len": 1024}]


def test_sequences_go_down_from_the_default_or_from_what_the_users_need() -> None:
    usual = values(space(start(), WORK), Lever.SEQUENCES)
    many = values(space(start(), replace(WORK, users=700)), Lever.SEQUENCES)

    assert usual[:3] == [{}, {"max_num_seqs": 192}, {"max_num_seqs": 128}]
    assert many[:3] == [{"max_num_seqs": 768}, {"max_num_seqs": 512}, {"max_num_seqs": 384}]


def test_two_gpus_are_taken_as_one_then_by_tensors_replicas_or_stages() -> None:
    found = values(space(start(count=2), WORK), Lever.GPUS)

    assert found == [
        {},
        {"tensor_parallel_size": 2},
        {"data_parallel_size": 2},
        {"pipeline_parallel_size": 2},
    ]


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("max_num_seqs", 4),
        ("max_num_batched_tokens", 512),
        ("max_model_len", 4096),
        ("gpu_memory_utilization", 0.7),
        ("enforce_eager", True),
        ("kv_cache_dtype", "fp8"),
        ("tensor_parallel_size", 2),
    ],
)
def test_what_the_user_typed_stays_whatever_is_chosen_beside_it(flag: str, value: Value) -> None:
    found = space(start(flags={flag: value}, count=2), replace(WORK, users=700))

    assert all(found.at(places).flags[flag] == value for places in ends(found))


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("users", [1, 40, 700, 3000])
def test_a_step_has_room_for_a_token_of_every_sequence_and_a_batch_for_every_user(release: str, users: int) -> None:
    found = space(start(release=release), replace(WORK, users=users))
    for places in ends(found):
        settings = found.at(places).forecast().settings

        assert users <= settings.whole("max_num_seqs") <= settings.whole("max_num_batched_tokens")


@pytest.mark.parametrize("release", ["0.19.1", "0.26.0", "0.32.0"])
@pytest.mark.parametrize("kept", ["auto", "fp8"])
def test_where_states_are_kept_a_step_takes_a_block_at_least(release: str, kept: str) -> None:
    asked = start("weighed", release, {"kv_cache_dtype": kept, "enable_prefix_caching": True}, gib=80)
    found = space(asked, WORK)
    forecast = found.at(ends(found)[0]).forecast()

    assert forecast.kv is not None
    assert least_step(asked) == forecast.kv.block_tokens
    assert forecast.settings.whole("max_num_batched_tokens") >= forecast.kv.block_tokens


def test_a_model_without_states_has_no_least_step() -> None:
    assert least_step(start()) == 0


@pytest.mark.parametrize("flags", [{}, {"max_model_len": 4096}])
def test_requests_that_are_longer_than_the_engine_takes_are_refused_with_the_reason(flags: dict[str, Value]) -> None:
    long = workload(prompt=200_000, answer=100, users=1)

    with pytest.raises(UsageError, match=r"200,100 tokens .* cannot be served"):
        space(start(flags=flags), long)


def test_the_space_counts_every_setting_with_every_share() -> None:
    typed: dict[str, Value] = {"max_num_seqs": 8, "max_num_batched_tokens": 512, "max_model_len": 1024}
    found = space(start(flags={**typed, "enforce_eager": True}), WORK)

    assert [len(choice.options) for choice in found.choices if len(choice.options) > 1] == [
        2,
        2,
        2,
    ]  # weights, keys, pool
    assert found.size == 2 * 2 * 2 * 95


def test_users_are_dealt_over_replicas() -> None:
    found = space(start(count=2), replace(WORK, users=9))
    dealt = found.startup.but({"data_parallel_size": 2})

    assert (found.users_of(found.startup), found.users_of(dealt)) == (9, 5)


def test_workloads_without_users_or_with_a_beginning_longer_than_prompts_are_refused() -> None:
    for users, prefix in ((0, 0), (1, 901)):
        with pytest.raises(ValueError, match="a workload of"):
            workload(prompt=900, answer=100, users=users, prefix=prefix)
