"""Which change makes a failed gate pass: every lever is tried in the forecast, and the largest value that passes found.

Knows how to search. Does not know any flag: levers, their values and prices are the engine's. A change that was not
forecast, or does not pass, is no remedy.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from oomph.diagnose.at_once import at_once
from oomph.diagnose.finding import Remedy
from oomph.diagnose.search import first
from oomph.diagnose.trials import Trials, Tried, acting, at, earlier, later, no_worse, passes
from oomph.diagnose.typed import typed, written
from oomph.engines.vllm.levers.lever import Lever, Steps, Trial
from oomph.engines.vllm.levers.startup import RELEASE, Change
from oomph.engines.vllm.levers.table import LAST, LEVERS, MORE_GPUS, SEQUENCES, UPGRADE
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.rest import Rest
from oomph.ledger.settings import Value

MOST: Final = 6  # remedies of one finding: more is a table, not advice
_FAR: Final = 2  # times: then a value that is likely enough is listed beside the one that is sure
_TOO_FAR: Final = 8  # times: then it is listed instead
_CHOICE: Final = 2  # remedies of one change each that are choice enough
_FOLLOWED: Final = 2  # changes that only move the failure on, and are tried with others
_MORE: Final = 2  # changes that are tried together with one
_PAIN: Final = {lever.flag: place for place, lever in enumerate(LEVERS)}


def remedies(trials: Trials, step: Step, newer: Tried | None) -> tuple[Remedy, ...]:
    """What makes a gate pass, surest first, then by what it costs; `newer`: the newest release with fewer sequences.

    What then fails at another gate for sure is only listed where nothing starts it.
    """
    alone = tuple(_alone(trials, step))
    for several in (_enough, _at_best, _with_more_gpus, _moving_on):
        listed = [
            tried
            for tried in several(alone, trials, step, newer)
            if no_worse(tried.forecast, trials.now, earlier(step))
        ]
        if listed:
            return tuple(_remedy(tried, step) for tried in sorted(listed, key=_worth)[:MOST])
    return ()


def _enough(alone: Sequence[Tried], trials: Trials, step: Step, newer: Tried | None) -> list[Tried]:
    """With which nothing else is likely to fail: single changes, and where they are no choice, several together."""
    enough = [tried for tried in alone if tried.enough]
    if newer is not None and _permits_more(newer, enough):
        enough.append(newer)
    if len(_without_more_gpus(enough)) < _CHOICE:
        together = _together([tried for tried in alone if not tried.enough], trials, step)
        enough += _without_more_gpus(together) if enough else together
    return enough


def _at_best(alone: Sequence[Tried], trials: Trials, step: Step, newer: Tried | None) -> list[Tried]:
    """Everything at once; and single changes with which another gate may fail."""
    del newer
    utmost = at_once(trials, step)
    may = [tried for tried in alone if tried.forecast.verdict is not Verdict.OVERFLOWS]
    return may if utmost is None else [*may, _needed(utmost, trials, step)]


def _with_more_gpus(alone: Sequence[Tried], trials: Trials, step: Step, newer: Tried | None) -> list[Tried]:
    """More GPUs, with others that make the next gates pass."""
    del newer
    found: list[Tried] = []
    for tried in alone:
        if MORE_GPUS in tried.change:
            further = at_once(Trials(trials.startup.but(tried.change), tried.forecast), step)
            found += _followed(tried, trials, step, _MORE) if further is None else [_both(tried, further)]
    return [_needed(each, trials, step) for each in found]


def _moving_on(alone: Sequence[Tried], trials: Trials, step: Step, newer: Tried | None) -> list[Tried]:
    """Single changes with which the next gate fails instead."""
    del trials, step, newer
    return list(alone)


def _together(alone: Iterable[Tried], trials: Trials, step: Step) -> list[Tried]:
    """Changes that only move the failure on, with others that make the next gates pass, each once."""
    nearest = sorted(_without_more_gpus(alone), key=_way_to_go)[:_FOLLOWED]
    found = (_needed(more, trials, step) for tried in nearest for more in _followed(tried, trials, step, _MORE))
    return list({frozenset(tried.change.items()): tried for tried in found}.values())


def _without_more_gpus(all_tried: Iterable[Tried]) -> list[Tried]:
    return [tried for tried in all_tried if MORE_GPUS not in tried.change]


def _way_to_go(tried: Tried) -> int:
    return tried.left


def _worth(tried: Tried) -> tuple[int, int, int]:
    """What hurts most last; else the surest first, and of those the least painful."""
    hurting = max((place for place, flag in enumerate(LAST, start=1) if flag in tried.change), default=0)
    return hurting, -tried.rest, _PAIN[next(iter(tried.change))]


def likely(trials: Trials, step: Step) -> Iterator[str]:
    """Where nothing is sure to make a gate pass: what is likely to, in words, the least painful first."""
    enough = (tried for tried in _alone(trials, step, least=Rest.LIKELY) if tried.enough)
    for tried in islice(enough, _FOLLOWED):
        ((flag, value),) = tried.change.items()
        yield f"{typed(flag, value)} is likely to be enough, but not sure ({tried.prices[flag]})"


def upgraded(trials: Trials, step: Step) -> Tried | None:
    """The newest release with as many sequences as it permits, where it does not pass alone."""
    for newest in UPGRADE.values(trials.startup, trials.now):
        change: Change = {RELEASE: newest}
        after = trials.of(change)
        if after is None or passes(after, step):
            return None
        newer = Trials(trials.startup.but(change), after)
        trial = Trial(value=newest, startup=trials.startup, before=trials.now, after=after)
        for second in moved(SEQUENCES, newer, step):
            return _both(Tried(change=change, prices={RELEASE: UPGRADE.price(trial)}, forecast=after), second)
    return None


def _permits_more(newer: Tried, others: Iterable[Tried]) -> bool:
    """Whether the newer release is what helps, and not the fewer sequences alone."""
    here = max((_number(other.change.get(SEQUENCES.flag)) for other in others), default=0)
    return newer.enough and _number(newer.change[SEQUENCES.flag]) > here


def _alone(trials: Trials, step: Step, *, least: Rest = Rest.SURE) -> Iterator[Tried]:
    """Every lever that acts there, with what makes the gate pass."""
    gate = at(trials.now, step)
    inert = () if gate is None else gate.inert
    for lever in LEVERS:
        if lever.acts_at(acting(trials.now, step), trials.startup.release) and written(lever.flag) not in inert:
            yield from moved(lever, trials, step, least=least)


def moved(lever: Lever, trials: Trials, step: Step, *, least: Rest = Rest.SURE) -> Iterator[Tried]:
    """A lever as little as is enough to be sure of every gate, and where that is far, as is likely to be enough.

    Where no value is enough, as little as makes all those gates pass that it can.
    """
    values = lever.values(trials.startup, trials.now)
    enough: list[Tried] = []
    best: Tried | None = None
    for rest, excused in _wanted(lever, values, trials, step):
        if enough and excused:
            break
        failed = _Failed(step=step, least=max(rest, least), rest=rest, excused=excused)
        found = first(values, partial(_helps, lever, trials, failed), monotone=lever.monotone)
        best = best if found is None else _passing(lever, found[0], trials, failed) or best
        if best is not None and best.enough and (not enough or _far(enough[0], best, lever.flag)):
            enough.append(best)
    if len(enough) > 1 and _far(enough[0], enough[1], lever.flag, times=_TOO_FAR):
        del enough[0]
    yield from enough or (best,) if best is not None else ()


def _wanted(lever: Lever, values: Sequence[Value], trials: Trials, step: Step) -> Iterator[tuple[Rest, Steps]]:
    """How good the gates after the failed one shall be, and which of them are excused, strictest first."""
    yield Rest.SURE, frozenset()
    yield Rest.LIKELY, frozenset()
    furthest = trials.of({lever.flag: values[-1]}) if values and not lever.risky else None
    hopeless = (gate for gate in later(step) if furthest and Rest.of(at(furthest, gate)) < Rest.LIKELY)
    if excused := frozenset(hopeless):
        yield Rest.LIKELY, excused


def _far(sure: Tried, likely: Tried, flag: str, *, times: int = _FAR) -> bool:
    """Whether being sure costs so many times what is likely to be enough."""
    one, other = sorted(_number(tried.change[flag]) for tried in (sure, likely))
    return 0 < times * one <= other


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    """The gate that failed, and what is asked of it and of those after it."""

    step: Step
    least: Rest
    rest: Rest
    excused: Steps


def _helps(lever: Lever, trials: Trials, failed: _Failed, value: Value) -> bool:
    """Whether a value makes the gate pass, as far as moving the lever further makes that more likely."""
    after, step = trials.of({lever.flag: value}), failed.step
    short = acting(trials.now, step)
    worse = lever.worse(step, acting=short)
    if after is None or (
        step not in worse and acting(after, step) is short and not passes(after, step, least=failed.least)
    ):
        return False
    return no_worse(after, trials.now, (gate for gate in earlier(step) if gate not in worse)) and all(
        Rest.of(at(after, gate)) >= failed.rest for gate in later(step) if gate not in worse | failed.excused
    )


def _passing(lever: Lever, value: Value, trials: Trials, failed: _Failed) -> Tried | None:
    """With this value, if the gate passes although the lever may work against it."""
    after = trials.of({lever.flag: value})
    if after is None or not passes(after, failed.step, least=failed.least):
        return None
    trial = Trial(value=value, startup=trials.startup, before=trials.now, after=after)
    return Tried(change={lever.flag: value}, prices={lever.flag: lever.price(trial)}, forecast=after)


def _followed(tried: Tried, trials: Trials, step: Step, more: int) -> Iterator[Tried]:
    """A change after which another gate fails, with the first change that makes that one pass too, and so on."""
    stopped = tried.worst
    if stopped is None or not more:
        return
    further = Trials(trials.startup.but(tried.change), tried.forecast)
    others: list[Tried] = []
    for second in _alone(further, stopped.step, least=Rest.LIKELY):
        if second.change.keys().isdisjoint(tried.change) and passes(second.forecast, step):
            others.append(_both(tried, second))
        if others and others[-1].enough:
            break
    yield from (both for both in others if both.enough)
    left = _without_more_gpus(others)
    if left and not any(both.enough for both in left):
        yield from _followed(min(left, key=_way_to_go), trials, step, more - 1)


def _both(one: Tried, second: Tried) -> Tried:
    return Tried(
        change={**one.change, **second.change},
        prices={**one.prices, **second.prices},
        forecast=second.forecast,
    )


def _needed(tried: Tried, trials: Trials, step: Step) -> Tried:
    """Without what a later change made superfluous."""
    for flag in tried.change:
        fewer = {name: value for name, value in tried.change.items() if name != flag}
        after = trials.of(fewer) if fewer else None
        if after is None or not passes(after, step) or not no_worse(after, trials.now, earlier(step)):
            continue
        prices = {name: price for name, price in tried.prices.items() if name != flag}
        other = Tried(change=fewer, prices=prices, forecast=after)
        if other.rest >= tried.rest:
            return _needed(other, trials, step)
    return tried


def _number(value: Value) -> float:
    return value if isinstance(value, int | float) else 0


def _remedy(tried: Tried, step: Step) -> Remedy:
    gate, then = at(tried.forecast, step), tried.forecast.stopped_at
    return Remedy(
        change=tried.change,
        price="; ".join(tried.prices.values()),
        verdict=tried.forecast.verdict,
        spare=None if gate is None else gate.spare,
        fails_at=None if then is None or then.verdict is not Verdict.OVERFLOWS else then.step,
    )
