"""Numbers of processes → what `/proc` tells of them: name, command line, who started them.

Knows that a name is cut by the kernel and a command line may be a title that the process gave itself, and that command
lines hold secrets. Reads only what every user may read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from oomph.ledger.probe import Ancestor, Process
from oomph.readers.bounded import read_small
from oomph.readers.printable import printable
from oomph.units import KIB

_LONGEST: Final = 512  # characters of a command line
_CUT: Final = 15  # characters of a name that the kernel keeps
_GENERATIONS: Final = 8  # more than lie between a worker and the first process
_DIGITS: Final = 10  # of a number that no process has
_SECRET: Final = frozenset(
    {"apikey", "auth", "authorization", "bearer", "credential", "credentials", "key", "keys", "passphrase", "passwd"}
    | {"password", "pwd", "secret", "secrets", "token"}
)
_ASSIGNED: Final = re.compile(r"(?P<name>-{0,2}[A-Za-z][\w.-]*)=(?P<value>.*)", re.DOTALL)
_KEY: Final = re.compile(r"\b(?:hf_|sk-|ghp_|github_pat_|glpat-|nvapi-|xox[a-z]-)[\w-]{6,}")
_IN_ADDRESS: Final = re.compile(r"(?<=://)[^/\s@]+@")


def described(process: Process, root: Path) -> Process:
    """The process with what is known of it here; its number may be of another namespace, where nothing is."""
    folder = root / "proc" / str(process.pid)
    words = _words(folder)
    name = _name(folder, words)
    if name is None:
        visible = None if read_small(root / "proc/self/stat", 1) is None else False
        return replace(process, own_namespace=visible)
    parent = _parent(folder)
    above = root / "proc" / str(parent)
    return replace(
        process,
        name=name,
        command=printable(" ".join(without_secrets(words)), _LONGEST) or None,
        parent=parent,
        parent_name=None if parent is None else _name(above, _words(above)),
        ancestors=tuple(_ancestors(parent, root)),
        own_namespace=True,
    )


def _ancestors(parent: int | None, root: Path) -> Iterator[Ancestor]:
    """From the parent up, as far as a server's processes go."""
    for _ in range(_GENERATIONS):
        if not parent:
            return
        folder = root / "proc" / str(parent)
        yield Ancestor(pid=parent, name=_name(folder, _words(folder)))
        parent = _parent(folder)


def without_secrets(words: Sequence[str]) -> Iterator[str]:
    """The words of a command line; what looks like a secret is three stars."""
    hidden = False  # the words after `--api-key`, until the next flag
    for word in words:
        hidden = hidden and not word.startswith("-")
        given = _ASSIGNED.fullmatch(word)
        if hidden:
            yield "***"
        elif given is not None and _secret(given["name"]):
            yield f"{given['name']}=***"
        else:
            hidden = word.startswith("-") and _secret(word)
            yield _IN_ADDRESS.sub("***@", _KEY.sub("***", word))


def _secret(name: str) -> bool:
    return not _SECRET.isdisjoint(re.split(r"[-_.]+", name.lower()))


def _words(folder: Path) -> list[str]:
    """Of its command line, which is one word where the process gave itself a title."""
    return [word for word in (read_small(folder / "cmdline", 8 * KIB) or "").split("\0") if word.strip()]


def _name(folder: Path, words: Sequence[str]) -> str | None:
    """The kernel cuts a name after 15 characters; a title that the process gave itself stands whole in its command."""
    short = (read_small(folder / "comm", 64) or "").strip()
    if not short:
        return None
    begun = [part for part in (words[0], words[0].rpartition("/")[2]) if part.startswith(short)] if words else []
    return printable(begun[0].split(" ")[0] if begun and len(short) >= _CUT else short)


def _parent(folder: Path) -> int | None:
    """The fourth word; the second is a name in brackets and may hold anything."""
    after = (read_small(folder / "stat", 4 * KIB) or "").rpartition(")")[2].split()
    return int(after[1]) if len(after) > 1 and after[1].isdecimal() and len(after[1]) < _DIGITS else None
