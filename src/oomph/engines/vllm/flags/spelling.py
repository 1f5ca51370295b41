"""What vLLM does to the words of its command line before argparse sees them.

Knows `FlexibleArgumentParser` by release: `-O3`, and keys of JSON written with dots. Does not know what a flag takes.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from oomph.engines.history import Release, Since
from oomph.engines.vllm.flags.find import dashed
from oomph.engines.vllm.given import human
from oomph.errors import UsageError

_NUMBER: Final = re.compile(r"-[0-9]+|-[0-9]*\.[0-9]+")  # what argparse takes for a number, not for a flag
_Words: TypeAlias = list[str]


def is_flag(word: str) -> bool:
    """Whether argparse would take this word for a flag rather than for a value."""
    return word.startswith("-") and word != "-" and not _NUMBER.fullmatch(word) and " " not in word.partition("=")[0]


def rewritten(words: Sequence[str], release: Release) -> _Words:
    """The words as argparse sees them."""
    return list(_in_one_piece(list(_levels.at(release)(list(words))), release))


def _in_one_piece(words: _Words, release: Release) -> Iterator[str]:
    """Gather `--flag.key value` into JSON; it comes last, and so outdoes the flag that was given in one piece."""
    readers = _dotted.at(release)
    gathered: dict[str, dict[str, object]] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if not (readers and "." in name and is_flag(word)):
            yield word
            continue
        said = value if equals else next(rest, None)
        if said is None:
            message = f"{name} needs a value"
            raise UsageError(message)
        flag, *keys = name.removesuffix("+").split(".")
        found = said.split(",") if name.endswith("+") else _plain(said, readers)
        _merge(gathered.setdefault(dashed(flag), {}), keys, found)
    for flag, inside in gathered.items():
        yield from (flag, json.dumps(inside))


def _plain(said: str, readers: tuple[Callable[[str], object], ...]) -> object:
    """The value as the first reader that understands it reads it."""
    for reader in readers:
        try:
            return reader(said)
        except (ValueError, RecursionError):
            continue
    return said


def _merge(into: dict[str, object], keys: Sequence[str], value: object) -> None:
    """Put a value below its keys; lists grow, anything else is replaced."""
    *above, last = keys
    for key in above:
        inner = into.setdefault(key, {})
        if not isinstance(inner, dict):
            inner = into[key] = {}
        into = inner
    old = into.get(last)
    into[last] = [*old, *value] if isinstance(old, list) and isinstance(value, list) else value


def _as_they_are(words: _Words) -> Iterator[str]:
    yield from words


def _levels_as(name: str) -> Callable[[_Words], Iterator[str]]:
    """`-O3`, `-O=3` and `-O 3` are written out as this flag, or key, of the release."""

    def written_out(words: _Words) -> Iterator[str]:
        keys_stay = name.startswith("-O")
        for at, word in enumerate(words, start=1):
            if word == "-O" and words[at : at + 1] in (["0"], ["1"], ["2"], ["3"]):
                yield name
            elif word.startswith("-O") and word != "-O" and not (keys_stay and word[2] == "."):
                yield from (name, word[2:].removeprefix("="))
            else:
                yield word

    return written_out


def _levels_and_keys(words: _Words) -> Iterator[str]:
    """The release between: levels have a flag of their own, and keys have moved to `-cc`."""
    moved = [word.replace("-O.", "-cc.", 1) if word.startswith("-O.") else word for word in words]
    yield from _levels_as("--optimization-level")(moved)


def _levels_alone(words: _Words) -> Iterator[str]:
    """Levels only: a key behind `-O` is taken for one, and then refused."""
    for word in words:
        if word.startswith("-O."):
            message = f"{word[:60]}: -O takes only a level, 0 to 3 (write -cc{word[2:]})"
            raise UsageError(message)
    yield from _levels_as("--optimization-level")(words)


_levels: Final[Since[Callable[[_Words], Iterator[str]]]] = Since(
    {
        "0.6.0": _as_they_are,  # utils.py
        "0.9.2": _levels_as("-O.level"),  # utils/__init__.py
        "0.11.1": _levels_as("-O.mode"),  # utils/argparse_utils.py
        "0.12.0": _levels_and_keys,  # utils/argparse_utils.py
        "0.13.0": _levels_alone,  # utils/argparse_utils.py
    }
)

# How the value of a key written with a dot is read: by the first that understands it. Nothing: no dots are understood.
_dotted: Final[Since[tuple[Callable[[str], object], ...]]] = Since(
    {
        "0.6.0": (),  # utils.py
        "0.9.0": (str,),  # utils.py
        "0.9.2": (json.loads,),  # utils/__init__.py
        "0.20.0": (json.loads, human),  # utils/argparse_utils.py
    }
)

model_by_flag: Final = Since(  # whether `vllm serve --model X` is understood, not only `vllm serve X`
    {
        "0.6.0": False,  # scripts.py
        "0.11.1": True,  # utils/argparse_utils.py
    }
)
