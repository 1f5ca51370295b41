"""Small questions about words of a command: what is unknown in one, what it assigns, and which are only for a shell.

Knows how a hole is marked. Apart from the shell's reader, because words that a shell has split already need no other.
"""

import re
from collections.abc import Sequence
from typing import Final

OPEN: Final = "\ue000"  # around what only a running shell knows; no keyboard writes these two signs
CLOSE: Final = "\ue001"

_OPERATORS: Final = frozenset({"&", "&&", "|", "|&", "||", ";"})
_REDIRECTION: Final = re.compile(r"(?!<.*>$)[0-9]?(?:&>>?|>>?&?|<)(?P<to>.*)")


def hole(written: str) -> str:
    """Stands for what only a running shell would know."""
    return f"{OPEN}{written}{CLOSE}"


def holes(word: str) -> tuple[str, ...]:
    """What a running shell would have put into this word, as it was written: `$MODEL`."""
    return tuple(part.partition(CLOSE)[0] for part in word.split(OPEN)[1:])


def shown(word: str) -> str:
    """The word as it was written."""
    return word.replace(OPEN, "").replace(CLOSE, "")


def assigned(word: str) -> tuple[str, str] | None:
    """Name and value of `NAME=value`."""
    name, equals, value = word.partition("=")
    name = name.removesuffix("+")
    return (name, value) if equals and name.isascii() and name.isidentifier() else None


def for_shell(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of the command, and those by which a shell redirects it, ends it, or goes on after it."""
    kept: list[str] = []
    left: list[str] = []
    for at, word in enumerate(words):
        if word in _OPERATORS:
            return kept, [*left, *words[at:]]
        found = _REDIRECTION.fullmatch(word)
        target = bool(left) and words[at - 1] is left[-1] and _open(left[-1])
        (kept if found is None and not target else left).append(word)
    return kept, left


def _open(word: str) -> bool:
    """Whether what it redirects to is the next word."""
    found = _REDIRECTION.fullmatch(word)
    return found is not None and not found["to"]
