"""Small questions about one word of a command: what is unknown in it, and what it assigns.

Knows how a hole is marked. Apart from the shell's reader, because words that a shell has split already need no other.
"""

from typing import Final

OPEN: Final = "\ue000"  # around what only a running shell knows; no keyboard writes these two signs
CLOSE: Final = "\ue001"


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
