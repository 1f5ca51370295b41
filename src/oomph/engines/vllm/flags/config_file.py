"""The keys of a `--config` file → the words that vLLM makes of them before it reads its command line.

Knows how each release writes out booleans, lists and nested keys, with what is lost on the way. Does not read files.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from oomph.engines.history import Release, Since
from oomph.engines.vllm.flags.find import dashed, known
from oomph.engines.vllm.flags.flag import SWITCH
from oomph.engines.vllm.flags.takes import bare_or_said

Keys: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The words of a file, and the keys whose value none of them carries."""

    words: tuple[str, ...]
    unheard: tuple[str, ...]


def written(keys: Keys, release: Release) -> Written:
    """What this release makes of the file; a key without words is one that it leaves out in silence."""
    parts = {key: tuple(_writer.at(release)(key, value, release)) for key, value in keys.items()}
    return Written(
        words=tuple(word for words in parts.values() for word in words),
        unheard=tuple(key for key, words in parts.items() if not words),
    )


def _as_text(key: str, value: object, release: Release) -> Iterator[str]:
    """Everything as Python prints it, a switch too."""
    del release
    yield from (f"--{key}", str(value))


def _switches(key: str, value: object, release: Release) -> Iterator[str]:
    """A switch that is on stands alone and one that is off says nothing, unless it takes a word."""
    flag = known(release).get(dashed(f"--{key}"))
    takes_a_word = flag is not None and flag.kind is SWITCH and key == flag.key and bare_or_said(flag, release)
    if not isinstance(value, bool) or takes_a_word:
        yield from _as_text(key, value, release)
    elif value:
        yield f"--{key}"


def _lists(key: str, value: object, release: Release) -> Iterator[str]:
    """A list is all its words after one name."""
    if not isinstance(value, list):
        yield from _switches(key, value, release)
    elif value:
        yield from (f"--{key}", *map(str, value))


def _nested(key: str, value: object, release: Release) -> Iterator[str]:
    """Keys below a key are JSON."""
    if isinstance(value, dict):
        yield from (f"--{key}", json.dumps(value, default=str))
    else:
        yield from _lists(key, value, release)


def _negations(key: str, value: object, release: Release) -> Iterator[str]:
    """A switch that is off is written out, but only where its key is written with dashes."""
    if value is not False:
        yield from _nested(key, value, release)
    elif f"--no-{key}" in known(release):
        yield f"--no-{key}"


_writer: Final[Since[Callable[[str, object, Release], Iterator[str]]]] = Since(
    {
        "0.6.0": _as_text,  # utils.py
        "0.6.4": _switches,  # utils.py
        "0.10.2": _lists,  # utils/__init__.py
        "0.16.0": _nested,  # utils/argparse_utils.py
        "0.28.0": _negations,  # utils/argparse_utils.py
    }
)

model_may_stand_in_it: Final = Since(
    {
        "0.6.0": False,  # utils.py
        "0.8.3": True,  # utils.py
    }
)
