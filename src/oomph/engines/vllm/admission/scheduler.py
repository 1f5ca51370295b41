"""One step of the scheduler: who runs, how many tokens of each, who is admitted, and who is thrown back.

Knows `schedule` and `update_from_output` of `v1/core/sched/scheduler.py`, first come, first served, and what
`async_scheduler.py` makes of them. Does not know when requests come.
"""

from collections import deque
from dataclasses import dataclass

from oomph.engines.history import Release
from oomph.engines.vllm.admission.admitted import Lack
from oomph.engines.vllm.admission.allocation import Allocation
from oomph.engines.vllm.admission.keepers import Kind
from oomph.engines.vllm.admission.prefixes import Found
from oomph.engines.vllm.admission.run import Run
from oomph.engines.vllm.admission.scheduling import Blocks, Scheduling
from oomph.engines.vllm.admission.splitting import Chunk
from oomph.engines.vllm.pool.limits import Limits


@dataclass(frozen=True, slots=True)
class Part:
    """What one step computes of one request."""

    run: Run
    tokens: int
    brings: bool  # a token of the answer


@dataclass(frozen=True, slots=True)
class Step:
    """What one step computes, and what it could not."""

    parts: list[Part]
    preempted: list[Run]
    lack: Lack | None  # of the first that waits


class Scheduler:
    """The queues and the pool."""

    __slots__ = ("allocation", "block", "limits", "running", "scheduling", "waiting")

    def __init__(self, pool: Blocks, limits: Limits, scheduling: Scheduling, release: Release) -> None:
        self.allocation = Allocation(pool, limits, scheduling, release)
        self.limits = limits
        self.scheduling = scheduling
        self.running: list[Run] = []
        self.waiting: deque[Run] = deque()
        aligned = [keeper.block for keeper in self.allocation.keepers if keeper.kind is Kind.ALIGNED]
        self.block = aligned[0] if aligned and scheduling.prefix_caching else None

    def schedule(self, now: int) -> Step:
        """Give tokens and blocks to those that run, then to those that wait."""
        self.allocation.memory.start()
        parts: list[tuple[Run, int]] = []
        cut = self.cut()
        budget, preempted = self._serve(parts, cut, now)
        lack: Lack | None = Lack.BLOCKS
        if not preempted:
            lack = self._admit(parts, budget, cut, now)
        taken = [self._scheduled(run, tokens) for run, tokens in parts]
        return Step(taken, preempted, lack if self.waiting else None)

    def update(self, parts: list[Part], now: int) -> list[Run]:
        """Hand out what a step computed; those that end by it, in the order of the step."""
        ended = []
        for part in parts:
            run = part.run
            run.flying -= part.tokens
            stale = run.stale > 0
            run.stale -= part.tokens if stale else 0
            if run.done or not part.brings:
                continue
            run.tokens += 1
            if self.scheduling.overlapped:
                run.expected -= 0 if stale else 1
                if run.running and self.allocation.caching:
                    self.allocation.memory.keep(run, run.computed - run.expected)
            if run.tokens >= run.limit:
                self._end(run, now)
                ended.append(run)
        return ended

    def _serve(self, parts: list[tuple[Run, int]], cut: int, now: int) -> tuple[int, list[Run]]:
        """Those that run, in the order in which they were admitted; the last is thrown back where there is no room."""
        budget, preempted, index = self.limits.step_tokens, [], 0
        while index < len(self.running) and budget > 0:
            run = self.running[index]
            tokens = self._next(run, budget, cut)
            if tokens <= 0:
                index += 1
                continue
            while not self.allocation.grow(run, tokens):
                last = self.running.pop()
                self._preempt(last, now)
                preempted.append(last)
                if last is run:
                    return budget, preempted
            parts.append((run, tokens))
            budget -= tokens
            index += 1
        return budget, preempted

    def _next(self, run: Run, budget: int, cut: int) -> int:
        """Tokens of a running request in this step."""
        early = self.allocation.habits.stops_early
        if early and run.expected and run.computed + 2 - run.expected >= run.limit:
            return 0
        tokens = run.tokens + run.expected - run.computed
        tokens = min(tokens, cut or tokens, budget, self.limits.context_tokens - 1 - run.computed)
        return self._split(run, run.computed, tokens, None)

    def _admit(self, parts: list[tuple[Run, int]], budget: int, cut: int, now: int) -> Lack | None:
        """Those that wait, first come, first served; what the first of them lacks who is not admitted."""
        while self.waiting:
            if budget <= 0:
                return Lack.TOKENS
            if len(self.running) >= self.scheduling.sequences:
                return Lack.SEATS
            run = self.waiting[0]
            found, tokens = self.first_chunk(run, budget, cut)
            if tokens <= 0:
                return Lack.TOKENS
            if not self.allocation.admits(run, tokens, found, alone=not self.running):
                return Lack.BLOCKS
            self.waiting.popleft()
            self.allocation.admit(run, tokens, found)
            run.computed = found.tokens if found else 0
            self._seat(run, now)
            parts.append((run, tokens))
            budget -= tokens
        return None

    def first_chunk(self, run: Run, budget: int, cut: int) -> tuple[Found | None, int]:
        """What of a waiting request is in the cache, and the tokens it would compute first."""
        found = self.allocation.find(run)
        start = found.tokens if found else 0
        tokens = run.tokens - start
        return found, self._split(run, start, min(tokens, cut or tokens, budget), start)

    def cut(self) -> int:
        """Tokens of one prompt in one step at most; 0: as many as the step has."""
        alone = len(self.running) + len(self.waiting) <= 1
        return 0 if alone and not self.allocation.habits.cuts_alone else self.scheduling.long_prompt_tokens

    def _split(self, run: Run, start: int, tokens: int, found: int | None) -> int:
        if self.block is None or tokens <= 0:
            return tokens
        most = min(self.limits.step_tokens, self.scheduling.long_prompt_tokens or self.limits.step_tokens)
        chunk = Chunk(
            start=start, tokens=tokens, prompt=run.prompt, known=run.tokens, fork=run.fork, found=found, most=most
        )
        return self.allocation.habits.split(chunk, self.block)

    def _scheduled(self, run: Run, tokens: int) -> Part:
        run.computed += tokens
        run.flying += tokens
        brings = run.computed >= run.tokens + run.expected
        if brings and self.scheduling.overlapped:
            run.expected += 1
        return Part(run, tokens, brings)

    def _seat(self, run: Run, now: int) -> None:
        self.running.append(run)
        run.running = True
        run.waited += now - run.since
        if run.admitted is None:
            run.admitted = now

    def _preempt(self, run: Run, now: int) -> None:
        self.allocation.release(run)
        run.computed = run.expected = 0
        run.stale = run.flying
        run.running = False
        run.preemptions += 1
        run.since = now
        self.waiting.appendleft(run)

    def _end(self, run: Run, now: int) -> None:
        """Also one that was thrown back while the step that brought its last token was under way."""
        self.allocation.release(run)
        (self.running if run.running else self.waiting).remove(run)
        run.waited += 0 if run.running else now + 1 - run.since
        run.running = False
        run.done = True
