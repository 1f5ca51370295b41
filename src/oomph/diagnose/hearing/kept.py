"""Which lines of a start-up are kept, however many there are.

Knows that a beginning, an end, what surrounds the first failure, and the first and the last of each kind of line tell
what happened. Does not know what lines mean: two are of one kind where they begin alike but for their numbers.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, TypeAlias

from oomph.diagnose.finding import Said

_Placed: TypeAlias = tuple[int, Said]

_FIRST: Final = 600  # lines from the beginning
_LAST: Final = 600  # from the end, and before a failure
_AFTER: Final = 600  # after a failure
_OF_A_KIND: Final = 8  # of each kind the first, and as many last
_KINDS: Final = 1_000
_ALIKE: Final = 48  # characters by which two lines are of one kind
_FIGURE: Final = re.compile(r"[0-9][0-9a-fA-F.,:x-]*")


def kind(said: Said) -> tuple[str, str]:
    """What lines of one kind have in common."""
    return said.rank, _FIGURE.sub("0", said.text[:_ALIKE])


@dataclass(slots=True)
class _Kind:
    first: list[_Placed] = field(default_factory=list)
    last: deque[_Placed] = field(default_factory=lambda: deque(maxlen=_OF_A_KIND))


@dataclass(slots=True)
class Kept:
    """Takes line after line."""

    count: int = 0
    _first: list[_Placed] = field(default_factory=list)
    _last: deque[_Placed] = field(default_factory=lambda: deque(maxlen=_LAST))
    _failing: list[_Placed] = field(default_factory=list)
    _wanted: int = 0  # lines that are still wanted after a failure
    _kinds: dict[tuple[str, str], _Kind] = field(default_factory=dict)

    def take(self, said: Said) -> None:
        """One more."""
        placed = self.count, said
        self.count += 1
        if len(self._first) < _FIRST:
            self._first.append(placed)
            return
        self._last.append(placed)
        if self._wanted:
            self._failing.append(placed)
            self._wanted -= 1
        self._sort(placed)

    def _sort(self, placed: _Placed) -> None:
        key = kind(placed[1])
        if (alike := self._kinds.get(key)) is None:
            if len(self._kinds) >= _KINDS:
                return
            alike = self._kinds[key] = _Kind()
        (alike.first if len(alike.first) < _OF_A_KIND else alike.last).append(placed)

    def failing(self) -> None:
        """What was taken last is of a failure: what surrounds it is kept."""
        self._failing, self._wanted = list(self._last), _AFTER

    def lines(self) -> Iterator[Said]:
        """In their order, each once."""
        kinds = (line for alike in self._kinds.values() for line in (*alike.first, *alike.last))
        kept = dict(chain(self._first, kinds, self._failing, self._last))
        return (kept[place] for place in sorted(kept))
