"""All rules on one endpoint: its answers over time → what is wrong there now.

Knows which rules there are. Pure: what was recorded can be judged as what is seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from oomph.diagnose.serving import (
    backlog,
    engine_stuck,
    memory_creeps,
    not_answering,
    pool_saturated,
    prefix_cache,
    restarted,
    turned_away,
)
from oomph.diagnose.serving.course import Course, courses
from oomph.diagnose.serving.notice import Level, Notice
from oomph.ledger.answer import Answer

OF_ENDPOINTS: Final[tuple[Callable[[Sequence[Answer]], Notice | None], ...]] = (
    not_answering.check,
    memory_creeps.check,
)
OF_ENGINES: Final[tuple[Callable[[Course], Notice | None], ...]] = (
    engine_stuck.check,
    restarted.check,
    pool_saturated.check,
    turned_away.check,
    backlog.check,
    prefix_cache.check,
)
_GRAVEST_FIRST: Final = (Level.ERROR, Level.WARNING, Level.NOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One engine, with what is wrong with it."""

    course: Course
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One endpoint as it stands now."""

    endpoint: str
    answer: Answer  # the last
    engines: tuple[Judged, ...]  # as they were when it last answered
    notices: tuple[Notice, ...]  # of the endpoint itself

    @property
    def every_notice(self) -> tuple[Notice, ...]:
        """Of the endpoint and of its engines, the gravest first."""
        found = (*self.notices, *(notice for engine in self.engines for notice in engine.notices))
        return tuple(sorted(found, key=lambda notice: _GRAVEST_FIRST.index(notice.level)))


def judge(endpoint: str, answers: Sequence[Answer]) -> Standing:
    """What the rules say of the answers of one endpoint, the oldest first; there is at least one."""
    answered = answers[-1].trouble is None
    return Standing(
        endpoint=endpoint,
        answer=answers[-1],
        engines=tuple(
            Judged(course=course, notices=_notices(course) if answered else ()) for course in courses(endpoint, answers)
        ),
        notices=tuple(notice for rule in OF_ENDPOINTS if (notice := rule(answers)) is not None),
    )


def _notices(course: Course) -> tuple[Notice, ...]:
    found = tuple(notice for rule in OF_ENGINES if (notice := rule(course)) is not None)
    turns = tuple(notice for notice in found if notice.name == restarted.TURNS)
    return turns or found  # of several servers that answer by turns, no other figure means anything
