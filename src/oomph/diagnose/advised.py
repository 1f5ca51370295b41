"""The remedies of a rule: passed through the forecast where there is one, as they stand where there is none.

Knows that a forecast finds better values than any rule could name. Does not know any rule.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from oomph.diagnose.at_gate import NAMES
from oomph.diagnose.case import Case
from oomph.diagnose.finding import Remedy
from oomph.diagnose.remedies import remedies, upgraded
from oomph.diagnose.trials import Trials, at, later, passes
from oomph.diagnose.typed import written
from oomph.engines.vllm.charged import POOL_GIVEN
from oomph.engines.vllm.levers.names import SHARE, levers
from oomph.engines.vllm.levers.table import MORE_GPUS
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.rest import Rest
from oomph.units import MIB, Bytes

_POOL: Final = "kv_cache_memory_bytes"
_LENGTH: Final = "max_model_len"
_PARTS: Final = 32  # of the device, by which sizes of a pool are tried


def advised(case: Case, step: Step | None, usual: Iterable[Remedy]) -> tuple[Remedy, ...]:
    """What helps at this gate: as the forecast finds it, then what no flag does; else what usually helps.

    The order is the rule's, as far as the rule names the lever: it knows what was right for others.
    """
    usual = tuple(usual)
    if case.startup is None or case.forecast is None or step is None:
        return usual
    gate = at(case.forecast, step)
    if gate is None or gate.verdict is Verdict.FITS:
        return usual
    trials = Trials(case.startup, case.forecast)
    found = tuple(_named(_explained(remedies(trials, step, upgraded(trials, step)), trials, step), case))
    if not found:
        return usual
    ordered = _in_order(found, usual)
    done = {_POOL} if any(_POOL in remedy.change for remedy in found) else set()
    others = (each for each in usual if not each.change and each.lever not in done)
    return (*ordered, *(_sized(each, ordered[0], trials, step) for each in others))


def _explained(found: Iterable[Remedy], trials: Trials, step: Step) -> Iterator[Remedy]:
    """With the reason for every flag of several that is not there for this gate, but for a later one."""
    for remedy in found:
        why = tuple(_later(remedy, trials, step)) if len(remedy.change) > 1 else ()
        yield replace(remedy, price="; ".join((remedy.price, *why)))


def _later(remedy: Remedy, trials: Trials, step: Step) -> Iterator[str]:
    for flag in remedy.change:
        without = trials.of({name: value for name, value in remedy.change.items() if name != flag})
        stopped = None if without is None else without.stopped_at
        if stopped is not None and stopped.step in later(step):
            what = NAMES[stopped.step][2]
            yield f"{written(flag)} is not for this gate but for a later one: without it {what} would not fit"


def _sized(remedy: Remedy, best: Remedy, trials: Trials, step: Step) -> Remedy:
    """A pool of a given size with the largest size that passes, beside the length that the best remedy needs."""
    if remedy.lever != _POOL or trials.startup.release not in POOL_GIVEN:
        return remedy
    length = {name: value for name, value in best.change.items() if name == _LENGTH}
    total = int(trials.now.device.total)
    for part in range(_PARTS - 1, 0, -1):
        size = total * part // _PARTS // MIB * MIB
        change = {**length, _POOL: size}
        after = trials.of(change)
        if after is not None and passes(after, step) and Rest.of(after.stopped_at) is not Rest.ANYTHING:
            price = f"the pool has {Bytes(size)}, and nothing checks any more that all of it fits"
            shorter = tuple(f"requests longer than {value:,} tokens are refused" for value in length.values())
            return replace(remedy, change=change, act=None, price="; ".join((price, *shorter)), verdict=after.verdict)
    return remedy


def _named(found: Iterable[Remedy], case: Case) -> Iterator[Remedy]:
    """With the lever that each moves; of several, the first, which is what makes the gate pass."""
    share = None if case.forecast is None else case.forecast.settings.get(SHARE)
    for remedy in found:
        moved = levers(remedy.change, None if share is None else share.value)
        yield replace(remedy, lever=next(moved, None))


def _in_order(found: tuple[Remedy, ...], usual: tuple[Remedy, ...]) -> tuple[Remedy, ...]:
    """What costs money last; else what is sure to start before what may; within that, as the rule has them."""
    places = {remedy.lever: place for place, remedy in reversed(tuple(enumerate(usual)))}

    def worth(each: Remedy) -> tuple[bool, bool, int]:
        return MORE_GPUS in each.change, each.verdict is not Verdict.FITS, places.get(each.lever, len(usual))

    return tuple(sorted(found, key=worth))
