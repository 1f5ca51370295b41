"""What is wrong with a running engine, how we know, and what to do.

Knows the noun. Does not know any rule.
"""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How grave it is; a note is no reason to act."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that the figures show at this moment."""

    name: str  # the condition, never the cure; scripts and links rely on it
    level: Level
    summary: str
    evidence: tuple[str, ...] = ()  # the figures, before and after
    do: tuple[str, ...] = ()  # the best first

    @property
    def wrong(self) -> bool:
        """Whether somebody should act."""
        return self.level is not Level.NOTE
