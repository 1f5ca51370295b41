"""The headline: what is counted, and whether it became worse."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fitted.marks import Compared, Marks, Outcome

Figures = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One figure."""

    name: str
    words: str
    of: Callable[[Sequence[Marks]], int]
    less: bool = False  # the smaller, the better


def _count(says: Callable[[Marks], bool]) -> Callable[[Sequence[Marks]], int]:
    return lambda found: sum(says(each) for each in found)


GOALS: Final = (
    Goal(name="asked", words="start-ups that failed and can be asked again", of=len),
    Goal(
        name="proposed",
        words="of these, a command for all that was asked",
        of=_count(lambda each: each.outcome in {Outcome.SURE, Outcome.LIKELY}),
    ),
    Goal(name="sure", words="of these, surely passing", of=_count(lambda each: each.outcome is Outcome.SURE)),
    Goal(
        name="foreseen",
        words="of those asked, what failed may fail in the forecast too",
        of=_count(lambda each: each.foreseen),
    ),
    Goal(
        name="repeated",
        words="proposals that are the command that failed, or more",
        of=_count(lambda each: each.repeated),
        less=True,
    ),
    Goal(
        name="confirmed",
        words="of those asked, a working configuration is known",
        of=_count(lambda each: each.compared is not None),
    ),
    Goal(
        name="no_worse",
        words="of these, ours is no worse in length and in users",
        of=_count(lambda each: each.compared is Compared.NO_WORSE),
    ),
)


def headline(found: Sequence[Marks]) -> Figures:
    """All figures."""
    return {goal.name: goal.of(found) for goal in GOALS}


def worsened(found: Figures, kept: Figures) -> Iterator[str]:
    """What is worse than it was."""
    for goal in GOALS:
        now, before = found[goal.name], kept.get(goal.name)
        if before is not None and (now > before if goal.less else now < before):
            yield f"{goal.name}: {before} before, {now} now"


def written(figures: Figures) -> str:
    """As it is kept."""
    return json.dumps(dict(figures), indent=2) + "\n"
