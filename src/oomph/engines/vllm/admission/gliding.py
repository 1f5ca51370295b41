"""Passing over the steps in which nothing can happen.

While every running request computes one token of its answer and nobody is admitted, a request matters only near the
end of a block: there it takes one, gives one back, or has one remembered. In between its counts are simply advanced.
Nothing here decides anything: what is not plainly the same again is left to the scheduler's own step.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

from oomph.engines.vllm.admission.keepers import Keeper, Kind
from oomph.engines.vllm.admission.run import Run
from oomph.engines.vllm.admission.scheduler import Part, Scheduler


def steady(scheduler: Scheduler, flying: Sequence[list[Part]]) -> bool:
    """Whether the steps under way compute one token of an answer of everybody who runs, and of nobody else."""
    runs = scheduler.running
    if not runs or len(runs) > scheduler.limits.step_tokens:
        return False
    if scheduler.waiting and any(keeper.recurrent for keeper in scheduler.allocation.keepers):
        return False  # a state computed in one step may be found in the next, without anything else happening
    return all(
        len(parts) == len(runs)
        and all(part.run is run and part.tokens == 1 and part.brings for part, run in zip(parts, runs, strict=True))
        for parts in flying
    )


def glide(scheduler: Scheduler, now: int, until: int, margin: int, note: Callable[[int], None]) -> int:
    """Advance to the last step, at most `until`, before the scheduler must look again; `note` is told of changes."""
    if until <= now:
        return now
    runs, beats = scheduler.running, _beats(scheduler.allocation.keepers, margin)
    for run in runs:
        run.seen = now + 1
    overlapped = scheduler.scheduling.overlapped  # then what a chunk of a prompt left behind is given back now
    agenda = [(now + 1 + (0 if overlapped else _idle(run.computed, beats)), place) for place, run in enumerate(runs)]
    heapify(agenda)
    barred = scheduler.allocation.free  # with so many free blocks the first of those that wait was not admitted
    while (step := agenda[0][0]) <= until:
        while agenda[0][0] == step:
            _, place = heappop(agenda)
            run = runs[place]
            _bring(run, step)
            if not scheduler.allocation.grow(run, 1):
                return _settle(runs, step)
            heappush(agenda, (step + 1 + _idle(run.computed + 1, beats), place))
        if scheduler.allocation.free > barred or scheduler.allocation.fickle:
            if _opens(scheduler):
                return _settle(runs, step)
            barred = max(barred, scheduler.allocation.free)
        note(step)
    return _settle(runs, until + 1)


def _beats(keepers: Sequence[Keeper], margin: int) -> list[tuple[int, int, int]]:
    """When a request matters: its computed tokens plus an offset, modulo a length, are at most a margin."""
    found = set()
    for keeper in keepers:
        if keeper.kind is Kind.RING:
            continue
        found.add((keeper.block, 1, margin + 1 if keeper.recurrent else margin))
        if keeper.kind is Kind.WINDOW:
            found.add((keeper.block, 1 - keeper.reach, margin))
        if keeper.kind is Kind.CHUNK:
            found.add((keeper.reach, 0, margin))
    return sorted(found)


def _idle(computed: int, beats: Sequence[tuple[int, int, int]]) -> int:
    """Steps until a request with so many tokens matters."""
    least = 1 << 60
    for length, offset, margin in beats:
        past = (computed + offset) % length
        if past <= margin:
            return 0
        least = min(least, length - past)
    return least


def _bring(run: Run, step: int) -> None:
    """Advance a request to how it is before this step."""
    passed = step - run.seen
    run.computed += passed
    run.tokens += passed
    run.seen = step


def _settle(runs: Sequence[Run], step: int) -> int:
    for run in runs:
        _bring(run, step)
    return step - 1


def _opens(scheduler: Scheduler) -> bool:
    """Whether the first of those that wait could be admitted now."""
    budget = scheduler.limits.step_tokens - len(scheduler.running)
    if not scheduler.waiting or budget <= 0 or len(scheduler.running) >= scheduler.scheduling.sequences:
        return False
    run = scheduler.waiting[0]
    found, tokens = scheduler.first_chunk(run, budget, scheduler.cut())
    return tokens > 0 and scheduler.allocation.admits(run, tokens, found, alone=False)
