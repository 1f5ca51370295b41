import json
from dataclasses import replace

import pytest

from diagnose.startups import seed_a, startup, with_free
from oomph.engines.history import Release
from oomph.engines.vllm.flags.find import find
from oomph.engines.vllm.levers import prices, values
from oomph.engines.vllm.levers.checkpoint import in_four_bits
from oomph.engines.vllm.levers.lever import Lever, Trial
from oomph.engines.vllm.levers.startup import RELEASE, Change, Startup
from oomph.engines.vllm.levers.table import LEVERS
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.gate import Step
from oomph.ledger.observed import Observed, Seen
from oomph.ledger.settings import Value
from oomph.units import GIB, Bounds

FLAGS = [lever for lever in LEVERS if lever.flag != RELEASE]


def trial(asked: Startup, change: Change) -> Trial:
    ((_, value),) = change.items()
    return Trial(value=value, startup=asked, before=asked.forecast(), after=asked.but(change).forecast())


# --- the table


@pytest.mark.parametrize("lever", FLAGS, ids=lambda lever: lever.flag)
def test_a_lever_acts_only_where_the_release_has_the_flag(lever: Lever) -> None:
    acting = [release for release in HISTORY.releases if lever.acts.at(release)]

    assert acting
    assert {find("--" + lever.flag.replace("_", "-"), release).key for release in acting} == {lever.flag}


@pytest.mark.parametrize("release", HISTORY.releases, ids=str)
def test_only_the_share_acts_at_the_start_check(release: Release) -> None:
    acting = {lever.flag for lever in FLAGS if lever.acts_at(Step.START_CHECK, release)}

    assert acting <= {"gpu_memory_utilization"}


@pytest.mark.parametrize("flag", ["gpu_memory_utilization", "max_model_len", "max_num_seqs", "enforce_eager"])
def test_what_people_turn_first_does_not_act_while_weights_are_loaded(flag: str) -> None:
    newest = HISTORY.read_through

    assert not any(lever.acts_at(Step.LOAD, newest) for lever in LEVERS if lever.flag == flag)


def test_a_gate_that_is_moved_like_another_is_worsened_like_that_one() -> None:
    lower, higher = (lever for lever in LEVERS if lever.flag == "gpu_memory_utilization")

    assert Step.CAPTURE not in lower.worse(Step.CAPTURE, acting=Step.CAPTURE)
    assert Step.CAPTURE in lower.worse(Step.CAPTURE, acting=Step.ONE_REQUEST)
    assert Step.CAPTURE in higher.worse(Step.CAPTURE, acting=Step.CAPTURE)
    assert Step.CAPTURE not in higher.worse(Step.CAPTURE, acting=Step.ONE_REQUEST)


# --- how far they go


def moves(name: str, asked: Startup) -> list[Value]:
    found: list[Value] = list(getattr(values, name)(asked, asked.forecast()))
    return found


