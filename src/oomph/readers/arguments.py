"""The words of `vllm serve` → flags with their values, as vLLM's parser of that release would take them.

Knows what argparse does with words. Does not know where the words come from, nor what a flag does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from oomph.engines.history import Release
from oomph.engines.vllm.flags.find import dashed, find, known
from oomph.engines.vllm.flags.flag import Flag, Kind
from oomph.engines.vllm.flags.spelling import is_flag, rewritten
from oomph.engines.vllm.flags.takes import bare_or_said, several
from oomph.errors import UnknownFlag, UsageError
from oomph.ledger.settings import Value
from oomph.readers.values import read_value

_LEFT_OUT: Final = frozenset({"...", "…", "[...]", "\\"})


@dataclass(slots=True, kw_only=True)
class Arguments:
    """What the words say: flags by their key, and the words that belong to none."""

    values: dict[str, Value] = field(default_factory=dict)
    alone: list[str] = field(default_factory=list)
    notes: list[str]

    def note(self, said: str) -> None:
        """Say it once."""
        if said not in self.notes:
            self.notes.append(said)


def read_arguments(words: Sequence[str], release: Release, *, notes: list[str]) -> Arguments:
    """Read the words after the shell has split them; refuse what this release would refuse."""
    found = Arguments(notes=notes)
    unknown: list[str] = []
    rest = rewritten(words, release)[::-1]  # the next word is the last
    while rest:
        word = rest.pop()
        if word in _LEFT_OUT:
            found.note("what … stands for is not known, and was left out")
        elif not is_flag(word):
            found.alone.append(word)
        elif word != "--":
            try:
                _take(word, rest, release, found)
            except UnknownFlag as refused:  # the others shall be told with it
                unknown.append(str(refused))
                _skip(rest)
    if unknown:
        raise UnknownFlag("\n  ".join(unknown))
    return found


def _skip(rest: list[str]) -> None:
    """Leave out what may belong to a flag of which nothing is known."""
    while rest and not is_flag(rest[-1]):
        rest.pop()


def _take(written: str, rest: list[str], release: Release, found: Arguments) -> None:
    """Read one flag with the words that belong to it; of two, the last one counts."""
    name, flag, joined = _named(written, release)
    follows = rest[-1] if rest and rest[-1].lower() in {"true", "false"} else None
    word = follows if joined is None else joined
    if word is not None and flag.kind is Kind.SWITCH and not bare_or_said(flag, release):
        _refuse_word(name, flag, word, release)
    values = _values(flag, rest, release) if joined is None else [joined]
    if flag.key in found.values:
        found.note(f"{flag.name} is given more than once: the last one counts")
    if dashed(name) not in known(release):
        found.note(f"{name} was read as {flag.name}")
    found.values[flag.key] = read_value(flag, name, values, release)


def _refuse_word(name: str, flag: Flag, word: str, release: Release) -> NoReturn:
    """A switch of today takes no word; argparse would refuse it, or take it for a model."""
    no = f"--no-{flag.name.removeprefix('--')}"
    off = f"or {no}" if no in known(release) else "or leave it out"
    message = f"{name} {word}: a switch takes no word in vLLM {release} (write {flag.name}, {off})"
    raise UsageError(message)


def _named(word: str, release: Release) -> tuple[str, Flag, str | None]:
    """The flag that a word names, and what is joined to it: `--x=1`, `-q=awq`, `-qawq`."""
    name, equals, value = word.partition("=")
    short = known(release).get(word[:2])
    if short is not None and name not in known(release):
        return word[:2], short, word[2:]
    return name, find(name, release), value if equals else None


def _values(flag: Flag, rest: list[str], release: Release) -> list[str]:
    """Take the words that belong to this flag."""
    most = len(rest) if several(flag, release) else 1
    if flag.kind is Kind.SWITCH and not bare_or_said(flag, release):
        most = 0
    taken: list[str] = []
    while rest and len(taken) < most and not is_flag(rest[-1]):
        taken.append(rest.pop())
    return taken
