"""The search finds what trying everything finds; what once broke that stands here with its cause."""

from dataclasses import replace
from typing import Final

import pytest

from engines.vllm.models import hybrid
from fit.brute import Brute, Rank, Way
from fit.problems import MODELS, generated, thinned, workload
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.fit.choice import Lever
from oomph.fit.judge import Judge
from oomph.fit.question import Question
from oomph.fit.search import PREFERENCES, best_of_each_way, easiest, order, some, ways
from oomph.fit.space import Space, space
from oomph.ledger.device import Device
from oomph.ledger.rest import Rest
from oomph.ledger.settings import Flags
from oomph.units import GIB, Bytes

PROBLEMS: Final = 260
SETTINGS: Final = 260  # of each, at most: with every share


def small(number: int) -> tuple[Question, Space] | None:
    """A problem and a space of it that can be searched whole; None where the release refuses such a model."""
    question = generated(number)
    try:
        return question, thinned(space(question.startup, question.workload), number, most=SETTINGS)
    except UsageError:
        return None


def searched(judge: Judge, preference: str) -> dict[Way, tuple[Rank, float]]:
    levers, choices = order(preference), judge.space.choices
    return {
        tuple(found.places[choice.lever] for choice in choices if not choice.ordered): (
            found.rank(levers),
            found.judged.forecast.settings.number("gpu_memory_utilization"),
        )
        for found in best_of_each_way(judge, levers)
    }


def left_out(way: Way, found: dict[Way, tuple[Rank, float]], judge: Judge, preference: str) -> bool:
    """Whether another way is nowhere worse, and gives up nothing else."""
    free = {choice.lever for choice in judge.space.choices if not choice.ordered}
    levers = order(preference)
    whole = [
        other
        for other, (rank, _) in found.items()
        if not any(place for lever, place in zip(levers, rank, strict=True) if lever not in free)
    ]
    return any(all(mine <= its for mine, its in zip(other, way, strict=True)) for other in whole)


def test_the_search_equals_trying_everything_on_over_200_problems(capsys: pytest.CaptureFixture[str]) -> None:
    compared = solvable = ways_found = settings = 0
    for number in range(PROBLEMS):
        if (made := small(number)) is None:
            continue
        question, few = made
        judge = Judge(few, risk=question.risk)
        brute = Brute(few, question.risk)
        wanted = brute.best_of_each_way(order(question.preference))
        found = searched(judge, question.preference)

        missing = wanted.keys() - found.keys()
        assert found == {way: best for way, best in wanted.items() if way not in missing}, number
        assert all(left_out(way, found, judge, question.preference) for way in missing), number
        assert min(found.values(), default=None) == min(wanted.values(), default=None), number
        compared, solvable, ways_found = compared + 1, solvable + bool(wanted), ways_found + len(wanted)
        settings += few.size
    with capsys.disabled():
        print(  # noqa: T201 - the figure
            f"\n  {compared} problems searched whole ({settings:,} settings): "
            f"{solvable} have an answer, {ways_found} ways to one",
            end="",
        )

    assert compared >= 200
    assert solvable >= 100


def narrowed(start: Startup, *, keep: dict[Lever, list[int]], shares: tuple[float, ...] | None = None) -> Space:
    """The space with these places of each lever, and the first of the others."""
    whole = space(start, workload(prompt=200, answer=300, users=2))
    choices = tuple(
        replace(choice, options=tuple(choice.options[place] for place in keep.get(choice.lever, [0])))
        for choice in whole.choices
    )
    return replace(whole, choices=choices, shares=shares or whole.shares)


def equal_to_brute(few: Space, risk: Rest) -> bool:
    wanted = {preference: Brute(few, risk).best_of_each_way(order(preference)) for preference in PREFERENCES}
    found = {preference: searched(Judge(few, risk=risk), preference) for preference in PREFERENCES}
    return bool(wanted["quality"]) and found == wanted


def test_a_given_pool_is_as_large_with_every_share_though_stages_are_planned_only_where_there_is_room() -> None:
    card = Device(name="card", total=Bytes(8 * GIB))
    start = Startup(
        flags=Flags({"tensor_parallel_size": 2, "pipeline_parallel_size": 2, "quantization": "fp8"}),
        model=MODELS["llama"],
        devices=(card,) * 4,
        release=HISTORY.release("0.20.2"),
    )
    few = narrowed(
        start,
        keep={Lever.POOL: [1], Lever.GRAPHS: [5], Lever.STEP: [2], Lever.SEQUENCES: [9], Lever.LENGTH: [2, 70, -1]},
        shares=(0.2, 0.23, 0.67, 0.92),
    )
    judge, brute = Judge(few), Brute(few, Rest.SURE)
    sizes = {
        made[0].flags["kv_cache_memory_bytes"]
        for share in few.shares
        if (made := brute.made(tuple(0 for _ in few.choices), share)) is not None
    }

    assert len(sizes) == 1
    assert searched(judge, "quality") == brute.best_of_each_way(order("quality"))


def test_fewer_sequences_can_leave_less_room_where_states_are_copied_and_the_best_is_found_all_the_same() -> None:
    card = Device(name="card", total=Bytes(31576865453))
    typed = Flags({"gpu_memory_utilization": 0.96, "enforce_eager": True, "max_model_len": 60_416})
    start = Startup(flags=typed, model=hybrid(), devices=(card,), release=HISTORY.release("0.26.0"))
    few = narrowed(start, keep={Lever.STEP: [0, 1], Lever.SEQUENCES: [0, 4, -1]})
    at = [choice.lever for choice in few.choices].index(Lever.SEQUENCES)
    with_whole_step = [
        places[at]
        for places in Brute(few, Rest.SURE).passing
        if not any(place for other, place in enumerate(places) if other != at)
    ]

    assert with_whole_step == [0]  # 256 sequences, and neither 64 nor 2
    assert equal_to_brute(few, Rest.SURE)


def test_the_easiest_of_a_way_takes_every_ordered_lever_to_its_end() -> None:
    question = generated(0)
    choices = space(question.startup, question.workload).choices
    way = next(ways(choices))
    places = easiest(choices, way)

    assert all(places[choice.lever] == len(choice.options) - 1 for choice in choices if choice.ordered)
    assert all(places[lever] == 0 for lever in way)


def test_where_nothing_passes_there_is_no_way() -> None:
    tiny = Startup(
        flags=Flags(),
        model=MODELS["llama"],
        devices=(Device(name="card", total=Bytes(2 * GIB)),),
        release=HISTORY.release("0.32.0"),
    )
    judge = Judge(space(tiny, workload(prompt=200, answer=50, users=1)))

    assert list(best_of_each_way(judge, order("quality"))) == []
    assert all(some(judge, easiest(judge.space.choices, way)) is None for way in ways(judge.space.choices))


@pytest.mark.parametrize(
    ("preference", "first"),
    [("quality", Lever.WEIGHTS), ("length", Lever.LENGTH), ("gpus", Lever.GPUS), ("speed", Lever.GRAPHS)],
)
def test_what_is_preferred_is_given_up_last_and_nothing_is_forgotten(preference: str, first: Lever) -> None:
    assert order(preference)[0] is first
    assert sorted(order(preference)) == sorted(Lever)
