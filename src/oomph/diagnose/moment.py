"""The moment at which it ended, as a gate with two sides, from what the log says of it: what a picture is drawn from.

Knows which figures are the two sides of which refusal. Where the forecast knows how much more was to come, its
gate is the moment, not the one allocation that failed. Does not know how anything is drawn.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.failed_gate import failed_gate
from oomph.diagnose.trials import at
from oomph.ledger.gate import Gate, Step
from oomph.ledger.ledger import Account, Basis, Entry, Ledger
from oomph.ledger.observation import Quantity
from oomph.units import Bounds, Bytes

# What is asked for at each gate.
_SPENT_ON: Final[Mapping[Step, Account]] = {
    **dict.fromkeys(Step, Account.ACTIVATIONS),
    Step.LOAD: Account.WEIGHTS,
    Step.GRAPH_PROFILE: Account.KV_POOL,
    Step.CAPTURE: Account.GRAPHS,
}


def moment(case: Case, ledger: Ledger) -> Gate | None:
    """What was needed, what was there, and what was on the device; None where the log does not say it."""
    step = failed_gate(case)
    if step is Step.START_CHECK:
        return _refused(case)
    tried, free = case.size(Quantity.TRIED), case.size(Quantity.DEVICE_FREE)
    if step is None or tried is None or free is None or not ledger.entries:
        return None
    if (foreseen := _foreseen(case, ledger)) is not None:
        return foreseen
    needs = tried
    if needs.likely <= free.likely:
        return None
    asked = Entry(account=_SPENT_ON[step], size=needs, basis=Basis.OBSERVED, because="asked for")
    held = (_printed(entry) for entry in (*ledger, asked) if _counts(entry))
    return Gate(
        step=step,
        needs=Bounds(needs.likely),
        has=Bounds(free.likely),
        said=f"{needs.likely} more, {free.likely} free",
        holds=Ledger(tuple(held)),
    )


def _printed(entry: Entry) -> Entry:
    """As it was printed: what rounding leaves open is no doubt that a picture should show."""
    return replace(entry, size=Bounds(entry.size.likely))


def _counts(entry: Entry) -> bool:
    """What is in no account counts where it is more than rounding."""
    return entry.account is not Account.UNACCOUNTED or 0 not in entry.size


def device_total(case: Case) -> Bytes | None:
    """What the device has, as the engine saw it."""
    for quantity in (Quantity.DEVICE_TOTAL, Quantity.TOTAL):
        if (size := case.size(quantity)) is not None:
            return size.likely
    return case.devices[0].total if case.devices else None


def _refused(case: Case) -> Gate | None:
    """The start check: a share of the device against what is free."""
    free, total, budget = (case.size(each) for each in (Quantity.FREE, Quantity.TOTAL, Quantity.BUDGET))
    if free is None or total is None or budget is None:
        return None
    held = Bounds(max(0, total.likely - free.likely))
    who = Account.FOREIGN if case.tenants else Account.UNACCOUNTED
    entry = Entry(account=who, size=held, basis=Basis.OBSERVED, because="held before the engine began")
    return Gate(
        step=Step.START_CHECK,
        needs=Bounds(budget.likely),
        has=Bounds(free.likely),
        said=f"{budget.likely} asked for, {free.likely} free",
        holds=Ledger((entry,)),
    )


def _foreseen(case: Case, ledger: Ledger) -> Gate | None:
    """Of a throw-away pool whose tensors are seen: the forecast's gate, with the two sides that words give too."""
    gate = None if case.forecast is None else at(case.forecast, Step.GRAPH_PROFILE)
    if failed_gate(case) is not Step.GRAPH_PROFILE or gate is None or ledger.of(Account.KV_POOL) is None:
        return None
    if gate.needs.likely <= gate.has.likely:
        return None
    held = Ledger(tuple(_printed(entry) for entry in gate.ledger))
    return replace(gate, needs=Bounds(gate.needs.likely), has=Bounds(gate.has.likely), holds=held)
