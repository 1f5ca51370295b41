"""Plays one scene against a running server while looking at it: metrics, devices, and whether anything moves.

Knows when to give up: when requests wait, and for too long no token came, the engine counted no step, and its pool
neither filled nor emptied. Judges nothing else.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from oomph.diagnose.proof.accounts import counted
from oomph.ledger.proof import Failure, Held, Scene, Stage
from oomph.ledger.scrape import Scrape
from oomph.live.load.client import Client
from oomph.live.load.crowd import Crowd
from oomph.live.load.prompts import Prompts
from oomph.live.prove_promise import look

_SETTLES: Final = 3.0  # seconds until the server must have counted what it has answered
_OFTEN: Final = 0.1  # seconds between looks at the beginning of a scene
_AGAIN: Final = 0.05  # seconds between looks meanwhile
_SURE: Final = 1.0  # seconds after which a server that still answers is not gone
_HEALTHY: Final = 200
_SUSPICIOUS: Final = frozenset(Failure) - {Failure.REJECTED, Failure.INEXACT, Failure.GARBLED, Failure.OURS}


@dataclass(slots=True, kw_only=True)
class Sight:
    """What is seen while a scene is played."""

    scrapes: list[Scrape] = field(default_factory=list)
    devices: list[Held] = field(default_factory=list)
    moved: float = 0.0  # when something last moved
    mark: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Theatre:
    """Where scenes are played."""

    client: Client
    prompts: Prompts
    every: float  # seconds between looks
    patience: float  # seconds without any movement
    devices: Callable[[float], tuple[Held, ...]]  # reads them now
    told: Callable[[Scene, Sight, Client], object]  # is told after every look
    numbers: Iterator[int] = field(default_factory=itertools.count)

    async def play(self, scene: Scene) -> Stage:
        """One scene, from a quiet server to a quiet server."""
        before = await self._settled(None)
        crowd = Crowd(client=self.client, prompts=self.prompts, numbers=self.numbers)
        sight, begin = Sight(moved=self.client.now), self.client.now
        playing = asyncio.create_task(crowd.play(scene))
        watching = asyncio.create_task(self._watch(scene, sight))
        try:
            await asyncio.wait({playing, watching}, return_when=asyncio.FIRST_COMPLETED)
            hung = None if playing.done() else self.client.now - sight.moved
        finally:  # also when somebody interrupts: what was asked is taken back
            await _ended(playing, watching)
        end = self.client.now
        gone, health = await self._health(crowd, hung)
        after = None if gone or hung else await self._settled(before, crowd)
        return Stage(
            scene=scene,
            begin=begin,
            end=end,
            outcomes=tuple(crowd.outcomes),
            scrapes=tuple(sight.scrapes) + (() if after is None else (after,)),
            devices=tuple(sight.devices),
            counted=counted(before, after),
            hung=hung,
            gone=gone,
            health=health,
        )

    async def _watch(self, scene: Scene, sight: Sight) -> None:
        """Look again and again; ends only when nothing moves any more."""
        begun = self.client.now
        while self.client.now - sight.moved < self.patience:
            now = self.client.now
            if (scrape := await look(self.client.wire, at=now, patience=min(self.patience, 10.0))) is not None:
                sight.scrapes.append(scrape)
            sight.devices.extend(self.devices(now))
            mark = self._mark(sight)
            if mark != sight.mark or not self.client.pulse.in_flight:
                sight.moved, sight.mark = self.client.now, mark
            self.told(scene, sight, self.client)
            pause = self.every if scene.seconds else self._pause(now - begun)
            await asyncio.sleep(pause - (self.client.now - now))

    def _pause(self, lasted: float) -> float:
        """From look to look: often at first, because a scene may be short, then as often as was asked for."""
        return min(self.every, max(_OFTEN, lasted / 10))

    def _mark(self, sight: Sight) -> tuple[object, ...]:
        """All that moves when an engine works."""
        pulse, last = self.client.pulse, sight.scrapes[-1] if sight.scrapes else None
        ours = (pulse.pieces, pulse.ended, pulse.failed)
        return ours if last is None else (*ours, last.prompt_tokens, last.generation_tokens, last.steps, last.kv_used)

    async def _settled(self, before: Scrape | None, crowd: Crowd | None = None) -> Scrape | None:
        """What the server has counted once it is quiet: it counts a moment after it answers."""
        wanted = 0 if crowd is None else sum(each.answer_tokens or 0 for each in crowd.outcomes)
        until = self.client.now + _SETTLES
        while True:
            seen = await look(self.client.wire, at=self.client.now, patience=_SETTLES, histograms=True)
            if seen is None or self.client.now > until:
                return seen
            count = counted(before, seen).answer_tokens
            if not seen.running and not seen.waiting and (count is None or count >= wanted):
                return seen
            await asyncio.sleep(_AGAIN)

    async def _health(self, crowd: Crowd, hung: float | None) -> tuple[str | None, int | None]:
        """Whether the server is gone, and what /health says: where requests failed, it is asked twice."""
        health = await self.client.wire.health()
        if any(each.failure is Failure.OURS for each in crowd.outcomes):
            return None, health  # who cannot send cannot miss anybody
        suspicious = any(each.failure in _SUSPICIOUS for each in crowd.outcomes)
        if suspicious and health == _HEALTHY and hung is None:
            await asyncio.sleep(_SURE)
            health = await self.client.wire.health()
        if health is None:
            return "nobody answers /health", None
        return (f"/health answers {health}" if suspicious and health != _HEALTHY else None), health


async def _ended(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
