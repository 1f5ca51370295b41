"""A recorded run: what one start-up measured, and all that decides for which other start-ups it speaks.

Knows sizes by quantity and by who said them. Holds no line of any log, and no flag that does not move bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from oomph.ledger.device import Device
from oomph.ledger.observation import Quantity
from oomph.ledger.settings import Flags
from oomph.units import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One start-up of an engine, as far as it bears on others."""

    engine: str
    model: str  # as it was named when it was learned
    figures: Mapping[Quantity, Mapping[str, Bounds]]  # by who said it, as it names itself
    release: str | None = None
    device: Device | None = None
    flags: Flags = field(default_factory=Flags)
    settings: Mapping[str, int] = field(default_factory=dict)  # numbers that the engine resolved and said
    config: Mapping[str, str] = field(default_factory=dict)  # words likewise
    learned: str = ""  # when: 2026-11-15T10:21:03

    def __post_init__(self) -> None:
        if not self.model or not any(self.figures.values()):
            message = f"a measurement of {self.model!r} without a model or without a figure"
            raise ValueError(message)
