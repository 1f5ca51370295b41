"""A workload through the scheduler of one release: when requests come, and what is seen of them.

Knows the clock. Steps that can only repeat the one before are passed over (`gliding`), unless they are asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.admission.admitted import Admitted, Lack, Moment, Served
from oomph.engines.vllm.admission.gliding import glide, steady
from oomph.engines.vllm.admission.run import Run
from oomph.engines.vllm.admission.scheduler import Part, Scheduler, Step
from oomph.engines.vllm.admission.scheduling import Blocks, Scheduling
from oomph.engines.vllm.admission.workload import User
from oomph.engines.vllm.pool.limits import Limits
from oomph.errors import UsageError

_HOPELESS: Final = 8  # times that nothing came of having all blocks


def simulate(
    pool: Blocks,
    workload: Sequence[User],
    limits: Limits,
    scheduling: Scheduling,
    release: Release,
    *,
    skip: bool = True,
    watch: Callable[[Moment], object] | None = None,
) -> Admitted:
    """What becomes of these requests in this pool.

    `watch` sees every step that is not passed over, and ends the whole by answering True.
    """
    for user in workload:
        _refuse_too_long(user, limits)
    clock = _Clock(Scheduler(pool, limits, scheduling, release), workload, watch=watch)
    stuck = clock.run(skip=skip)
    seen = clock.seen
    return Admitted(
        steps=clock.now,
        peak_running=seen.running,
        peak_waiting=seen.waiting,
        preemptions=seen.preemptions,
        first_wait=seen.first_wait,
        first_preemption=seen.first_preemption,
        blocks=pool.blocks - 1,
        peak_blocks=seen.blocks,
        served=tuple(_served(run) for run in clock.runs),
        stuck=stuck,
    )


def _refuse_too_long(user: User, limits: Limits) -> None:
    longest = max((request.prompt_tokens for request in user.requests), default=0)
    if longest >= limits.context_tokens:
        message = (
            f"a prompt of {longest:,} tokens cannot be answered: a request may become {limits.context_tokens:,} tokens "
            f"long (take a shorter prompt, or a longer --max-model-len)"
        )
        raise UsageError(message)


def _served(run: Run) -> Served:
    return Served(
        user=run.user,
        arrived=run.arrived,
        admitted=run.admitted,
        ended=run.ended,
        waited=run.waited,
        preemptions=run.preemptions,
    )


@dataclass(slots=True)
class _Seen:
    """The peaks so far."""

    running: int = 0
    waiting: int = 0
    blocks: int = 0
    preemptions: int = 0
    first_preemption: int | None = None
    first_wait: dict[Lack, int] = field(default_factory=dict)


class _Clock:
    """The steps, those who come, and what was seen."""

    def __init__(
        self, scheduler: Scheduler, workload: Sequence[User], *, watch: Callable[[Moment], object] | None
    ) -> None:
        self.scheduler = scheduler
        self.workload = workload
        self.watch = watch
        self.depth = 2 if scheduler.scheduling.overlapped else 1
        self.now = 0
        self.enough = False
        self.flying: list[list[Part]] = []  # steps under way, the oldest first
        self.coming = [(user.start, number, number, 0) for number, user in enumerate(workload) if user.requests]
        heapify(self.coming)
        self.runs: list[Run] = []
        self.seen = _Seen()

    @property
    def busy(self) -> bool:
        """Somebody runs or waits."""
        return bool(self.scheduler.running or self.scheduler.waiting)

    def run(self, *, skip: bool) -> int | None:
        """Until everybody is answered; or the step at which somebody was met who never can be."""
        while not self.enough and self._tick():
            step = self.scheduler.schedule(self.now)
            self._note(self.now, step.preempted, step.lack)
            if self._hopeless(step):
                return self.now
            self.flying.append(step.parts)
            if len(self.flying) < self.depth and self.busy:
                continue
            ended = self._land()
            if skip and not ended and not step.preempted and steady(self.scheduler, [step.parts, *self.flying]):
                self.now = glide(self.scheduler, self.now, self._until(), self.depth + 1, self._note)
        return None

    def _tick(self) -> bool:
        """The next step, after those who come before it; a step under way ends first if there is nothing to do."""
        while self.flying and not self.busy:
            self._land()
        if not self.busy:
            if not self.coming:
                return False
            self.now = max(self.now, self.coming[0][0] - 1)
        self.now += 1
        while self.coming and self.coming[0][0] <= self.now:
            _, _, user, place = heappop(self.coming)
            self._arrive(user, place)
        return True

    def _arrive(self, user: int, place: int) -> None:
        request = self.workload[user].requests[place]
        limit = min(request.prompt_tokens + request.answer_tokens, self.scheduler.limits.context_tokens)
        run = Run(
            number=len(self.runs),
            user=user,
            place=place,
            request=request,
            limit=limit,
            tables=self.scheduler.allocation.tables(),
            tokens=request.prompt_tokens,
            since=self.now,
            arrived=self.now,
        )
        self.runs.append(run)
        self.scheduler.waiting.append(run)

    def _land(self) -> list[Run]:
        """The oldest step under way is done: those who ended by it ask for more."""
        ended = self.scheduler.update(self.flying.pop(0), self.now)
        for run in ended:
            run.ended = self.now
            user = self.workload[run.user]
            if run.place + 1 < len(user.requests):
                order = len(self.workload) + len(self.runs) + len(self.coming)
                heappush(self.coming, (self.now + 1 + user.pause, order, run.user, run.place + 1))
        return ended

    def _until(self) -> int:
        """The last step before somebody comes or an answer nears its end."""
        answers = min(run.limit - run.tokens for run in self.scheduler.running)
        comes = self.coming[0][0] if self.coming else self.now + answers
        return min(self.now + answers - 1 - self.depth, comes - 1)

    def _note(self, step: int, preempted: Sequence[Run] = (), lack: Lack | None = None) -> None:
        seen, scheduler = self.seen, self.scheduler
        seen.running = max(seen.running, len(scheduler.running))
        seen.waiting = max(seen.waiting, len(scheduler.waiting))
        seen.blocks = max(seen.blocks, scheduler.allocation.stock.used)
        if lack is not None:
            seen.first_wait.setdefault(lack, step)
        if preempted:
            seen.preemptions += len(preempted)
            seen.first_preemption = seen.first_preemption or step
        if self.watch is not None:
            self.enough |= True is self.watch(
                Moment(
                    step=step,
                    running=len(scheduler.running),
                    waiting=len(scheduler.waiting),
                    preempted=len(preempted),
                    free=scheduler.allocation.free,
                    lack=lack,
                )
            )

    def _hopeless(self, step: Step) -> bool:
        """Whether somebody has all blocks to himself and still lacks one: it will be so for ever."""
        if self.scheduler.running:
            return False
        if step.preempted:
            first = self.scheduler.waiting[0]
            times, tokens = first.lonely
            first.lonely = (times + 1 if tokens == first.tokens else 1), first.tokens
            return first.lonely[0] >= _HOPELESS
        return bool(self.scheduler.waiting) and not step.parts and not any(self.flying)
