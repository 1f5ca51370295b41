"""`prove`: drives a running server to its peak and beyond, and gathers what came of it.

Knows the order: what the server promises, one request alone, the way up, the hold (or the search for the breaking
load), the killers. Every decision is made by `diagnose.proof`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from oomph.diagnose.proof import scenes
from oomph.diagnose.proof.judge import Judged, Result, judge
from oomph.diagnose.proof.proof import Proof, conclude
from oomph.diagnose.proof.search import Search
from oomph.errors import UsageError
from oomph.ledger.proof import Ask, Failure, Held, Planned, Promise, Scene, Wishes
from oomph.live.load.client import Client
from oomph.live.load.connections import make_room
from oomph.live.load.prompts import prompts
from oomph.live.load.wire import wire
from oomph.live.prove_promise import read_promise
from oomph.live.prove_stage import Sight, Theatre

_TRIES: Final = 3

Told: TypeAlias = Callable[[Scene, Sight, Client], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is to be proved."""

    url: str
    ask: Ask
    users: int
    seconds: float  # of the hold
    ramp: float
    killers: tuple[str, ...] = ()
    find: bool = False
    model: str | None = None
    wishes: Wishes = field(default_factory=Wishes)
    planned: Planned | None = None
    every: float = 1.0  # seconds between looks at the server
    patience: float = 60.0  # seconds without any movement


async def prove(
    question: Question,
    *,
    devices: Callable[[float], tuple[Held, ...]] = lambda _: (),
    told: Told = lambda *_: None,
    judged: Callable[[Judged], object] = lambda _: None,
) -> Proof:
    """Drive it, bounded in time; what the server does is never raised, only that it cannot be asked.

    An interrupt ends it early: what was played by then is concluded.
    """
    make_room(scenes.most_at_once(question.killers, question.users))
    async with wire(question.url) as connected:
        promise = await read_promise(connected, question.model)
        _refuse_too_long(question.ask, promise)
        theatre = Theatre(
            client=Client(wire=connected),
            prompts=await prompts(connected, promise.model),
            every=question.every,
            patience=question.patience,
            devices=devices,
            told=told,
        )
        run = _Run(theatre=theatre, promise=promise, question=question, judged=judged)
        search = await run.all()
        return conclude(
            promise,
            question.ask,
            question.users,
            tuple(run.stages),
            not_run=tuple(run.not_run),
            search=search,
            planned=question.planned,
            interrupted=run.interrupted,
        )


def _refuse_too_long(ask: Ask, promise: Promise) -> None:
    if promise.length is not None and ask.tokens > promise.length:
        message = (
            f"a prompt of {ask.prompt:,} and an answer of {ask.answer:,} tokens are {ask.tokens:,}, and this server "
            f"takes at most {promise.length:,} (--max-model-len): ask for less, or start it with more"
        )
        raise UsageError(message)


@dataclass(slots=True, kw_only=True)
class _Run:
    """What was played so far."""

    theatre: Theatre
    promise: Promise
    question: Question
    judged: Callable[[Judged], object]
    stages: list[Judged] = field(default_factory=list)
    not_run: list[Scene] = field(default_factory=list)
    interrupted: bool = False

    async def all(self) -> Search | None:
        """Every scene, until the server is lost; what could not be played is said."""
        ask, seconds = self.question.ask, self.question.seconds
        await self._play(scenes.greeting(ask), Wishes())  # the first of all may be slow, and is no load
        if self._over:
            return None
        search = await self._search() if self.question.find else None
        users = self.question.users if search is None else search.held
        if search is None and self.question.ramp:
            await self._play(scenes.ramp(ask, users, self.question.ramp))
        if users and seconds:
            await self._play(scenes.hold(ask, users, seconds))
        for scene in scenes.killers(self.question.killers, ask, max(users, 1), self.promise):
            await self._play(scene)
        return search

    async def _search(self) -> Search:
        search = Search(most=self.question.users)
        while (users := search.users) is not None and not self._over:
            result = await self._tried(users)
            search = search if result is None else search.after(users, result)
        return search

    async def _tried(self, users: int) -> Result | None:
        """One trial; again where it showed nothing, as with a server so short of CPU that it did not take them at once.

        Who turns requests away does not hold them. None where the trial was not played, or not by the server's fault.
        """
        for _ in range(_TRIES):
            played = await self._play(scenes.trial(self.question.ask, users))
            if played is None or played.ours:
                return None
            if played.result is not Result.UNKNOWN:
                return played.result
            if Failure.REJECTED in played.stage.failed:
                return Result.BROKE
        return Result.UNKNOWN

    @property
    def _over(self) -> bool:
        """The server is lost, or does not do what is asked of it even once; or nobody wants to know any more."""
        lost = any(each.fatal or each.ours for each in self.stages)
        return self.interrupted or lost or (bool(self.stages) and self.stages[0].result is not Result.HELD)

    async def _play(self, scene: Scene, wishes: Wishes | None = None) -> Judged | None:
        if self._over:
            self.not_run.append(scene)
            return None
        try:
            stage = await self.theatre.play(scene)
        except asyncio.CancelledError:
            self.interrupted = True
            self.not_run.append(scene)
            return None
        played = judge(stage, wishes or self.question.wishes, self.promise)
        self.stages.append(played)
        self.judged(played)
        return played
