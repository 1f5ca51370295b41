"""A pasted start of vLLM, in whatever way people write it → model, flags, environment and release.

Knows which reader a text needs, and imports no other. Does not know what a flag does. What was assumed or repaired on
the way is told in notes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from oomph.engines.history import Release
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.ledger.settings import Flags
from oomph.readers.command import Command

if TYPE_CHECKING:
    from oomph.readers.start import Start

# ruff: noqa: PLC0415 - `oomph plan FOLDER` must not pay for the ways in which commands are written


def read_command(words: Iterable[str], release: Release | None = None) -> Command:
    """Read a command by the flags of its release: the one that is given, else the image's, else the newest known.

    The words are as a shell has split them; a single one with spaces is split here.
    """
    said = list(words)
    alone = said[0] if len(said) == 1 else ""
    if _exists(alone):
        if alone.endswith((".yaml", ".yml")):
            from oomph.readers.manifest import read_manifest

            return read_manifest(alone, release)
        return Command(model=alone, flags=Flags())
    if "(" in alone or "{" in alone:
        from oomph.readers.python_text import is_python

        if is_python(alone):
            from oomph.readers.python_command import read_python

            return read_python(alone, release or HISTORY.read_through)
    return _started(said, release)


def _started(words: Sequence[str], release: Release | None) -> Command:
    from oomph.readers.start import bare, find_start
    from oomph.readers.started import read_started

    notes: list[str] = []
    try:
        if len(words) == 1 and len(words[0].split()) > 1:
            from oomph.readers.script import read_script

            return read_started(read_script(words[0], notes=notes), release, notes)
        if all(word.isascii() and "\r" not in word and not word.isspace() for word in words):
            start = find_start(words, notes=notes) or bare(words)
        else:
            from oomph.readers.script import read_odd_words

            start = read_odd_words(words, notes=notes)
    except RecursionError:
        message = "commands within commands, too deep to be read (write the one that starts the engine)"
        raise UsageError(message) from None
    return read_started(_unshelled(start, notes), release, notes)


def _unshelled(start: "Start", notes: list[str]) -> "Start":
    """Without what stands behind the engine's words for a shell, which would have kept it to itself."""
    from oomph.readers.words import for_shell

    kept, left = for_shell(start.words)
    if not left:
        return start
    notes.append(f"what a shell would do with the command was left out: {' '.join(left)}")
    return replace(start, words=tuple(kept))


def _exists(path: str) -> bool:
    try:
        return bool(path) and Path(path).exists()
    except (OSError, ValueError):  # too long for a path, or no path at all
        return False
