from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from diagnose.startups import seed_a, startup, startups, with_free
from oomph.diagnose.at_gate import NAMES, findings
from oomph.diagnose.at_once import at_once
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.remedies import MOST, moved, remedies, upgraded
from oomph.diagnose.search import first
from oomph.diagnose.trials import SEVERITY, Trials, Tried, acting, at, earlier, later, passes, verdict
from oomph.engines.vllm.levers.advice import ADVICE
from oomph.engines.vllm.levers.lever import Lever
from oomph.engines.vllm.levers.startup import Change, Startup
from oomph.engines.vllm.levers.table import LEVERS
from oomph.engines.vllm.levers.values import with_host
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.ledger.rest import Rest

many = settings(max_examples=700, deadline=None)
few = settings(max_examples=60, deadline=None)


def found(asked: Startup) -> Finding:
    (finding,) = findings(asked.forecast(), asked)
    return finding


def stopped(asked: Startup) -> tuple[Trials, Gate]:
    now = asked.forecast()
    gate = now.stopped_at
    assert gate is not None
    return Trials(asked, now), gate


def levers(trials: Trials, gate: Gate, *, monotone: bool = False) -> st.SearchStrategy[Lever]:
    """Those that act where it stops."""
    step, asked = acting(trials.now, gate.step), trials.startup.release
    return st.sampled_from([each for each in LEVERS if each.acts_at(step, asked) and (each.monotone or not monotone)])


stopping = startups().filter(lambda asked: asked.forecast().stopped_at is not None)


# --- the search itself


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_first_value_that_helps_is_found_by_halving(count: int, helping: int) -> None:
    values = tuple(range(count))
    found = first(values, lambda value: value >= helping, monotone=True)

    assert found == ((helping,) if helping < count else None)


def test_a_lever_that_never_helps_costs_one_trial() -> None:
    asked = []

    def never(value: object) -> bool:
        asked.append(value)
        return False

    assert first(range(1000), never, monotone=True) is None
    assert asked == [999]


def test_values_that_do_not_follow_an_order_are_tried_one_by_one() -> None:
    assert first((2, 4, 8), lambda value: value == 4, monotone=False) == (4,)


# --- worked by hand


def test_without_a_model_the_largest_share_below_what_is_free_is_found() -> None:
    # 0.89 of 94.97 GiB is 84.53 GiB and 0.90 is 85.48 GiB; 0.8999 of it, 85.46 GiB, are free.
    plain = startup("dense", at="0.32.0", device=with_free("rtx-pro-6000", 0.8999), gpu_memory_utilization=0.95)
    (remedy,) = found(replace(plain, model=None)).remedies

    assert found(plain).code == "SC001"
    assert remedy.change == {"gpu_memory_utilization": 0.89}
    assert "5.70 GiB less for the pool: -0.06 of 94.97 GiB" in remedy.price


def test_with_a_model_the_share_leaves_room_for_what_the_budget_leaves_out() -> None:
    plain = startup("dense", at="0.32.0", device=with_free("rtx-pro-6000", 0.8999), gpu_memory_utilization=0.95)
    (remedy,) = (each for each in found(plain).remedies if set(each.change) == {"gpu_memory_utilization"})
    share = remedy.change["gpu_memory_utilization"]
    assert isinstance(share, float)

    assert (remedy.verdict, share < 0.89) == (Verdict.FITS, True)
    assert plain.but({"gpu_memory_utilization": round(share + 0.01, 2)}).forecast().verdict is not Verdict.FITS


def test_a_given_pool_is_raised_to_the_first_quarter_of_a_gib_that_holds_a_request() -> None:
    # 131,072 tokens × 32 layers × 2 × 8 heads × 128 × 2 B = 16 GiB.
    asked = startup("dense", at="0.19.1", device="h100-80gb", kv_cache_memory_bytes=2 << 30)
    finding = found(asked)

    assert finding.code == "KV001"
    assert {"kv_cache_memory_bytes": 16 << 30} in [each.change for each in finding.remedies]
    assert {"max_model_len": 16_384} in [each.change for each in finding.remedies]


def test_keys_of_eight_bits_halve_a_request() -> None:
    asked = startup("dense", at="0.19.1", device="h100-80gb", kv_cache_memory_bytes=9 << 30)

    assert {"kv_cache_dtype": "fp8"} in [each.change for each in found(asked).remedies]


