"""Addresses of engines as people type them: `host:port`, `http://host:port/metrics`, `@file` with one a line.

Knows what may be left out. Asks nobody.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oomph.errors import UsageError
from oomph.units import MIB

_WRITTEN: Final = re.compile(
    r"(?:(?P<scheme>https?)://)?"
    r"(?P<host>\[[0-9A-Fa-f:.%]{2,45}\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9_])?)"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/[A-Za-z0-9._~%+,:=@-]*)*)"
)
_LONGEST: Final = 2_000  # characters of an address
_MOST: Final = 10_000  # addresses
_FILE: Final = 1 * MIB
_PORT: Final = 8000  # where vLLM listens unless told
_LAST_PORT: Final = 65_535
_ONE: Final = "write host:8000 or http://host:8000"
_MANY: Final = "write host:8000, http://host:8000 or @FILE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One server, which may have several engines behind it."""

    name: str  # short, for people: host:port, with the path that a proxy needs
    base: str  # the address without the path of any question

    @property
    def metrics(self) -> str:
        """Where it tells its figures."""
        return f"{self.base}/metrics"

    @property
    def health(self) -> str:
        """Where it says that it lives."""
        return f"{self.base}/health"

    @property
    def models(self) -> str:
        """Where it lists what it serves."""
        return f"{self.base}/v1/models"


def endpoint(text: str, *, ways: str = _ONE) -> Endpoint:
    """One address."""
    written = _WRITTEN.fullmatch(text) if len(text) <= _LONGEST else None
    if written is None or int(written["port"] or 1) not in range(1, _LAST_PORT + 1):
        message = f"not the address of an engine: {text[:60]!r} ({ways})"
        raise UsageError(message)
    scheme = written["scheme"] or "http"
    path = re.sub(r"/(metrics|v1|health)?/*$", "", written["path"].rstrip("/"))
    port = written["port"] or ("443" if scheme == "https" else "80" if written["scheme"] else str(_PORT))
    return Endpoint(name=f"{written['host']}:{port}{path}", base=f"{scheme}://{written['host']}:{port}{path}")


def endpoints(words: Iterable[str]) -> tuple[Endpoint, ...]:
    """All that were typed, each once, in their order."""
    found = {each.base: each for word in words for each in _endpoints(word)}
    if not found:
        message = f"no address of an engine is given ({_MANY})"
        raise UsageError(message)
    if len(found) > _MOST:
        message = f"{len(found):,} addresses are more than one screen can watch: {_MOST:,} at the most"
        raise UsageError(message)
    return tuple(found.values())


def _endpoints(word: str) -> Iterator[Endpoint]:
    if not word.startswith("@"):
        yield endpoint(word, ways=_MANY)
        return
    for number, line in enumerate(_read(word[1:]).splitlines(), start=1):
        address = line.partition("#")[0].strip()
        if address:
            try:
                yield endpoint(address)
            except UsageError as wrong:
                message = f"line {number} of {word[1:]}: {wrong}"
                raise UsageError(message) from None


def _read(name: str) -> str:
    try:
        with Path(name).open("rb") as file:
            raw = file.read(_FILE + 1)
    except (OSError, ValueError) as trouble:
        message = f"the addresses in {name} cannot be read: {getattr(trouble, 'strerror', None) or trouble}"
        raise UsageError(message) from None
    if len(raw) > _FILE:
        message = f"{name} is larger than any list of addresses ({_FILE:,} bytes)"
        raise UsageError(message)
    return raw.decode(errors="replace")
