"""The headline: what must hold, what is measured, and whether it became worse.

Knows the goals. Does not know how an answer is made.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from explained.controls import CONTROLS
from explained.marks import Marks
from explained.records import Evidence

_ROUNDED: Final = 0.0001  # what is kept has four decimals

Figures = Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One figure."""

    name: str
    words: str
    goal: float | None
    of: Callable[[Iterable[Marks]], float | None]
    less: bool = False  # the smaller, the better

    def met(self, found: float | None) -> bool | None:
        """None where there is no goal, or nothing to measure."""
        if self.goal is None or found is None:
            return None
        return found <= self.goal if self.less else found >= self.goal


def share(right: Iterable[bool | None]) -> float | None:
    """Of those that are known."""
    known = [each for each in right if each is not None]
    return sum(known) / len(known) if known else None


def _of(evidence: Evidence) -> Callable[[Iterable[Marks]], float | None]:
    return lambda all_marks: share(each.good for each in all_marks if each.evidence is evidence)


GOALS: Final = (
    Goal(
        name="cause.sufficient",
        words="the cause, where the log shows it",
        goal=0.92,
        of=_of(Evidence.SUFFICIENT),
    ),
    Goal(
        name="cause.needs_more",
        words="the cause, where arguments, release or platform are needed and given",
        goal=0.80,
        of=_of(Evidence.NEEDS_MORE),
    ),
    Goal(
        name="candidates.insufficient",
        words="says that it is unsure, with the cause among the first three, where the log does not show it",
        goal=0.80,
        of=_of(Evidence.INSUFFICIENT),
    ),
    Goal(name="phase", words="the phase", goal=0.95, of=lambda all_marks: share(each.phase for each in all_marks)),
    Goal(
        name="remedy",
        words="the first remedy is among those that are known to have helped",
        goal=None,
        of=lambda all_marks: share(each.remedy for each in all_marks),
    ),
    Goal(
        name="inert",
        words="levers advised that are idle at the gate that failed, in all records",
        goal=0,
        of=lambda all_marks: float(sum(len(each.inert) for each in all_marks)),
        less=True,
    ),
    Goal(
        name="controls",
        words="logs that are no such failure, and are not called one",
        goal=1.0,
        of=lambda _: share(control.right for control in CONTROLS),
    ),
)


def headline(all_marks: Iterable[Marks]) -> Figures:
    """Of records whose cause was confirmed; advice is counted in all of them."""
    every = tuple(all_marks)
    confirmed = [each for each in every if each.answer.crash.confirmed]
    return {goal.name: goal.of(every if goal.name == "inert" else confirmed) for goal in GOALS}


def worsened(found: Figures, kept: Figures) -> Iterator[str]:
    """What is worse than it was."""
    for goal in GOALS:
        now, before = found[goal.name], kept.get(goal.name)
        if now is None or before is None:
            continue
        if (now - before if goal.less else before - now) > _ROUNDED:
            yield f"{goal.name}: {before:.3f} before, {now:.3f} now"


def written(figures: Figures) -> str:
    """As it is kept."""
    rounded = {name: None if figure is None else round(figure, 4) for name, figure in figures.items()}
    return json.dumps(rounded, indent=2) + "\n"
