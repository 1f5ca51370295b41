"""Folds what each release said into spans: from which release to which one thing was said the same way.

Knows the order of releases. Does not know what is being said.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from packaging.version import Version

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span(Generic[T]):
    """A run of consecutive releases; `last` is None where the newest release read still says it."""

    first: str
    last: str | None
    said: T


def ordered(releases: Iterable[str]) -> list[str]:
    """Oldest first, post releases after what they follow."""
    return sorted(releases, key=Version)


def spans(history: Mapping[str, Mapping[str, T]]) -> dict[str, tuple[Span[T], ...]]:
    """For each name ever met, its runs; a name that vanishes and comes back has a gap between two of them."""
    releases = ordered(history)
    names = sorted({name for said in history.values() for name in said})
    return {name: _runs(releases, history, name) for name in names}


def _runs(releases: list[str], history: Mapping[str, Mapping[str, T]], name: str) -> tuple[Span[T], ...]:
    runs: list[Span[T]] = []
    open_run: tuple[str, str, T] | None = None
    for release in releases:
        said = history[release].get(name)
        if open_run is not None and said == open_run[2]:
            open_run = open_run[0], release, open_run[2]
            continue
        if open_run is not None:
            runs.append(Span(first=open_run[0], last=open_run[1], said=open_run[2]))
        open_run = (release, release, said) if said is not None else None
    if open_run is not None:
        runs.append(Span(first=open_run[0], last=None, said=open_run[2]))
    return tuple(runs)
