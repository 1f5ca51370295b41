"""One comparison: what was asked, every quantity with the engine's figure and ours, and whether they agree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Figures: TypeAlias = Mapping[str, object]  # by the name of the quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The figures of one model in one setting."""

    about: str  # "KV" or "weights"
    model: str
    family: str
    setting: str
    release: str
    theirs: Figures
    ours: Figures

    @property
    def differing(self) -> tuple[str, ...]:
        """The quantities in which we are not the engine; one that only one side has counts."""
        names = dict.fromkeys((*self.theirs, *self.ours))
        return tuple(name for name in names if self.theirs.get(name) != self.ours.get(name))

    @property
    def equal(self) -> bool:
        """Whether every figure is the engine's."""
        return not self.differing

    def shown(self) -> str:
        """The figures that differ, the engine's first."""
        return "; ".join(f"{name} {self.theirs.get(name)} ≠ {self.ours.get(name)}" for name in self.differing)
