"""Many changes that only help together: every lever as far as it goes, and then each as little as is still enough.

Knows how to search where no change is enough alone, and when no search is of use. Does not know any flag.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from oomph.diagnose.search import first
from oomph.diagnose.trials import Trials, Tried, earlier, no_worse, passes, verdict
from oomph.engines.vllm.levers.lever import Lever, Trial
from oomph.engines.vllm.levers.startup import Change
from oomph.engines.vllm.levers.table import LEVERS
from oomph.engines.vllm.levers.utmost import shares, utmost
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Step, Verdict
from oomph.ledger.rest import Rest
from oomph.ledger.settings import Value


def hopeless(trials: Trials) -> bool:
    """Whether it is sure to fail however far the levers are moved."""
    found = [after.verdict for _, after in _tried(trials)]
    return bool(found) and all(each is Verdict.OVERFLOWS for each in found)


def at_once(trials: Trials, step: Step) -> Tried | None:
    """What is likely to start, with as few changes as can be, each as small as can be."""
    search = _Search(trials=trials, step=step)
    change = next((change for change, after in _tried(trials) if search.good(after)), None)
    if change is None:
        return None
    for flag in reversed(tuple(change)):
        fewer = {name: value for name, value in change.items() if name != flag}
        change = fewer if search.enough(fewer) else change
    for flag in reversed(tuple(change)):
        change = search.eased(change, flag)
    return search.told(change)


def _tried(trials: Trials) -> Iterator[tuple[Change, Forecast]]:
    """Every way to move everything, at one share after another where the share matters."""
    for far in utmost(trials.startup, trials.now):
        for share in shares(trials.now):
            change = {**far, **share}
            after = trials.of(change)
            if after is None:
                continue
            yield change, after
            if any(verdict(after, step) is Verdict.OVERFLOWS for step in (Step.LOAD, Step.PROFILE)):
                break  # the share changes nothing there


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """For what makes one gate pass and no other fail."""

    trials: Trials
    step: Step

    def good(self, after: Forecast | None) -> bool:
        """Whether the gate passes, and all the others likely do."""
        if after is None or not passes(after, self.step):
            return False
        rest = min(Rest.of(gate) for gate in after.gates)
        return rest >= Rest.LIKELY and no_worse(after, self.trials.now, earlier(self.step))

    def enough(self, change: Change) -> bool:
        """Whether this much is enough."""
        return self.good(self.trials.of(change))

    def eased(self, change: Change, flag: str) -> Change:
        """With one flag moved as little as the others permit."""
        lever = self._mover(flag, change[flag])

        def helps(value: Value) -> bool:
            return self.enough({**change, flag: value})

        found = first(lever.values(self.trials.startup, self.trials.now), helps, monotone=lever.monotone)
        return change if found is None or not helps(found[0]) else {**change, flag: found[0]}

    def _mover(self, flag: str, value: Value) -> Lever:
        """The lever that gives a flag this value; else the one that moves it furthest."""
        movers = [lever for lever in LEVERS if lever.flag == flag]
        found = (lever for lever in movers if value in lever.values(self.trials.startup, self.trials.now))
        return next(found, movers[-1])

    def told(self, change: Change) -> Tried | None:
        """With its prices."""
        after = self.trials.of(change)
        if after is None:
            return None
        startup, now = self.trials.startup, self.trials.now
        prices = {
            flag: self._mover(flag, value).price(Trial(value=value, startup=startup, before=now, after=after))
            for flag, value in change.items()
        }
        return Tried(change=change, prices=prices, forecast=after)