def test_weights_above_the_device_are_divided_or_told_in_four_bits() -> None:
    asked = startup("hybrid", at="0.32.0", device="rtx-5090")
    finding = found(asked)

    assert (finding.code, finding.name) == ("LD001", "weights-above-device")
    assert {flag for each in finding.remedies for flag in each.change} <= {"tensor_parallel_size", "cpu_offload_gb"}
    assert finding.remedies
    assert [words.partition("(")[0] for words in finding.beyond] == ["a checkpoint in 4 bits "]


def test_a_state_for_every_sequence_is_named_as_such() -> None:
    asked = startup("hybrid", at="0.32.0", device="h100-80gb")
    finding = found(asked)

    assert (finding.code, finding.name) == ("KV002", "fewer-state-blocks-than-sequences")
    assert any(set(each.change) == {"max_num_seqs"} for each in finding.remedies)


def test_a_larger_share_makes_a_pool_with_a_block_for_every_sequence() -> None:
    asked = startup(
        "hybrid", at="0.32.0", device="h100-80gb", gpu_memory_utilization=0.78, max_num_seqs=150, max_model_len=32_768
    )
    finding = found(asked)
    share = finding.remedies[0].change["gpu_memory_utilization"]
    assert isinstance(share, float)

    assert (finding.code, share > 0.78) == ("KV002", True)
    assert passes(asked.but({"gpu_memory_utilization": share}).forecast(), Step.CAPTURE)
    assert not passes(asked.but({"gpu_memory_utilization": round(share - 0.01, 2)}).forecast(), Step.CAPTURE)


def test_what_fails_at_several_gates_gets_several_changes_together() -> None:
    asked = seed_a(max_model_len=262_144)
    together = [each for each in found(asked).remedies if len(each.change) > 1]

    assert {gate.step for gate in asked.forecast().gates if gate.verdict is Verdict.OVERFLOWS} == {
        Step.GRAPH_PROFILE,
        Step.ONE_REQUEST,
    }
    assert any("max_num_seqs" in each.change for each in together)
    assert all(each.verdict is not Verdict.OVERFLOWS for each in together)
    assert all("; " in each.price for each in together)


def test_where_no_single_change_is_sure_what_is_likely_is_told_and_is_no_remedy() -> None:
    asked = startup(
        "hybrid",
        at="0.23.0",
        device="rtx-3090",
        weights="18.47GiB",
        gpu_memory_utilization=0.95,
        max_num_seqs=8,
        max_cudagraph_capture_size=8,
    )
    finding = found(asked)

    assert finding.code == "KV001"
    assert all(len(each.change) > 1 for each in finding.remedies)
    assert [words.partition(" ")[0] for words in finding.beyond] == ["--max-model-len"]
    assert "is likely to be enough, but not sure" in finding.beyond[0]


def test_a_change_that_only_moves_the_failure_on_is_listed_as_that_and_hardware_is_named() -> None:
    asked = startup("huge", at="0.26.0", device="t4", gpu_memory_utilization=0.99)
    finding = found(asked)
    (remedy,) = finding.remedies

    assert finding.code == "SC001"
    assert (set(remedy.change), remedy.verdict, remedy.fails_at) == (
        {"gpu_memory_utilization"},
        Verdict.OVERFLOWS,
        Step.LOAD,
    )
    assert finding.beyond[0].startswith(
        "no flag starts this on these GPUs; the smallest hardware that starts it as asked"
    )
    assert "with --gpu-memory-utilization" in finding.beyond[0]


def test_the_hardware_that_is_named_starts_it_and_the_next_smaller_does_not() -> None:
    asked = startup("huge", at="0.26.0", device="t4", max_model_len=4096)
    finding = found(asked)

    assert finding.remedies == ()
    assert finding.beyond[0] == (
        "no flag starts this on these GPUs; the smallest hardware that starts it as asked is "
        "8 × NVIDIA H20-3e, 139.72 GiB each, with --tensor-parallel-size 8"
    )
    for card, expected in {"h20-3e": Verdict.FITS, "rtx-pro-6000": Verdict.OVERFLOWS}.items():
        eight = replace(asked, devices=(CATALOGUE[card],) * 8).but({"tensor_parallel_size": 8})
        assert eight.forecast().verdict is expected


