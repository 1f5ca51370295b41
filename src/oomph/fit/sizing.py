"""Turned around: which hardware holds a workload, and what to run on it; what is owned is asked first.

Does not know what hardware there is (`hardware`), nor how a setting is found (`fit`).
"""

from dataclasses import dataclass, replace

from oomph.fit.fit import fit
from oomph.fit.hardware import Hardware, holding
from oomph.fit.holds import asked
from oomph.fit.proposal import Fitted
from oomph.fit.question import Question
from oomph.ledger.device import Device


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """What is owned and what it holds, what would hold everything, and what to run on the least of it."""

    owned: Fitted | None  # None where nothing is owned
    found: tuple[Hardware, ...]  # the least memory first; empty where what is owned is enough
    best: Fitted  # on what is owned, if that is enough, else on the first that was found


def sized(question: Question, *, have: tuple[Device, ...]) -> Sized:
    """What is owned, if that is enough; else everything that is."""
    asked(question)  # what no hardware could serve is refused at once
    owned = fit(replace(question, startup=replace(question.startup, devices=have))) if have else None
    if owned is not None and owned.holds:
        return Sized(owned=owned, found=(), best=owned)
    found = tuple(holding(question))
    if not found:
        return Sized(owned=owned, found=(), best=owned or _nothing(question))
    return Sized(owned=owned, found=found, best=fit(replace(question, startup=found[0].on(question.startup))))


def _nothing(question: Question) -> Fitted:
    return Fitted(
        workload=question.workload,
        release=str(question.startup.release),
        risk=question.risk,
        preference=question.preference,
        proposal=None,
    )
