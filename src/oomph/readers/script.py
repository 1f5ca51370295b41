"""Text made for a shell, as it was pasted → the start of an engine in it.

Knows which of several commands is meant. Does not know how a command is split, nor how an engine is started.
"""

from collections.abc import Sequence
from typing import Final

from oomph.errors import UsageError
from oomph.readers.pasted import as_text, repaired
from oomph.readers.shell import commands
from oomph.readers.start import Start, bare, find_start
from oomph.readers.words import assigned

_LONGEST: Final = 100_000  # signs of a paste; a script that starts an engine has some thousands


def read_script(text: str, *, notes: list[str]) -> Start:
    """The first command that starts an engine; without one, flags alone, or a model and flags."""
    if len(text) > _LONGEST:
        message = f"{len(text):,} signs are more than a command has (paste only the one that starts the engine)"
        raise UsageError(message)
    exported: dict[str, str] = {}
    starts: list[Start] = []
    others: list[tuple[str, ...]] = []
    for words in commands(repaired(text, notes=notes), notes=notes):
        if words[0] == "export":
            exported.update(pair for word in words[1:] if (pair := assigned(word)))
        elif start := find_start(words, notes=notes, exported=exported):
            starts.append(start)
        else:
            others.append(words)
    if len(starts) > 1:
        notes.append(f"{len(starts)} commands start an engine: the first one was read")
    return starts[0] if starts else bare(_likely(others))


def read_odd_words(words: Sequence[str], *, notes: list[str]) -> Start:
    """Words that a shell split where it should not have: typographic quotes are none to it."""
    return read_script(as_text(words), notes=notes)


def _likely(others: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Of commands that start no engine, the one that looks like its flags."""
    with_flags = [words for words in others if any(word.startswith("-") for word in words)]
    return next(iter(with_flags or others), ())
