"""The search for the breaking load: doubles until it breaks, then halves the gap.

Knows which number of users to try next. Assumes that more users never make an engine hold what fewer made it break.
"""

from dataclasses import dataclass, replace
from typing import Final, Self

from oomph.diagnose.proof.judge import Result

_SURE: Final = 2  # trials that held, at the edge: one may be luck


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What was tried so far."""

    most: int  # users, beyond whom nobody looks
    passed: tuple[int, ...] = ()  # users of every trial that did not break
    broke: int | None = None  # the fewest that broke
    doubted: frozenset[int] = frozenset()  # users of whom only trials passed that showed nothing

    @property
    def held(self) -> int:
        """The most that did not break; 0 where there are none."""
        return max((users for users in self.passed if self.broke is None or users < self.broke), default=0)

    @property
    def users(self) -> int | None:
        """To be tried next; None when it is known. What held at the edge is tried once more, against luck."""
        held = self.held
        if self.broke is None:
            return None if held >= self.most else min(max(1, 2 * held), self.most)
        if self.broke - held > 1:
            return (held + self.broke) // 2
        return None if not held or self.passed.count(held) >= _SURE else held

    def after(self, users: int, result: Result) -> Self:
        """What is known after one more trial; one that shows nothing stands in nobody's way, but is remembered."""
        if result is Result.BROKE:
            return replace(self, broke=users)
        shown = result is Result.HELD or (users in self.passed and users not in self.doubted)
        doubted = self.doubted - {users} if shown else self.doubted | {users}
        return replace(self, passed=(*self.passed, users), doubted=doubted)
