"""A key for remembering what was computed for one large noun: the noun itself, not what it equals.

A geometry of a hundred layers takes longer to compare than most of what is computed from it.
"""

from typing import Generic, TypeVar

T = TypeVar("T")


class Same(Generic[T]):
    """Holds a noun; equal only to a holder of the very same one, which cannot be gone while this lives."""

    __slots__ = ("it",)

    def __init__(self, it: T) -> None:
        self.it = it

    def __hash__(self) -> int:
        return id(self.it)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.it is self.it