def test_nothing_is_promised_where_no_hardware_that_is_known_starts_it() -> None:
    asked = startup("huge", at="0.26.0", device="t4", kv_cache_memory_bytes=400 << 30)

    assert found(asked).beyond[0] == (
        "no flag starts this on these GPUs, and it does not start as asked on 8 of the largest that are known"
    )


def test_several_changes_that_only_help_together_are_found_each_as_small_as_can_be() -> None:
    asked = startup("hybrid", at="0.23.0", device="rtx-3090", weights="18.47GiB", gpu_memory_utilization=0.95)
    trials, gate = stopped(asked)
    tried = at_once(trials, gate.step)
    assert tried is not None

    assert len(tried.change) > 1
    assert passes(tried.forecast, gate.step)
    assert tried.enough
    for flag, value in tried.change.items():
        lever = next(each for each in LEVERS if each.flag == flag and value in each.values(asked, trials.now))
        values = lever.values(asked, trials.now)
        less = values.index(value) - 1
        after = trials.of({**tried.change, flag: values[less]}) if less >= 0 and lever.monotone else None
        assert after is None or not (passes(after, gate.step) and Tried(change={}, prices={}, forecast=after).enough)


def test_no_more_is_left_with_the_host_than_hosts_have() -> None:
    ranks = 2
    asked = startup("huge", at="0.26.0", device="h100-80gb", tensor_parallel_size=ranks)
    left = [each.change["cpu_offload_gb"] for each in found(asked).remedies if "cpu_offload_gb" in each.change]

    assert not left
    assert max(value for value in with_host(asked, asked.forecast()) if isinstance(value, int)) == 512 // ranks


def test_more_gpus_are_named_last() -> None:
    flags = [set(each.change) for each in found(seed_a()).remedies]

    assert flags[-1] == {"tensor_parallel_size"}
    assert sum("tensor_parallel_size" in each for each in flags) == 1


def test_no_gate_is_without_a_name_and_no_code_is_used_twice() -> None:
    assert set(NAMES) == set(Step)
    assert len({code for code, _, _ in NAMES.values()}) == len(Step)


@pytest.mark.parametrize("at_release", ["0.19.1", "0.26.0", "0.32.0"])
def test_all_remedies_of_a_crash_cost_less_than_a_hundred_forecasts(at_release: str) -> None:
    asked = seed_a(at_release)
    trials = Trials(asked, asked.forecast())
    remedies(trials, Step.GRAPH_PROFILE, upgraded(trials, Step.GRAPH_PROFILE))

    assert 0 < len(trials) < 90


# --- for all start-ups


def no_worse_before(after: Forecast, trials: Trials, step: Step) -> bool:
    return all(SEVERITY[verdict(after, gate)] <= SEVERITY[verdict(trials.now, gate)] for gate in earlier(step))


@many
@given(stopping, st.data())
def test_with_whatever_a_lever_finds_the_failed_gate_passes(asked: Startup, data: st.DataObject) -> None:
    trials, gate = stopped(asked)
    lever = data.draw(levers(trials, gate))

    for tried in moved(lever, trials, gate.step):
        after = asked.but(tried.change).forecast()

        assert passes(after, gate.step)
        assert after.verdict is tried.forecast.verdict
        assert all(tried.prices.values())


@many
@given(stopping, st.data())
def test_a_less_painful_value_is_not_as_good(asked: Startup, data: st.DataObject) -> None:
    trials, gate = stopped(asked)
    lever = data.draw(levers(trials, gate, monotone=True))
    values = lever.values(asked, trials.now)
    others = [
        step for step in later(gate.step) if step not in lever.worse(gate.step, acting=acting(trials.now, gate.step))
    ]

    for tried in moved(lever, trials, gate.step):
        place = values.index(tried.change[lever.flag])
        milder = trials.of({lever.flag: values[place - 1]}) if place else None

        assert milder is None or not (
            passes(milder, gate.step)
            and no_worse_before(milder, trials, gate.step)
            and all(Rest.of(at(milder, step)) >= Rest.of(at(tried.forecast, step)) for step in others)
        )


