"""What people try at a gate that it does not move: each is run through the forecast before it is called vain.

Knows how to check. Does not know why: that is the engine's.
"""

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from oomph.diagnose.trials import Trials, Tried, at, passes
from oomph.engines.vllm.levers.advice import ADVICE, Advice
from oomph.engines.vllm.levers.startup import RELEASE, Change
from oomph.engines.vllm.levers.table import SEQUENCES, UPGRADE
from oomph.ledger.gate import Gate, Verdict


def vain(trials: Trials, gate: Gate, newer: Tried | None) -> Iterator[tuple[str, str]]:
    """The advice as it is written, and why it changes nothing at this gate."""
    for advice in ADVICE:
        why = advice.why.get(gate.step)
        changes = advice.changes(trials.startup, trials.now)
        if why is not None and changes and _checked(advice, changes, trials, gate):
            yield advice.words, f"{why}{_figures(changes, trials, gate)}"
    yield from _upgrade(trials, gate, newer)


def _checked(advice: Advice, changes: Sequence[Change], trials: Trials, gate: Gate) -> bool:
    """Both sides of the gate are the same to the byte with each of the changes."""
    if not advice.modelled and gate.verdict is not Verdict.OVERFLOWS:
        return False
    after = [trials.of(change) for change in changes]
    met = [at(forecast, gate.step) for forecast in after if forecast is not None]
    return bool(met) and all(other is not None and (other.needs, other.has) == (gate.needs, gate.has) for other in met)


def _figures(changes: Sequence[Change], trials: Trials, gate: Gate) -> str:
    """With which values the gate is the same, for flags that take a number."""
    flags = {name for change in changes for name in change if name in trials.now.settings}
    present = [trials.now.settings[flag].value for flag in flags]
    tried = [value for change in changes for value in change.values()]
    numbers = [f"{value:,}" for value in (*present, *tried) if _is_number(value)]
    if not present or len(numbers) <= len(tried):
        return ""
    return f": with {', '.join(numbers)} alike, {gate.needs.likely} are needed and {gate.has.likely} there"


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _upgrade(trials: Trials, gate: Gate, newer: Tried | None) -> Iterator[tuple[str, str]]:
    """The newest release, where it does not pass either; with what it would, where fewer sequences are enough."""
    for newest in UPGRADE.values(trials.startup, trials.now):
        after = trials.of({RELEASE: newest})
        other = None if after is None else at(after, gate.step)
        if after is None or other is None or passes(after, gate.step):
            continue
        fails = "fails at the same gate" if other.verdict is Verdict.OVERFLOWS else "is not sure to pass the same gate"
        fewer = "" if newer is None else f"; with --max-num-seqs {newer.change[SEQUENCES.flag]} it passes there"
        yield (
            f"upgrading to {newest} alone",
            f"{newest} {fails}: {other.needs.likely} are needed and {other.has.likely} there{fewer}",
        )
