"""A command → the words of `vllm serve`, and the variables before them.

Knows how each release spells a flag and takes its value; one that the release does not have is refused, with what took
its place. Does not know where the words go.
"""

from collections.abc import Iterator
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.flags.find import find, known
from oomph.engines.vllm.flags.flag import Flag, Kind
from oomph.engines.vllm.flags.takes import bare_or_said, several
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UnknownFlag, UsageError
from oomph.ledger.command import Command
from oomph.ledger.settings import Value

_UNTOLD: Final = frozenset({"model", "model_tag", "config", "api_key", "hf_token"})  # said elsewhere, or secret


def release_of(command: Command) -> Release:
    """The release by whose tables the command is written."""
    return HISTORY.release(command.release)


def given(command: Command) -> Iterator[tuple[Flag, Value]]:
    """Every flag that says something, as its release knows it, in the order in which they were given."""
    release = release_of(command)
    for name, value in command.flags.items():
        if not name.isupper() and name not in _UNTOLD and value not in (None, ""):
            yield _flag(name, release), value


def _flag(name: str, release: Release) -> Flag:
    """By its whole name: one cut short is a slip here, though the engine would understand it."""
    written = f"--{name.replace('_', '-')}"
    flag = find(written, release)
    if written not in known(release):
        message = f"vLLM {release} has no {written}: did you mean {flag.name}?"
        raise UnknownFlag(message)
    return flag


def environment(command: Command) -> dict[str, str]:
    """The variables, as text."""
    said = {name: value for name, value in command.flags.items() if name.isupper() and value not in (None, "")}
    if odd := [name for name in said if not (name.isascii() and name.isidentifier())]:
        message = f"{odd[0]!r} is no name of a variable"
        raise UsageError(message)
    return {name: _text(value) for name, value in said.items()}


def arguments(command: Command, *, without: frozenset[str] = frozenset()) -> tuple[tuple[str, ...], ...]:
    """Each flag with its words, but those whose key is left out; one that only says what holds anyway has none."""
    release = release_of(command)
    spelled = (tuple(_words(flag, value, release)) for flag, value in given(command) if flag.key not in without)
    return tuple(words for words in spelled if words)


def joined(words: tuple[str, ...]) -> tuple[str, ...]:
    """A flag and its only word as one: a line less in a list of words."""
    return (f"{words[0]}={words[1]}",) if len(words) == 2 else words  # noqa: PLR2004 - a flag and a word


def _words(flag: Flag, value: Value, release: Release) -> Iterator[str]:
    if flag.kind is Kind.SWITCH:
        yield from _switch(flag, value, release)
        return
    words = separate(flag, value, release)
    dashed = [word for word in words if word.startswith("-") and not word[1:].isdecimal()]
    if len(words) > 1 and dashed:
        message = f"{flag.name} {' '.join(words)}: of several words none may begin with a dash"
        raise UsageError(message)
    if dashed:
        yield f"{flag.name}={words[0]}"  # else argparse takes the value for the next flag
    elif words:
        yield from (flag.name, *words)


def _switch(flag: Flag, value: Value, release: Release) -> Iterator[str]:
    """On: its name. Off: its negation, or False where it takes a word; else off is what it is without being named."""
    no = f"--no-{flag.name.removeprefix('--')}"
    if value is True:
        yield flag.name
    elif value is False and no in known(release):
        yield no
    elif value is False and bare_or_said(flag, release):
        yield from (flag.name, "False")
    elif value is not False:
        message = f"{flag.name} {value}: a switch is on or off"
        raise UsageError(message)


def separate(flag: Flag, value: Value, release: Release) -> tuple[str, ...]:
    """The words of a value: one, unless the flag takes several."""
    if isinstance(value, tuple):
        return tuple(map(str, value))
    return tuple(value.split()) if isinstance(value, str) and several(flag, release) else (_text(value),)


def _text(value: Value) -> str:
    match value:
        case bool():
            return str(int(value))
        case tuple():
            return ",".join(map(str, value))
        case _:
            return str(value)
