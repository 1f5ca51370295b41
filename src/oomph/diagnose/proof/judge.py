"""Whether a stage held: errors, a server that is gone or hangs, waiting, preemption, and wishes that were missed.

Knows what counts against an engine, and says it with its numbers. Does not know why an engine behaves so.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from oomph.diagnose.proof.scenes import LOADS, TRIAL
from oomph.diagnose.proof.spread import Speed, Spread, speed
from oomph.ledger.proof import Failure, Outcome, Promise, Stage, Wishes


class Result(StrEnum):
    """How it ended."""

    HELD = "held"
    BROKE = "broke"
    REFUSED = "refused"  # a killer that the server turned away at the door, which is a way of holding
    UNKNOWN = "cannot tell"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A stage, and what is to be said of it."""

    stage: Stage
    result: Result
    why: tuple[str, ...]
    speed: Speed

    @property
    def fatal(self) -> bool:
        """Nothing more can be asked of this server."""
        return self.stage.gone is not None or self.stage.hung is not None

    @property
    def ours(self) -> bool:
        """Whether this machine could not send what it was to send: then nothing is known of the server."""
        return Failure.OURS in self.stage.failed

    @property
    def kv_peak(self) -> float | None:
        """The fullest that the pool was seen."""
        return max((scrape.kv_used for scrape in self.stage.scrapes if scrape.kv_used is not None), default=None)

    @property
    def running_peak(self) -> int | None:
        """The most requests that were seen running."""
        return max((scrape.running for scrape in self.stage.scrapes if scrape.running is not None), default=None)

    @property
    def waiting_peak(self) -> int | None:
        """The most requests that were seen waiting."""
        return max((scrape.waiting for scrape in self.stage.scrapes if scrape.waiting is not None), default=None)


def judge(stage: Stage, wishes: Wishes, promise: Promise | None = None) -> Judged:
    """Broken by the first reason, and told with all of them; in doubt by what could not be seen."""
    fast = speed(stage)
    missed = tuple(_missed(stage))
    broken = (*missed, *_failed(stage))
    if not stage.scene.killer:
        broken += (*_preempted(stage, wishes), *_waited(stage, wishes, promise), *_too_slow(fast, wishes))
    unseen = tuple(_unseen(stage, wishes))
    if missed or (broken and Failure.OURS not in stage.failed):
        return Judged(stage=stage, result=Result.BROKE, why=broken, speed=fast)
    if rejected := tuple(_rejected(stage)):
        result = Result.REFUSED if stage.scene.killer and not unseen else Result.UNKNOWN
        return Judged(stage=stage, result=result, why=(*unseen, *rejected), speed=fast)
    return Judged(stage=stage, result=Result.UNKNOWN if unseen else Result.HELD, why=unseen, speed=fast)


def _missed(stage: Stage) -> Iterator[str]:
    if stage.gone is not None:
        yield f"the server is gone: {stage.gone}"
    if stage.hung is not None:
        health = "does not answer" if stage.health is None else f"answers {stage.health}"
        yield f"the engine hangs: no token and no step for {stage.hung:.0f} s, while /health {health}"


_OF_THE_SERVER: Final = tuple(failure for failure in Failure if failure not in {Failure.REJECTED, Failure.OURS})


def _failed(stage: Stage) -> Iterator[str]:
    for failure in _OF_THE_SERVER:
        if count := stage.failed.get(failure):
            said = _said(stage, failure)
            yield f"{count} of {len(stage.outcomes)} requests: {failure}{f' ({said})' if said else ''}"


def _said(stage: Stage, failure: Failure) -> str:
    return next((outcome.said for outcome in stage.outcomes if outcome.failure is failure and outcome.said), "")


def _rejected(stage: Stage) -> Iterator[str]:
    if count := stage.failed.get(Failure.REJECTED):
        yield f"{count} of {len(stage.outcomes)} requests were turned away: {_said(stage, Failure.REJECTED)}"


