"""The whole answer about one log: the case, what is wrong with it, how sure that is, and what was set beside it.

Knows how the parts belong together. Does not know how any is made, nor how it is shown.
"""

from dataclasses import dataclass

from oomph.diagnose.case import Case
from oomph.diagnose.explain import SURE, Outcome
from oomph.diagnose.finding import Finding
from oomph.diagnose.reconcile import Reconciled


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What is said of a log."""

    case: Case
    findings: tuple[Finding, ...]  # the root cause first, or the most likely candidate
    outcome: Outcome
    reconciled: Reconciled
    notes: tuple[str, ...] = ()  # what was assumed or could not be had

    @property
    def root(self) -> Finding | None:
        """The first."""
        return self.findings[0] if self.findings else None

    @property
    def others(self) -> tuple[Finding, ...]:
        """What else was found: consequences of the root, or rivals."""
        return self.findings[1:]

    @property
    def candidates(self) -> tuple[Finding, ...]:
        """What it may be, where that is not sure."""
        return self.findings if self.outcome is Outcome.UNSURE else ()

    @property
    def sure(self) -> tuple[Finding, ...]:
        """Of the others, those that are no guesses."""
        return tuple(each for each in self.others if each.confidence >= SURE)
