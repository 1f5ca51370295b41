"""One claim of a guide, and what became of it when it was asked again."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from oomph.units import GIB, Bytes

_CLOSE: Final = 10  # percent within which a figure that is said to be about right is right
_EXACT: Final = 1  # percent that nobody rounds away
_GB: Final = 1_000_000_000  # the guides' unit


class Verdict(StrEnum):
    """Of a claim."""

    RIGHT = "right"
    PARTLY = "partly"
    WRONG = "**wrong**"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is said, what is found, whether that agrees, and what to do."""

    says: str
    found: str
    verdict: Verdict
    instead: str = ""


def of(*, right: bool) -> Verdict:
    """Right or wrong."""
    return Verdict.RIGHT if right else Verdict.WRONG


def off(said: float, found: float) -> float:
    """By how many percent the saying is above what is found; below where it is negative."""
    return (said - found) / found * 100


def about(said: float, found: float) -> Verdict:
    """Right where the figure is close."""
    return of(right=abs(off(said, found)) <= _CLOSE)


def minimum(said: float, found: float) -> Verdict:
    """Right where so much is enough, partly where it is if GiB are meant; less than the least is no minimum."""
    if said >= found * (1 - _EXACT / 100):
        return about(said, found)
    return Verdict.PARTLY if said * GIB / _GB >= found else Verdict.WRONG


def differs(said: float, found: float) -> str:
    """By how much, in words."""
    percent = off(said, found)
    if abs(percent) < _EXACT:
        return f"exact to {_EXACT} %"
    return f"{abs(percent):.0f} % too {'much' if percent > 0 else 'little'}"


def gb(size: Bytes) -> str:
    """In the guides' unit and in ours."""
    return f"{size / _GB:.1f} GB ({size})"


def in_gb(size: Bytes) -> float:
    """In the guides' unit."""
    return size / _GB
