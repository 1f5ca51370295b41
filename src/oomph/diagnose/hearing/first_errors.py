"""The first error of each rank, with the frames that lead to it.

Knows that of chained exceptions the first is the root, that a report of another's failure is none, that who ran out of
memory matters more than who failed otherwise, and that of several attempts the last that failed counts. Does not know
what an error means.
"""

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Final

from oomph.diagnose.case import Failure, Frame
from oomph.diagnose.finding import Said
from oomph.engines.overflow import killed_in, overflow_in, reports
from oomph.engines.traceback import begins, chains, frame_in, is_code, raised_in
from oomph.engines.vllm.lines import REFUSALS

_FRAMES: Final = 120  # of one failure that are kept
_RANKS: Final = 1_024
_AFTER: Final = 400  # lines after an error in which its frames may still follow
_REFUSED: Final = tuple({sentence.longest for sentence in REFUSALS if sentence.name != "engine gone"})
_HEADING: Final = "ray.exceptions.RayTaskError("  # names an error whose traceback is told below, and it at the end
_TRACEBACK: Final = "Traceback"  # kind of a failure of which only frames were pasted


class _Weight(IntEnum):
    """How much an error tells of memory."""

    NONE = 0
    FRAMES = 1  # a traceback without its exception
    OTHER = 2  # an exception, or a kill without a reason
    MEMORY = 3


@dataclass(slots=True)
class _Rank:
    """What one of them has said so far."""

    weight: _Weight = _Weight.NONE
    failure: Failure | None = None
    when: int = 0  # it failed, by the lines that were heard before
    open: list[Frame] = field(default_factory=list)  # of the traceback that is being told
    last: Said | None = None  # line of that
    chained: bool = False  # what is being told follows from the failure

    def pass_by(self, frame: Frame, said: Said) -> None:
        if len(self.open) >= _FRAMES:
            del self.open[: _FRAMES // 2]
        self.open.append(frame)
        self.last = said

    def begin(self, *, chained: bool) -> None:
        self.attach()
        self.chained = self.chained or chained
        self.open = []

    def fail(self, kind: str, weight: _Weight, said: Said) -> bool:
        """Whether it is the error that counts."""
        counts = weight > self.weight
        if counts:
            self.failure = Failure(kind=kind, said=said, frames=tuple(self.open))
            self.weight, self.chained = weight, False
        else:
            self.attach()
        self.open = []
        return counts

    def attach(self) -> None:
        """Frames told after the error: its callers where it is chained, its own where it was told without any."""
        if self.failure is None or not self.open or not (self.chained or not self.failure.frames):
            return
        if abs(self.open[0].line - self.failure.said.line) <= _AFTER:
            frames = (*self.open, *self.failure.frames)[:_FRAMES]
            self.failure = replace(self.failure, frames=frames)

    def finish(self) -> None:
        self.attach()
        if self.failure is None and self.open and self.last is not None:
            self.failure = Failure(kind=_TRACEBACK, said=self.last, frames=tuple(self.open))
            self.weight = _Weight.FRAMES
        self.open = []


@dataclass(slots=True)
class FirstErrors:
    """Hears a log line by line."""

    weight: int = 0  # how much what failed so far tells of memory
    _heard: int = 0
    _ranks: dict[str, _Rank] = field(default_factory=dict)
    _before: tuple[Failure, ...] = ()  # of the attempt before this one

    def hear(self, said: Said, *, calm: bool) -> None:
        """Take a line; `calm` are lines that are logged below an error."""
        text = said.text
        self._heard += 1
        if (frame := frame_in(text)) is not None:
            self._rank(said).pass_by(Frame(file=frame[0], function=frame[1], line=said.line), said)
        elif begins(text):
            self._rank(said).begin(chained=False)
        elif chains(text):
            self._rank(said).begin(chained=True)
        elif (found := _kind(text, calm=calm)) is not None:
            rank = self._rank(said)
            if rank.fail(*found, said):
                rank.when = self._heard
            self.weight = max(self.weight, rank.weight)

    def _rank(self, said: Said) -> _Rank:
        """Whoever comes when there are too many shares a place."""
        who = said.rank if said.rank in self._ranks or len(self._ranks) < _RANKS else ""
        return self._ranks.setdefault(who, _Rank())

    def again(self) -> None:
        """Another attempt begins; if it does not fail, the failure of the one before counts."""
        self._before = self.failures() or self._before
        self._ranks, self.weight = {}, _Weight.NONE

    def failures(self) -> tuple[Failure, ...]:
        """The earliest first; where anybody speaks of memory, only of those who do."""
        for rank in self._ranks.values():
            rank.finish()
        best = max((rank.weight for rank in self._ranks.values()), default=_Weight.NONE)
        if best < _Weight.MEMORY and self._before:
            return self._before
        told = sorted((rank for rank in self._ranks.values() if rank.weight == best), key=lambda rank: rank.when)
        return tuple(rank.failure for rank in told if rank.failure is not None)


def _kind(text: str, *, calm: bool) -> tuple[str, _Weight] | None:
    """What failed, and how much it tells; a report of another's failure tells nothing, and ends a traceback."""
    raised = raised_in(text)
    if (calm and raised is None) or is_code(text):
        return None
    kind = "" if raised is None else raised[0]
    if _HEADING in text:
        return kind, _Weight.OTHER
    out = overflow_in(text)
    if out is not None:
        quoted = out == "torch.OutOfMemoryError" and not kind.endswith("OutOfMemoryError")
        return (out if quoted or not kind else kind), _Weight.MEMORY
    if any(piece in text for piece in _REFUSED):
        return kind or "ValueError", _Weight.MEMORY
    if raised is not None:
        return kind, _Weight.NONE if reports(text) else _Weight.OTHER
    return ("Killed", _Weight.OTHER) if killed_in(text) else None