@many
@given(stopping, st.data())
def test_moving_a_lever_further_never_undoes_that_the_gate_passes(asked: Startup, data: st.DataObject) -> None:
    trials, gate = stopped(asked)
    lever = data.draw(levers(trials, gate, monotone=True))
    assume(acting(trials.now, gate.step) is gate.step)  # a capture looks into the pool and beside it: one at a time
    assume(gate.step not in lever.worse(gate.step, acting=gate.step))
    values = lever.values(asked, trials.now)
    some = values[:: max(1, len(values) // 6)]
    tried = [after for value in some if (after := trials.of({lever.flag: value})) is not None]
    passed = [passes(after, gate.step) for after in tried if acting(after, gate.step) is gate.step]

    assert passed == sorted(passed)


def as_good(asked: Startup, change: Change, remedy: Remedy, step: Step) -> bool:
    after = asked.but(change).forecast()
    rest = Tried(change=change, prices={}, forecast=after).rest
    with_all = Tried(change=remedy.change, prices={}, forecast=asked.but(remedy.change).forecast()).rest
    return passes(after, step) and rest >= with_all


def superfluous(asked: Startup, step: Step) -> list[tuple[Change, str]]:
    """Parts of remedies without which they are as good."""
    return [
        (remedy.change, flag)
        for remedy in found(asked).remedies
        for flag in (remedy.change if len(remedy.change) > 1 else ())
        if as_good(asked, {name: value for name, value in remedy.change.items() if name != flag}, remedy, step)
    ]


@few
@given(stopping)
def test_every_remedy_of_a_finding_passes_and_needs_all_of_its_changes(asked: Startup) -> None:
    trials, gate = stopped(asked)
    finding = found(asked)

    assert len(finding.remedies) <= MOST
    for remedy in finding.remedies:
        after = asked.but(remedy.change).forecast()
        assert passes(after, gate.step)
        assert remedy.verdict is after.verdict
        assert no_worse_before(after, trials, gate.step)
    assert superfluous(asked, gate.step) == []


@pytest.mark.parametrize(
    "asked",
    [
        startup("dense", at="0.25.0", device="rtx-3090", weights="6GiB"),
        startup("hybrid", at="0.30.0", device=with_free("a10", 0.93), weights="18.47GiB"),
        startup("dense", at="0.11.2", device=with_free("rtx-3090", 0.7)),
    ],
    ids=["dense", "hybrid", "little free"],
)
def test_a_change_that_a_later_one_made_superfluous_is_left_out(asked: Startup) -> None:
    _, gate = stopped(asked)

    assert superfluous(asked, gate.step) == []


@few
@given(stopping)
def test_a_remedy_after_which_it_fails_elsewhere_is_listed_only_where_none_starts_it(asked: Startup) -> None:
    stopped(asked)
    listed = found(asked).remedies
    failing = [each for each in listed if each.verdict is Verdict.OVERFLOWS]

    assert len(failing) in {0, len(listed)}
    for remedy in listed:
        then = asked.but(remedy.change).forecast().stopped_at
        fails = then if remedy in failing else None
        assert remedy.fails_at is (None if fails is None else fails.step)


@few
@given(stopping)
def test_no_remedy_is_a_flag_that_is_inert_where_it_stops(asked: Startup) -> None:
    _, gate = stopped(asked)
    alone = [flag for remedy in found(asked).remedies if len(remedy.change) == 1 for flag in remedy.change]

    assert not {"--" + flag.replace("_", "-") for flag in alone} & set(gate.inert)


@few
@given(stopping)
def test_what_is_called_vain_leaves_both_sides_of_the_gate_as_they_are(asked: Startup) -> None:
    trials, gate = stopped(asked)
    vain = found(asked).unhelpful or {}
    said = [advice for advice in ADVICE if advice.words in vain]

    for advice in said:
        for change in advice.changes(asked, trials.now):
            after = at(asked.but(change).forecast(), gate.step)
            assert after is not None
            assert (after.needs, after.has) == (gate.needs, gate.has)


@few
@given(stopping)
def test_the_surest_remedies_stand_first_and_more_gpus_last(asked: Startup) -> None:
    stopped(asked)
    listed = found(asked).remedies
    by_flags = [remedy for remedy in listed if "tensor_parallel_size" not in remedy.change]
    severities = [SEVERITY[remedy.verdict] for remedy in by_flags if "cpu_offload_gb" not in remedy.change]

    assert list(listed[: len(by_flags)]) == by_flags
    assert severities == sorted(severities)
