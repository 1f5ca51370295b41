"""What became of every request of a scene, in bounded memory however long the scene lasts.

Knows that the gaps between pieces are what grows: of a long scene every second, fourth, eighth … request keeps its own,
so that what is left is of the whole time and was really measured. Every request itself is kept.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from oomph.ledger.proof import Outcome

MOST_GAPS: Final = 1_000_000


@dataclass(slots=True, kw_only=True)
class Kept:
    """Outcomes so far."""

    most: int = MOST_GAPS
    outcomes: list[Outcome] = field(default_factory=list)
    _every: int = 1  # so manieth request keeps its gaps
    _gaps: int = 0

    def add(self, outcome: Outcome) -> None:
        """One more."""
        chosen = len(self.outcomes) % self._every == 0
        self.outcomes.append(outcome if chosen else replace(outcome, gaps=()))
        self._gaps += len(outcome.gaps) if chosen else 0
        if self._gaps > self.most:
            self._thin()

    def _thin(self) -> None:
        self._every *= 2
        for place in range(self._every // 2, len(self.outcomes), self._every):
            self.outcomes[place] = replace(self.outcomes[place], gaps=())
        self._gaps = sum(len(outcome.gaps) for outcome in self.outcomes)