@pytest.mark.parametrize(
    ("name", "begin", "count"),
    [
        ("fewer_sequences", [255, 254, 253], 255),
        ("lower_share", [0.79, 0.78, 0.77], 75),
        ("higher_share", [0.81, 0.82, 0.83], 19),
        ("fewer_step_tokens", [1792], 1),  # a step must hold a block of 1,600 tokens
        ("shorter_requests", [16_128, 15_872, 15_616], 63),
        ("smaller_captures", [496, 480, 464], 50),
        ("no_graphs", [True], 1),
        ("text_alone", [], 0),  # as it is
        ("narrow_keys", [], 0),  # likewise
        ("narrow_weights", [], 0),  # what was measured has a format already
        ("more_ranks", [2, 4, 8], 3),
        ("newer_release", ["0.32.0"], 1),
        ("given_pool", [31 * GIB + GIB // 4, 31 * GIB], 125),
        ("larger_pool", [], 0),
        ("shorter_captures", [], 0),
    ],
)
def test_the_least_painful_value_comes_first(name: str, begin: list[Value], count: int) -> None:
    found = moves(name, seed_a())

    assert (found[: len(begin)], len(found)) == (begin, count)


def test_guesses_become_fewer_and_then_none() -> None:
    one, none = moves("fewer_guesses", seed_a())
    assert isinstance(one, str)

    assert json.loads(one) == {"method": "mtp", "num_speculative_tokens": 1}
    assert none is None


def test_a_given_list_of_captures_loses_its_largest() -> None:
    asked = seed_a(cudagraph_capture_sizes=(1, 2, 4, 64))

    assert moves("shorter_captures", asked) == [(1, 2, 4), (1, 2), (1,)]
    assert moves("smaller_captures", asked) == []


def test_a_given_pool_moves_both_ways_and_the_share_not_at_all() -> None:
    asked = seed_a(kv_cache_memory_bytes=5 * GIB)

    assert moves("larger_pool", asked)[0] == 5 * GIB + GIB // 4
    assert moves("given_pool", asked)[0] == 5 * GIB - GIB // 4
    assert moves("higher_share", asked) == []


def test_a_given_pool_can_be_left_to_the_engine() -> None:
    asked = seed_a(kv_cache_memory_bytes=5 * GIB, max_num_seqs=8)
    said = prices.no_given_pool(trial(asked, {"kv_cache_memory_bytes": None}))

    assert moves("no_given_pool", asked) == [None]
    assert moves("no_given_pool", seed_a()) == []
    assert said.startswith("the pool is what the share leaves, about ")
    assert said.endswith("; not the 5.00 GiB that are given")


def test_a_share_between_hundredths_has_neighbours_on_both_sides() -> None:
    asked = seed_a(gpu_memory_utilization=0.905)

    assert moves("lower_share", asked)[0] == 0.90
    assert moves("higher_share", asked)[0] == 0.91


def test_without_a_model_only_the_share_sequences_steps_and_graphs_can_be_moved() -> None:
    asked = replace(seed_a(), model=None)
    now = asked.forecast()
    movable = {lever.flag for lever in LEVERS if lever.values(asked, now)}

    assert movable <= {
        "gpu_memory_utilization",
        "max_num_seqs",
        "max_num_batched_tokens",
        "max_model_len",
        "max_cudagraph_capture_size",
        "speculative_config",
        "enforce_eager",
        RELEASE,
    }


def test_an_old_card_keeps_keys_in_sixteen_bits() -> None:
    assert moves("narrow_keys", startup("dense", at="0.19.1", device="rtx-3090")) == []
    assert moves("narrow_keys", startup("dense", at="0.19.1", device="rtx-4090")) == ["fp8"]


# --- what they cost


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("fewer_sequences", {"max_num_seqs": 16}, "at most 16 requests at once instead of 256; the rest wait"),
        ("fewer_sequences", {"max_num_seqs": 1}, "at most 1 request at once instead of 256; the rest wait"),
        ("shorter_requests", {"max_model_len": 8192}, "requests longer than 8,192 tokens are refused"),
        ("lower_share", {"gpu_memory_utilization": 0.7}, "3.13 GiB less for the pool: -0.10 of 31.35 GiB"),
        ("higher_share", {"gpu_memory_utilization": 0.9}, "3.13 GiB less for all that the budget leaves out"),
        (
            "smaller_captures",
            {"max_cudagraph_capture_size": 64},
            "steps of more than 64 tokens run without CUDA graphs, and slower; so far only those of more than 512 do",
        ),
        (
            "smaller_captures",
            {"cudagraph_capture_sizes": (1, 2)},
            "steps of more than 2 tokens run without CUDA graphs",
        ),
        ("no_graphs", {"enforce_eager": True}, "no CUDA graphs (steps of up to 512 tokens had one)"),
        ("given_pool", {"kv_cache_memory_bytes": 5 << 30}, "fixed at 5.00 GiB = 96 blocks (38,400 tokens)"),
        ("fewer_step_tokens", {"max_num_batched_tokens": 1792}, "read 1,792 tokens at a time instead of 2,048"),
        ("fewer_guesses", {"speculative_config": None}, "one token per step and request instead of up to 3"),
        (
            "fewer_guesses",
            {"speculative_config": '{"num_speculative_tokens": 1}'},
            "1 token guessed ahead instead of 2",
        ),
        ("more_ranks", {"tensor_parallel_size": 2}, "2 GPUs like this one instead of 1"),
        ("with_host", {"cpu_offload_gb": 4}, "4 GiB of the weights stay in host memory"),
        ("newer_release", {"release": "0.32.0"}, "another release than the one that was asked about, 0.19.1"),
    ],
)
def test_a_price_has_its_numbers_in_it(name: str, change: Change, words: str) -> None:
    assert words in getattr(prices, name)(trial(seed_a(), change))


