"""All that is watched, as it stands at one moment.

Knows sums over endpoints, devices of this machine, and what to call the whole. Does not know how it is shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from oomph.diagnose.serving.judge import Judged, Standing, judge
from oomph.diagnose.serving.memory_creeps import creeping
from oomph.diagnose.serving.notice import Notice
from oomph.ledger.answer import Answer
from oomph.ledger.memory import Memory


class State(StrEnum):
    """Of everything together."""

    WELL = "well"
    FINDINGS = "findings"
    UNREAD = "unread"  # no endpoint told of an engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """One moment."""

    at: float  # seconds
    interval: float  # seconds between looks
    standings: tuple[Standing, ...]  # of the endpoints that were looked at at least once
    asked: tuple[str, ...] = ()  # endpoints that were asked and have not answered yet
    memory: tuple[Memory, ...] = ()  # of this machine's devices
    notices: tuple[Notice, ...] = ()  # of those devices

    @property
    def engines(self) -> tuple[Judged, ...]:
        """Every engine behind every endpoint that answers."""
        return tuple(engine for standing in self.standings if _answers(standing) for engine in standing.engines)

    @property
    def state(self) -> State:
        """Well only if nobody needs to act."""
        if not any(_answers(standing) for standing in self.standings):
            return State.UNREAD
        wrong = any(notice.wrong for standing in self.standings for notice in standing.every_notice)
        return State.FINDINGS if wrong or any(notice.wrong for notice in self.notices) else State.WELL


def _answers(standing: Standing) -> bool:
    return standing.answer.trouble is None


def fleet(
    answers: Mapping[str, Sequence[Answer]], *, at: float, interval: float, memory: Sequence[Sequence[Memory]] = ()
) -> Fleet:
    """Judge all endpoints by their answers, and the devices by their memory, the oldest first."""
    return Fleet(
        at=at,
        interval=interval,
        standings=tuple(judge(endpoint, looks) for endpoint, looks in answers.items() if looks),
        asked=tuple(endpoint for endpoint, looks in answers.items() if not looks),
        memory=tuple(memory[-1]) if memory else (),
        notices=tuple(_creeping(memory)),
    )


def _creeping(memory: Sequence[Sequence[Memory]]) -> list[Notice]:
    courses: dict[int, list[Memory]] = {}
    for look in memory:
        for device in look:
            courses.setdefault(device.index, []).append(device)
    found = (
        creeping(
            [(look.at, int(look.used)) for look in looks], what=f"memory of GPU {index}", limit=int(looks[-1].total)
        )
        for index, looks in courses.items()
    )
    return [notice for notice in found if notice is not None]
