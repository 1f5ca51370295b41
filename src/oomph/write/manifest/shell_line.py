"""A command as a line for a shell: `vllm serve MODEL --flag value …`.

Knows quoting and where a long line is broken. The spelling of flags is `words`'.
"""

import shlex
from collections.abc import Iterable
from typing import Final

from oomph.ledger.command import Command
from oomph.write.manifest.words import arguments, environment

_WIDE: Final = 100  # signs that still stand on one line


def vllm_line(command: Command) -> str:
    """Variables first, then the engine, then one flag to a line where they do not fit on one."""
    return broken([started(command, (command.model,))], map(shlex.join, arguments(command)))


def started(command: Command, words: Iterable[str]) -> str:
    """The engine, with its variables before it."""
    before = [f"{name}={shlex.quote(value)}" for name, value in environment(command).items()]
    return " ".join((*before, shlex.join(("vllm", "serve", *words))))


def broken(head: list[str], flags: Iterable[str]) -> str:
    """One line where it fits, else one part to a line, with a line end."""
    parts = [*head, *flags]
    line = " ".join(parts)
    return f"{line}\n" if len(line) <= _WIDE else " \\\n  ".join(parts) + "\n"