def test_a_newer_release_says_which_defaults_and_flags_it_lacks() -> None:
    asked = startup("dense", at="0.17.1", device="rtx-4090", swap_space=4)
    said = prices.newer_release(trial(asked, {"release": "0.32.0"}))

    assert "gpu_memory_utilization 0.9 → 0.92" in said
    assert said.endswith("it has no --swap-space")


def test_towers_that_are_not_loaded_are_weighed() -> None:
    asked = startup("hybrid", at="0.32.0", device="h100-80gb")
    said = prices.text_alone(trial(asked, {"language_model_only": True}))

    assert said.startswith("pictures, video and sound are refused; the towers, 8")


# --- the question, changed


def test_more_ranks_bring_their_devices_and_a_part_of_measured_weights() -> None:
    changed = seed_a().but({"tensor_parallel_size": 2})
    model = changed.model
    assert model is not None
    assert model.weights is not None

    assert len(changed.devices) == 2
    assert model.weights.size.low == round(19_832_011_489 / 2)
    assert model.weights.size.high == pytest.approx(19_832_011_489 / 2 * 1.1, abs=2)
    assert "divided by 2" in model.weights.because


def test_more_ranks_bring_devices_for_every_replica() -> None:
    two = startup("dense", at="0.19.1", device="rtx-3090", data_parallel_size=2)

    assert len(two.but({"tensor_parallel_size": 2}).devices) == 4


def test_ranks_that_have_their_devices_bring_none() -> None:
    plain = startup("dense", at="0.19.1", device="rtx-3090", tensor_parallel_size=4)
    fewer = replace(plain, flags=plain.flags.but(tensor_parallel_size=1))

    assert len(fewer.but({"tensor_parallel_size": 2}).devices) == 4


def test_another_release_is_another_question_with_the_same_flags() -> None:
    changed = seed_a().but({RELEASE: "0.26.0"})

    assert (str(changed.release), changed.flags) == ("0.26.0", seed_a().flags)


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ({"max_num_seqs": 8}, {"weights"}),
        ({"enforce_eager": True}, {"weights", "activations"}),
        ({"gpu_memory_utilization": 0.7}, {"weights", "activations", "graphs"}),
        ({"tensor_parallel_size": 2}, set()),
        ({RELEASE: "0.32.0"}, {"weights"}),
    ],
    ids=lambda each: ",".join(sorted(map(str, each))),  # a set prints in any order, and names must be the same
)
def test_what_was_measured_holds_as_far_as_it_cannot_follow_from_the_change(change: Change, left: set[str]) -> None:
    seen = Seen(size=Bounds(GIB), because="seen by a test")
    measured = replace(seed_a(), observed=Observed(weights=seen, activations=seen, graphs=seen, pool=seen))
    found = measured.but(change).observed
    assert found is not None

    assert {name for name in ("weights", "activations", "graphs", "pool") if getattr(found, name) is seen} == left


def test_four_bits_are_told_only_of_a_model_in_sixteen() -> None:
    plain = startup("dense", at="0.32.0", device="rtx-4090")
    told = in_four_bits(plain, plain.forecast())

    # 6,979,321,856 numbers in matrices at 4 + 16/128 + 4/128 bits are 3.38 GiB; in 16 bits, two vocabularies of
    # 128,256 × 4,096 are 1.96 GiB, and 131,072 positions of 128 numbers 0.03 GiB.
    assert told == "a checkpoint in 4 bits (AWQ, groups of 128) would hold about 5.37 GiB of weights, not 14.99 GiB"
    assert in_four_bits(seed_a(), seed_a().forecast()) is None


def test_a_device_in_use_is_asked_about_as_it_was_seen() -> None:
    asked = startup("dense", at="0.32.0", device=with_free("rtx-4090", 0.5))

    assert asked.but({"max_num_seqs": 4}).devices == asked.devices
