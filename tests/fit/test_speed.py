"""How fast a space is decided, printed and held with slack; and that every setting in it is really decided."""

import json
import time
from pathlib import Path
from random import Random
from typing import Final

import pytest

from fit.brute import good
from fit.problems import MODELS, workload
from oomph.architectures.registry import geometry
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.fit.choice import Places
from oomph.fit.fit import fit
from oomph.fit.given import caches_beginnings, with_pool
from oomph.fit.held import held
from oomph.fit.judge import Judge
from oomph.fit.question import Question
from oomph.fit.search import Found, best_of_each_way, order, ways
from oomph.fit.space import Space, space
from oomph.ledger.catalogue import devices
from oomph.ledger.rest import Rest
from oomph.ledger.settings import Flags

QWEN: Final = Path(__file__).parents[2] / "examples" / "qwen3.6-27b" / "config.json"
SAMPLED: Final = 300
LEVERS: Final = order("quality")


def question(name: str, gpu: str) -> Question:
    model = MODELS.get(name) or Model(name=name, geometry=geometry(json.loads(QWEN.read_text())))
    start = Startup(flags=Flags(), model=model, devices=devices(gpu), release=HISTORY.release("0.32.0"))
    return Question(startup=start, workload=workload(prompt=6000, answer=800, users=16))


@pytest.mark.parametrize(
    ("name", "gpu"),
    [("llama", "rtx-4090"), ("qwen3.6-27b", "rtx-5090 x2"), ("qwen3.6-27b", "h100-80gb x8"), ("routed", "rtx-4090 x4")],
)
def test_far_more_than_100_000_settings_are_decided_in_a_second(
    name: str, gpu: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = question(name, gpu)
    begin = time.process_time()
    found = fit(asked)
    spent = time.process_time() - begin
    with capsys.disabled():
        print(  # noqa: T201 - the figure
            f"\n  {name} on {gpu}: {found.settings:,} settings decided by {found.forecasts} forecasts "
            f"in {spent:.2f} s of CPU (wanted: 1)",
            end="",
        )

    assert found.settings >= 100_000
    assert found.forecasts < found.settings / 1000
    assert spent < 10  # wanted: 1 on a quiet machine


def passes(found: Space, places: Places, share: float) -> bool:
    """One forecast, and nothing that the search knows."""
    try:
        start = found.at(places)
        users = found.users_of(start)
        if any(option.given_pool for option in found.options(places)):
            start = with_pool(start, found.workload, users=users)
        start = start.but({"gpu_memory_utilization": share})
        forecast = start.forecast()
    except UsageError:
        return False
    enough = held(forecast, found.workload, shares=caches_beginnings(start), risk=Rest.SURE) >= users
    return enough and good(forecast, Rest.SURE)


def better(found: Found, whole: Space, dice: Random) -> Places:
    """A setting that comes before the best of its way: equal down to a lever, better there, anything below."""
    sizes = {choice.lever: len(choice.options) for choice in whole.choices if choice.ordered}
    ordered = [lever for lever in LEVERS if lever in sizes]
    turn = dice.choice([lever for lever in ordered if found.places[lever]])
    places = dict(found.places)
    places[turn] = dice.randrange(found.places[turn])
    below = ordered[ordered.index(turn) + 1 :]
    return {**places, **{lever: dice.randrange(sizes[lever]) for lever in below}}


def easier(found: Found, whole: Space, dice: Random) -> Places:
    """A setting that gives up as much or more of every ordered lever."""
    sizes = {choice.lever: len(choice.options) for choice in whole.choices if choice.ordered}
    return {
        **found.places,
        **{lever: dice.randrange(found.places[lever], size) for lever, size in sizes.items()},
    }


@pytest.mark.parametrize(("name", "gpu"), [("llama", "rtx-4090"), ("routed", "rtx-4090 x4")])
def test_what_the_search_never_looked_at_is_as_it_concludes(name: str, gpu: str) -> None:
    asked, dice = question(name, gpu), Random(7)  # noqa: S311 - chosen once, not secret
    whole = space(asked.startup, asked.workload)
    ordered = {choice.lever for choice in whole.choices if choice.ordered}
    answers = list(best_of_each_way(Judge(whole), LEVERS))
    giving = [each for each in answers if any(each.places[lever] for lever in ordered)]
    shares = sorted(whole.shares, key=lambda share: abs(share - whole.share))
    assert whole.size > 100_000
    assert giving

    for _ in range(SAMPLED // 2):
        found = dice.choice(giving)
        assert not passes(whole, better(found, whole, dice), dice.choice(whole.shares))
        worse = easier(found, whole, dice)
        assert any(passes(whole, worse, share) for share in shares)


def test_ways_without_an_answer_have_none_anywhere() -> None:
    asked, dice = question("routed", "rtx-4090 x4"), Random(8)  # noqa: S311 - chosen once, not secret
    whole = space(asked.startup, asked.workload)
    free = [choice.lever for choice in whole.choices if not choice.ordered]
    answered = [{lever: each.places[lever] for lever in free} for each in best_of_each_way(Judge(whole), LEVERS)]
    closed = [way for way in ways(whole.choices) if not any(_no_better(each, way) for each in answered)]
    assert closed

    for _ in range(SAMPLED // 2):
        any_place = {choice.lever: dice.randrange(len(choice.options)) for choice in whole.choices}
        assert not passes(whole, {**any_place, **dice.choice(closed)}, dice.choice(whole.shares))


def _no_better(one: Places, other: Places) -> bool:
    return all(other[lever] >= place for lever, place in one.items())
