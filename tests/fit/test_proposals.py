"""What is proposed passes: forecast again from its flags alone, as somebody who runs it will."""

import shlex
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Final

import pytest

from fit.brute import good
from fit.problems import generated
from oomph.engines.vllm.levers.startup import Startup
from oomph.errors import UsageError
from oomph.fit.choice import Choice, Places
from oomph.fit.fit import searched
from oomph.fit.given import caches_beginnings
from oomph.fit.held import held
from oomph.fit.judge import Judge
from oomph.fit.question import Question
from oomph.fit.search import Found, best_of_each_way, order, ways
from oomph.fit.space import space
from oomph.ledger.command import Command
from oomph.ledger.settings import Flags, Value
from oomph.readers.command_line import read_command
from oomph.write.manifest.forms import Form, written

WANTED: Final = 10_000
WAYS: Final = 10  # of each problem
MIXED: Final = 0.25  # of ordered levers: with a value to choose
FIRST: Final = 10_000  # the number of the first problem: others than those that are searched whole


def proposals(number: int) -> Iterator[tuple[Question, Found]]:
    """The best of some ways of one problem; of ordered levers only a few values, so that it is found quickly."""
    question, dice = generated(number), Random(number)  # noqa: S311 - chosen once, not secret
    try:
        whole = space(question.startup, question.workload)
    except UsageError:
        return
    every = list(ways(whole.choices))
    for way in dice.sample(every, min(WAYS, len(every))):
        few = replace(whole, choices=tuple(_of(way, choice, dice) for choice in whole.choices))
        for found in best_of_each_way(Judge(few, risk=question.risk), order(question.preference)):
            yield question, found


def _of(way: Places, choice: Choice, dice: Random) -> Choice:
    """The value of this way; of an ordered lever the last, and of some of them one before it."""
    last = len(choice.options) - 1
    places = [last] if choice.ordered else [way[choice.lever]]
    if choice.ordered and dice.random() < MIXED:
        places = sorted({dice.randint(0, last), last})
    return replace(choice, options=tuple(choice.options[place] for place in places))


def again(question: Question, flags: Flags) -> Startup:
    """From nothing but what was asked, and the flags; weights that were measured are those of what was asked."""
    start = question.startup
    if start.model is not None and start.model.weights is not None:
        return start.but(flags)
    return Startup(flags=flags, model=start.model, devices=start.devices, release=start.release)


def passes(question: Question, start: Startup) -> bool:
    forecast, wanted = start.forecast(), question.workload
    users = -(-wanted.users // start.flags.count("data_parallel_size"))
    enough = held(forecast, wanted, shares=caches_beginnings(start), risk=question.risk) >= users
    return enough and good(forecast, question.risk)


def test_none_of_10_000_proposals_fails_its_own_forecast(capsys: pytest.CaptureFixture[str]) -> None:
    count = problems = answered = 0
    while count < WANTED:
        before = count
        for question, found in proposals(FIRST + problems):
            assert passes(question, again(question, found.judged.startup.flags)), (problems, found.places)
            count += 1
        problems, answered = problems + 1, answered + (count > before)
    with capsys.disabled():
        print(f"\n  {count:,} proposals for {answered} of {problems} problems pass", end="")  # noqa: T201 - the figure

    assert count >= WANTED


def test_what_is_written_down_and_read_again_starts_and_holds_as_many(capsys: pytest.CaptureFixture[str]) -> None:
    checked = 0
    for number in range(FIRST, FIRST + 28):
        question = generated(number)
        try:
            _, answers = searched(question)
        except UsageError:
            continue
        for found in sorted(answers, key=lambda each: each.rank(order(question.preference)))[:1]:
            flags = read_again(found.judged.startup)
            forecast = again(question, flags).forecast()
            assert dict(flags) == given(found.judged.startup), number
            assert good(forecast, question.risk), number
            assert forecast.gates == found.judged.forecast.gates, number
            checked += 1
    with capsys.disabled():
        print(f"\n  {checked} commands were written down, read again, and start", end="")  # noqa: T201 - the figure

    assert checked >= 20


def given(start: Startup) -> dict[str, Value]:
    """Flags that say something."""
    return {name: value for name, value in start.flags.items() if value is not None}


def read_again(start: Startup) -> Flags:
    """The flags of the command, as a shell would hand them on."""
    command = Command(release=str(start.release), model="some/model", flags=start.flags, devices=start.devices)
    words = shlex.split(written(command, Form.VLLM), comments=True)
    return read_command(words, start.release).flags
