"""How a start-up ended, beside how we say that it ends.

Knows which gates refuse and at which the allocator fails. Does not know any figure.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from oomph.ledger.gate import Step, Verdict
from scored.figures import share
from scored.foreseen import Foreseen
from scored.records import Outcome


class Ending(StrEnum):
    """How it ends, or that we cannot tell."""

    SERVES = "serves"
    REFUSED = "refused"
    OOM = "out of memory at start"
    RUNTIME_OOM = "out of memory in service"
    UNSURE = "unsure"


_REFUSING: Final = {Step.START_CHECK, Step.POOL_SIZE, Step.ONE_REQUEST}

ENDED: Final[Mapping[Outcome, Ending]] = {
    Outcome.SERVED: Ending.SERVES,
    Outcome.REFUSED: Ending.REFUSED,
    Outcome.OOM: Ending.OOM,
    Outcome.RUNTIME_OOM: Ending.RUNTIME_OOM,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One record whose end is known, and what we said of it."""

    id: str
    ended: Ending
    said: Ending
    step: Step | None  # the gate that stops it, or may

    @property
    def right(self) -> bool:
        """We were sure, and it was so."""
        return self.said is self.ended


def ending(found: Foreseen) -> Ending | None:
    """What the forecast says; None where it says nothing."""
    if found.verdict is None:
        return None
    if found.verdict is Verdict.FITS:
        return Ending.SERVES
    if found.verdict is Verdict.UNSURE or found.gate is None:
        return Ending.UNSURE
    if found.gate.step is Step.SERVING:
        return Ending.RUNTIME_OOM
    return Ending.REFUSED if found.gate.step in _REFUSING else Ending.OOM


def starts(found: Foreseen) -> Ending | None:
    """The same of the start-up alone, which is over before the worst step is met."""
    if found.gate is None or found.gate.step is not Step.SERVING:
        return ending(found)
    before = [gate.verdict for gate in found.gates if gate.step is not Step.SERVING]
    return Ending.UNSURE if Verdict.UNSURE in before else Ending.SERVES


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """The table of what was said and what was so."""

    count: int
    decided: int  # those on which we were sure
    right: float | None  # of those on which we were sure
    unsure: float | None  # of all
    table: Mapping[tuple[Ending, Ending], int]  # by what was said, and how it ended


def verdicts(told: Iterable[Told]) -> Verdicts:
    """Over these records."""
    every = tuple(told)
    decided = [each for each in every if each.said is not Ending.UNSURE]
    return Verdicts(
        count=len(every),
        decided=len(decided),
        right=share(sum(each.right for each in decided), len(decided)),
        unsure=share(len(every) - len(decided), len(every)),
        table=Counter((each.said, each.ended) for each in every),
    )


_WORDS: Final[Mapping[Ending, tuple[str, str]]] = {
    Ending.SERVES: ("served", "served"),
    Ending.REFUSED: ("was refused", "were refused"),
    Ending.OOM: ("ran out of memory at start", "ran out of memory at start"),
    Ending.RUNTIME_OOM: ("ran out of memory in service", "ran out of memory in service"),
}


def ended(found: Verdicts) -> str:
    """How many there were of each ending, in words; none is said too: a figure says nothing of what it never met."""
    counts = Counter[Ending]()
    for (_, was), count in found.table.items():
        counts[was] += count
    parts = (f"{counts[each] or 'none'} {words[counts[each] > 1]}" for each, words in _WORDS.items())
    return f"{found.count} verdicts: {', '.join(parts)}"
