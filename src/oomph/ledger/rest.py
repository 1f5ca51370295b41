"""How good a gate is, or all of them: surely passed, likely passed, or in the way.

Knows three grades, which are coarser than bounds and can be compared.
"""

from collections.abc import Iterable
from enum import IntEnum

from oomph.ledger.gate import Gate, Verdict


class Rest(IntEnum):
    """How good a gate is, or all of them."""

    ANYTHING = 0
    LIKELY = 1
    SURE = 2

    @classmethod
    def of(cls, gate: Gate | None) -> "Rest":
        """One that is skipped, or not forecast, stands in nobody's way."""
        if gate is None or gate.verdict is Verdict.FITS:
            return cls.SURE
        likely = gate.verdict is Verdict.UNSURE and gate.spare.likely >= 0
        return cls.LIKELY if likely else cls.ANYTHING

    @classmethod
    def of_all(cls, gates: Iterable[Gate]) -> "Rest":
        """As good as the worst of them."""
        return min((cls.of(gate) for gate in gates), default=cls.SURE)
