"""Plays a scene: every user a task, who begins, asks, and asks again.

Knows who asks when. Does not know what it means, nor when to give up.
"""

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from oomph.ledger.proof import Ask, Failure, Outcome, Scene
from oomph.live.load.client import Client
from oomph.live.load.kept import Kept
from oomph.live.load.prompts import Prompts
from oomph.live.load.reply import Reply

_LONG: Final = 4096  # tokens, of which a prompt takes milliseconds to make
_PAUSE: Final = 0.25  # seconds after a failure, so that a broken server is not hammered


@dataclass(slots=True, kw_only=True)
class Crowd:
    """The users of one scene."""

    client: Client
    prompts: Prompts
    numbers: Iterator[int]  # of prompts, over the whole run
    kept: Kept = field(default_factory=Kept)
    pending: list[Reply] = field(default_factory=list)

    async def play(self, scene: Scene) -> None:
        """Until everybody is answered, or the task is cancelled: then whoever still waits was not answered."""
        users = (*scene.asks, *scene.after)
        bodies = [await self._body(ask) for ask in users]  # before anybody begins, so that all begin at once
        until = self.client.now + scene.seconds
        begun = [asyncio.Event() for _ in scene.asks]
        tasks = [
            asyncio.create_task(self._user(scene, user, bodies[user], until, begun[user]))
            if user < len(scene.asks)
            else asyncio.create_task(self._later(user, ask, bodies[user], begun))
            for user, ask in enumerate(users)
        ]
        try:
            await asyncio.gather(*tasks)
        finally:
            self._give_up()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _give_up(self) -> None:
        for reply in self.pending:
            reply.fail(Failure.SILENT, "given up")
            self._count(reply)
        self.pending.clear()

    @property
    def outcomes(self) -> list[Outcome]:
        """Of all who were answered or given up so far."""
        return self.kept.outcomes

    async def _body(self, ask: Ask) -> bytes:
        """A long prompt is made beside the loop, in which others are being answered."""
        number = next(self.numbers)
        if ask.prompt < _LONG:
            return self.prompts.body(ask, number)
        return await asyncio.to_thread(self.prompts.body, ask, number)

    async def _user(self, scene: Scene, user: int, body: bytes, until: float, begun: asyncio.Event) -> None:
        ask = scene.asks[user]
        await asyncio.sleep(scene.ramp * user / len(scene.asks))
        for turn in itertools.count():
            failure = await self._one(ask, body, user, turn, begun)
            if not scene.seconds or failure in {Failure.REFUSED, Failure.OURS}:
                return
            if failure is not None:
                await asyncio.sleep(_PAUSE)
            if self.client.now >= until:
                return
            body = await self._body(ask)

    async def _later(self, user: int, ask: Ask, body: bytes, begun: list[asyncio.Event]) -> None:
        await asyncio.gather(*(event.wait() for event in begun))
        await self._one(ask, body, user, 0, asyncio.Event())

    async def _one(self, ask: Ask, body: bytes, user: int, turn: int, begun: asyncio.Event) -> Failure | None:
        reply = Reply(ask=ask, user=user, turn=turn, sent=self.client.now, begun=begun.set)
        self.pending.append(reply)
        await self.client.send(reply, body)
        begun.set()  # also when it failed: nobody shall wait for it
        if reply in self.pending:  # else it was given up
            self.pending.remove(reply)
            self._count(reply)
        return reply.failure

    def _count(self, reply: Reply) -> None:
        self.kept.add(reply.outcome(self.client.now))
        self.client.pulse.ended += reply.failure is None
        self.client.pulse.failed += reply.failure is not None
