"""Watches running engines: asks each endpoint again and again, remembers what matters, and has it judged.

Knows time and tasks. Every endpoint is asked on its own: one that hangs is waited for by nobody. Does not know what is
wrong (`diagnose.serving`), nor how it is shown.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from oomph.diagnose.serving.course import courses, remember, thinned
from oomph.diagnose.serving.engine_stuck import standing_still
from oomph.diagnose.serving.fleet import Fleet, fleet
from oomph.ledger.memory import Memory
from oomph.readers.device_memory import device_memory
from oomph.readers.endpoint import Endpoint
from oomph.readers.scrape import Scraper, scraper

if TYPE_CHECKING:
    from oomph.ledger.answer import Answer

_GRACE: Final = 1.0  # seconds that a screen waits for the slow before it is drawn without them
_SUSPICIOUS: Final = 3  # looks at which nothing moved, after which /health is asked too


class Watch:
    """What was seen so far."""

    def __init__(self, endpoints: tuple[Endpoint, ...], *, interval: float) -> None:
        self._endpoints = endpoints
        self._interval = interval
        self._answers: dict[str, tuple[Answer, ...]] = {each.name: () for each in endpoints}
        self._memory: tuple[tuple[Memory, ...], ...] = ()
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def run(self, show: Callable[[Fleet], None], *, lasting: float | None) -> Fleet:
        """Look until the time is over, or for ever; the last round waits for everybody."""
        begun = due = time.monotonic()
        async with scraper(patience=patience(self._interval)) as client:
            with device_memory() as memory:
                while True:
                    self._begin(client)
                    self.see(memory())
                    due = max(due + self._interval, time.monotonic())  # what was slept through is not made up for
                    over = lasting is not None and due > begun + lasting
                    await self._gather(None if over else min(_GRACE, self._interval / 4))
                    seen = self.fleet()
                    show(seen)
                    if over:
                        return seen
                    await asyncio.sleep(max(0.0, due - time.monotonic()))

    def _begin(self, client: Scraper) -> None:
        """Ask everybody again but those who have not answered yet."""
        self._finish()
        for endpoint in self._endpoints:
            if endpoint.name not in self._asking:
                self._asking[endpoint.name] = asyncio.create_task(self._look(client, endpoint))

    async def _gather(self, grace: float | None) -> None:
        if self._asking:
            await asyncio.wait(self._asking.values(), timeout=grace)
        self._finish()

    def _finish(self) -> None:
        for name in [name for name, task in self._asking.items() if task.done()]:
            self._asking.pop(name).result()

    async def _look(self, client: Scraper, endpoint: Endpoint) -> None:
        answer = await client.ask(endpoint)
        seen = remember(self._answers[endpoint.name], answer)
        if any(len(standing_still(course)) >= _SUSPICIOUS for course in courses(endpoint.name, seen)):
            answer = replace(answer, healthy=await client.healthy(endpoint))
            seen = (*seen[:-1], answer)
        self._answers[endpoint.name] = seen

    def see(self, memory: tuple[Memory, ...]) -> None:
        """One look at the devices of this machine."""
        if memory:
            self._memory = thinned((*self._memory, memory), at=lambda look: look[0].at)

    def fleet(self) -> Fleet:
        """All as it stands now."""
        return fleet(self._answers, at=time.time(), interval=self._interval, memory=self._memory)


def patience(interval: float) -> float:
    """How long one answer is waited for: less than an interval, but never less than a busy server needs."""
    return min(10.0, max(2.0, 0.9 * interval))


def watch(
    endpoints: tuple[Endpoint, ...], *, interval: float, lasting: float | None, show: Callable[[Fleet], None]
) -> Fleet:
    """Watch, and return what was seen last; an interrupt is passed on."""
    return asyncio.run(Watch(endpoints, interval=interval).run(show, lasting=lasting))