def _unseen(stage: Stage, wishes: Wishes) -> Iterator[str]:
    """Why nothing follows from a stage in which nothing broke."""
    if count := stage.failed.get(Failure.OURS):
        yield (
            f"{count} of {len(stage.outcomes)} requests were never sent, by a limit of this machine: "
            f"{_said(stage, Failure.OURS)} (fewer --users, or a higher limit: ulimit -n)"
        )
    if stage.scene.name in LOADS and stage.counted.preemptions is None and not wishes.may_preempt:
        yield "the server did not say how often it preempted (--allow preemption, if that does not matter)"
    if stage.scene.name == TRIAL and not wishes.may_wait and not at_once(stage):
        yield f"answered, but never all {stage.scene.users} at the same time, so that many were not tried"


def _preempted(stage: Stage, wishes: Wishes) -> Iterator[str]:
    if stage.counted.preemptions and not wishes.may_preempt:
        times = "once" if stage.counted.preemptions == 1 else f"{stage.counted.preemptions:,} times"
        yield f"the engine preempted {times}: its pool was too small for {stage.scene.users} at once"


def _waited(stage: Stage, wishes: Wishes, promise: Promise | None) -> Iterator[str]:
    late = max(waited(stage), 0 if promise is None else without_room(stage, promise))
    if late and not wishes.may_wait:
        fullest = max((scrape.kv_used for scrape in stage.scrapes if scrape.kv_used is not None), default=None)
        seen = "" if fullest is None else f", with the pool {fullest:.0%} full at its peak"
        yield f"{late} of {stage.scene.users} waited until others had ended{seen}"


def waited(stage: Stage) -> int:
    """Requests of those sent at once that were not answered at once: somebody had to end before they could begin.

    Seen by the client alone, so that no sample can miss it: if all run together, the last to begin does so before the
    first to end. A server that is short of CPU looks the same from outside, when it hands requests on late or sends
    answers in a few large pieces: so the engine must itself have counted at least half of that time as waiting.
    """
    if stage.scene.ramp:
        return 0
    together = [outcome for outcome in stage.outcomes if outcome.turn == 0 and outcome.failure is None]
    first_end = min((outcome.ended for outcome in together), default=0.0)
    late = [each for each in together if each.first is not None and each.first > first_end and _piecemeal(each)]
    queued, least = stage.counted.queued, sum(first_end - each.sent for each in late) / 2
    return 0 if queued is not None and queued < least else len(late)


def at_once(stage: Stage) -> bool:
    """All that were sent at once were answered at once for a moment, as they were meant to be."""
    together = [outcome for outcome in stage.outcomes if outcome.turn == 0 and outcome.failure is None]
    last_begin = max((outcome.ended if outcome.first is None else outcome.first for outcome in together), default=0.0)
    return last_begin <= min((outcome.ended for outcome in together), default=0.0)


def _piecemeal(outcome: Outcome) -> bool:
    """Most of its tokens came one by one."""
    return 2 * outcome.pieces >= (outcome.answer_tokens or 0)


def without_room(stage: Stage, promise: Promise) -> int:
    """Requests that were seen waiting while the pool could not have taken the prompt of one more."""
    if promise.blocks is None or promise.block_tokens is None or not stage.scene.asks:
        return 0
    prompt = -(-stage.scene.asks[0].prompt // promise.block_tokens)
    short = 1 - prompt / max(promise.blocks - 1, 1)
    seen = (scrape for scrape in stage.scrapes if scrape.kv_used is not None and scrape.kv_used > short)
    return max((scrape.waiting or 0 for scrape in seen), default=0)


def _too_slow(fast: Speed, wishes: Wishes) -> Iterator[str]:
    pairs: tuple[tuple[str, Spread | None, float | None], ...] = (
        ("the first token", fast.first_token, wishes.first_token),
        ("the next token", fast.between_tokens, wishes.between_tokens),
        ("the whole answer", fast.whole, wishes.whole),
    )
    for what, measured, wish in pairs:
        if wish is not None and measured is not None and measured.p99 > wish:
            yield f"{what} took {measured.p99:.3g} s at p99; the wish was {wish:g} s"
