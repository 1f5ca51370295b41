"""Releases, and facts that change at some of them.

Knows how releases are ordered and how a table of changes is read. Does not know any engine's facts: they stand in
each engine's tables, one line per change, and nowhere else is a release compared.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Generic, TypeVar

from oomph.errors import UnknownRelease
from oomph.ledger.ledger import Basis

T = TypeVar("T")

_WRITTEN: Final = re.compile(
    r"v?(?P<numbers>[0-9]{1,4}(?:\.[0-9]{1,4}){1,3})"
    r"(?:(?P<pre>(?:a|b|rc)[0-9]{1,4})|\.post(?P<post>[0-9]{1,4}))?"
    r"(?P<dev>\.dev[0-9]{1,6})?"
    r"(?:\+[A-Za-z0-9.]{1,60})?"  # how it was built: +cu129, +cpu, +g1a2b3c
)


@dataclass(frozen=True, slots=True, order=True)
class Release:
    """A release of an engine by its number; comparable, printed as it is published."""

    key: tuple[int, ...]
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def final(self) -> bool:
        """Published as such: no candidate, no build from between two releases."""
        return self.key[-2] == 0


@cache
def release(text: str) -> Release:
    """Read `0.19.1`, `v0.8.5.post1`, `0.20.0rc1` or a build such as `0.19.1+cu129`."""
    written = _WRITTEN.fullmatch(text.strip())
    if written is None:
        message = f"not a release: {text[:40]!r} (write 0.19.1)"
        raise UnknownRelease(message)
    numbers = [int(number) for number in written["numbers"].split(".")]
    early = -1 if written["pre"] or written["dev"] else 0  # before the release it leads to
    key = (*numbers, *[0] * (4 - len(numbers)), early, int(written["post"] or 0))
    suffix = f"{written['pre'] or ''}{'.post' + written['post'] if written['post'] else ''}{written['dev'] or ''}"
    return Release(key, written["numbers"] + suffix)


class Since(Generic[T]):
    """A fact by the releases at which it changed: `Since({"0.6.0": 0.90, "0.20.0": 0.92})`."""

    __slots__ = ("_from", "_last", "_values")

    def __init__(self, changes: Mapping[str, T]) -> None:
        self._from = [release(text) for text in changes]
        self._values = list(changes.values())
        self._last: tuple[Release, T] | None = None  # asked of, and the answer: the same release is asked of again
        if not self._from or self._from != sorted(set(self._from)):
            message = f"changes must be listed oldest first, each once: {list(changes)}"
            raise ValueError(message)

    def at(self, asked: Release) -> T:
        """The fact as it stands in this release; one newer than the last line keeps that line's answer."""
        last = self._last
        if last is not None and last[0] is asked:
            return last[1]
        index = bisect_right(self._from, asked)
        if index == 0:
            message = f"this is not known for {asked}: what is known of it begins with {self._from[0]}"
            raise UnknownRelease(message)
        self._last = asked, self._values[index - 1]
        return self._values[index - 1]

    def changed(self, asked: Release) -> Release:
        """The release that brought the fact as it stands in this one."""
        return self._from[max(bisect_right(self._from, asked) - 1, 0)]

    def __iter__(self) -> Iterator[tuple[Release, T]]:
        return iter(zip(self._from, self._values, strict=True))


@dataclass(frozen=True, slots=True)
class Span:
    """The releases that have something: from `since` on, up to but without `until`."""

    since: Release
    until: Release | None = None

    def __contains__(self, asked: object) -> bool:
        return isinstance(asked, Release) and self.since <= asked and (self.until is None or asked < self.until)

    def follows(self, asked: Release) -> bool:
        """Whether it begins only after this release."""
        return asked < self.since

    def __str__(self) -> str:
        return f"{self.since} on" if self.until is None else f"{self.since} up to, without, {self.until}"


def span(since: str, until: str | None = None) -> Span:
    """As the tables write it: `span("0.6.0", "0.18.0")` was gone in 0.18.0."""
    return Span(release(since), None if until is None else release(until))


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The releases of one engine that were read, oldest first."""

    engine: str
    releases: tuple[Release, ...]

    @property
    def first(self) -> Release:
        """Before this one, nothing is known."""
        return self.releases[0]

    @property
    def read_through(self) -> Release:
        """After this one, answers are assumed to stay."""
        return self.releases[-1]

    def release(self, text: str) -> Release:
        """The release by its name; refuses what is no release and what is older than the first one read."""
        asked = release(text)
        if asked < self.first:
            message = (
                f"{self.engine} {asked} is older than the first release that was read, {self.first}: "
                f"nothing can be said of it (use --release {self.first} or newer)"
            )
            raise UnknownRelease(message)
        return asked

    def basis(self, asked: Release) -> Basis:
        """How well tables speak for a release: computed where it was read, assumed where it was not."""
        return Basis.COMPUTED if asked in self.releases else Basis.ASSUMED

    def warning(self, asked: Release) -> str | None:
        """What to tell a reader of a release that was not read."""
        if asked in self.releases:
            return None
        if asked > self.read_through:
            return (
                f"{self.engine} {asked} is newer than {self.read_through}, the newest release that was read: "
                f"every figure is assumed to be as it was there"
            )
        return f"{self.engine} {asked} is no published release: every figure is assumed to be as in the one before it"
