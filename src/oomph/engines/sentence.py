"""A sentence that an engine logs, written once and used both ways: to read its figures, and to write it.

Knows templates with typed gaps, `{size:gib2} GiB`. Does not know how an engine prints a number: each engine hands in
its notations.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from oomph.engines.history import Span
from oomph.ledger.observation import Figure

_GAP: Final = re.compile(r"\{(?P<name>[a-z_]+):(?P<notation>[a-z0-9_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """How one kind of figure is printed."""

    pattern: str  # of what is printed, without groups of its own
    read: Callable[[str], Figure]  # what the printed text may have been
    write: Callable[[Any], str]  # the printed text of a true value


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One wording of one thing that is said, and the releases that say it so."""

    name: str
    template: str
    span: Span
    notations: Mapping[str, Notation]

    def __post_init__(self) -> None:
        unknown = {gap["notation"] for gap in _GAP.finditer(self.template)} - self.notations.keys()
        if unknown:
            message = f"sentence {self.name!r} uses notations that the engine does not have: {sorted(unknown)}"
            raise ValueError(message)

    @cached_property
    def gaps(self) -> dict[str, Notation]:
        """What stands in each gap."""
        return {gap["name"]: self.notations[gap["notation"]] for gap in _GAP.finditer(self.template)}

    @cached_property
    def longest(self) -> str:
        """The longest piece between gaps: a line without it does not hold the sentence."""
        pieces = _GAP.sub("\0", self.template).split("\0")
        return max(pieces, key=len)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds the sentence anywhere in a line, whatever prefix the line has."""
        parts, end = [], 0
        for gap in _GAP.finditer(self.template):
            parts.append(re.escape(self.template[end : gap.start()]))
            parts.append(f"(?P<{gap['name']}>{self.notations[gap['notation']].pattern})")
            end = gap.end()
        return re.compile("".join([*parts, re.escape(self.template[end:])]))

    def read(self, line: str) -> dict[str, Figure] | None:
        """Its figures, each as what it may have been; None where the line does not say it."""
        found = self.pattern.search(line)
        return None if found is None else {name: gap.read(found[name]) for name, gap in self.gaps.items()}

    def write(self, **figures: object) -> str:
        """The sentence as the engine would print it."""
        return _GAP.sub(lambda gap: self.gaps[gap["name"]].write(figures[gap["name"]]), self.template)
