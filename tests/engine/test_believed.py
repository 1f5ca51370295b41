"""What vLLM believes of every machine of the scenarios, and whether it starts there, asked of vLLM itself."""

from typing import Any, Final

import pytest

from engine.pipe import Bench
from hardware.judged import Driver, Json, driver, saved
from hardware.machine import SCENARIOS
from oomph.diagnose.machine.judgement import Judged, judge
from oomph.engines.history import release
from oomph.engines.vllm.start_check import StartCheck
from oomph.ledger.gate import Verdict
from oomph.units import Bounds

RELEASES: Final = ("0.11.0", "0.12.0", "0.19.1", "0.20.2", "0.32.0")
CONTEXT: Final = (250 << 20, 640 << 20)  # what the engine's own context takes before it looks, at least and at most
WORDS: Final[dict[str, tuple[str, ...]]] = {"NVML": (), "driver": ("--context",)}

each_release = pytest.mark.parametrize("name", RELEASES)
each_machine = pytest.mark.parametrize("scenario", SCENARIOS)


def devices(scenario: str, name: str, asked: str = "driver") -> list[tuple[Judged, Driver | None]]:
    """Every device that the engine would see there, and what the driver would tell it."""
    probe = saved(scenario, *WORDS[asked])
    found = judge(probe, release(name)).devices
    return [(each, None if each.place.part.seen is None else driver(each.place, probe)) for each in found]


def reads(judges: Bench, name: str, there: Driver) -> Json:
    """What that release reads there, before its own context has taken anything."""
    own = {"name": there.name, "capability": list(there.capability), "total": there.total}  # a room takes seconds
    said: Any = judges[name].ask(
        "snapshot",
        total=there.total,
        free=there.free,
        available=there.available,
        integrated=there.integrated,
        device=own if there.integrated else None,
    )
    return dict(said)


def starts(judges: Bench, name: str, cases: list[tuple[int, int, float]]) -> list[bool]:
    """Whether the release's own check passes: a total, what is free of it, and a share."""
    asked = [{"total": total, "free": free, "utilization": share} for total, free, share in cases]
    return [answer.refusal is None for answer in judges[name].ask_many("request_memory", asked)]


def checked(each: Judged) -> tuple[int, Bounds, StartCheck]:
    assert each.believed is not None
    assert each.check is not None
    return each.believed.total, each.believed.free, each.check


def test_there_is_something_to_ask_about() -> None:
    seen = {scenario: len(devices(scenario, "0.32.0")) for scenario in SCENARIOS}

    assert {scenario for scenario, count in seen.items() if count == 0} == {"no_driver"}
    assert seen["eight_mixed"] == 8


@each_release
@each_machine
def test_total_and_free_are_what_vllm_reads_on_that_machine(scenario: str, name: str, judges: Bench) -> None:
    for each, there in devices(scenario, name):
        assert there is not None
        assert each.believed is not None
        theirs = reads(judges, name, there)
        assert each.believed.total == theirs["total"]
        assert each.believed.now == Bounds(min(theirs["free"], theirs["total"]))


@each_release
@pytest.mark.parametrize("asked", WORDS)
@each_machine
def test_the_verdict_is_that_of_vllms_own_check_at_both_ends_of_what_will_be_free(
    scenario: str, asked: str, name: str, judges: Bench
) -> None:
    verdicts = {(True, True): Verdict.FITS, (False, False): Verdict.OVERFLOWS, (False, True): Verdict.UNSURE}
    for each, _ in devices(scenario, name, asked):
        total, free, check = checked(each)
        worst, best = starts(judges, name, [(total, end, check.share) for end in (free.low, free.high)])
        assert check.verdict is verdicts[worst, best]


@each_release
@pytest.mark.parametrize("asked", WORDS)
@each_machine
def test_the_largest_share_passes_vllms_own_check_and_a_hundredth_more_does_not(
    scenario: str, asked: str, name: str, judges: Bench
) -> None:
    for each, _ in devices(scenario, name, asked):
        total, free, check = checked(each)
        for share, end in ((check.largest, free.low), (check.likely, free.likely)):
            hundredths = 0 if share is None else round(share * 100)
            passes, more = starts(judges, name, [(total, end, (hundredths + extra) / 100) for extra in (0, 1)])
            assert passes
            assert not more


@each_release
@each_machine
def test_a_sure_answer_holds_whatever_the_engines_context_takes(scenario: str, name: str, judges: Bench) -> None:
    for each, there in devices(scenario, name):
        assert there is not None
        _, _, check = checked(each)
        free = reads(judges, name, there)["free"]
        small, large = starts(judges, name, [(there.total, free - taken, check.share) for taken in CONTEXT])
        assert check.verdict is not Verdict.FITS or (small and large)
        assert check.verdict is not Verdict.OVERFLOWS or each.place.gpu.unified or not (small or large)


@pytest.mark.parametrize(
    ("scenario", "believers"),
    [("gb10", {"0.12.0", "0.19.1", "0.20.2", "0.32.0"}), ("jetson", {"0.12.0", "0.19.1", "0.20.2", "0.32.0"})],
)
def test_the_page_cache_counts_as_used_only_for_those_who_ask_the_driver(
    scenario: str, believers: set[str], judges: Bench
) -> None:
    """0.11.0 asks the driver, 0.11.1 asks the host by capability, 0.20.0 wherever CUDA says integrated."""
    found = {name: reads(judges, name, there) for name in RELEASES for _, there in devices(scenario, name) if there}
    available = saved(scenario, "--context").host.available

    assert {name for name, said in found.items() if said["free"] == available} == believers
