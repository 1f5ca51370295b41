"""The first value of a sequence that helps, with as few trials as can be.

Knows orders. Does not know what a value is of, nor what helping means.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TypeVar

_Value = TypeVar("_Value")


def first(values: Sequence[_Value], helps: Callable[[_Value], bool], *, monotone: bool) -> tuple[_Value] | None:
    """The first value that helps; the last one is asked first, because most levers that do not help never do."""
    if not values or (monotone and not helps(values[-1])):
        return None
    if monotone:
        return (values[bisect_left(values, True, key=helps)],)  # noqa: FBT003 - what is searched for
    return next(((value,) for value in values if helps(value)), None)
