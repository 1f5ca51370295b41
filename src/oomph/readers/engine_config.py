"""The YAML file behind `--config` → the words that the engine makes of it.

Knows how the file is found and its limits. What a release makes of a key stands in engines/vllm/flags/config_file.py.
Of two equal keys the last one counts, as in the engine; that is told in a note.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.flags.config_file import model_may_stand_in_it, written
from oomph.errors import UnreadableError, UsageError

_LIMIT: Final = 1 << 18  # bytes; a config has some dozens of lines
_KEY: Final = re.compile(r"^([A-Za-z_][\w.-]*)[ \t]*:", re.MULTILINE)


def with_config(words: Sequence[str], release: Release, *, notes: list[str]) -> list[str]:
    """Put the words of the file before those of the command line, which win; the model stays first."""
    words = list(words)
    if any(word.startswith("--config=") for word in words):
        notes.append("vLLM does not hear a file that is joined to --config by a sign: write --config FILE")
    if "--config" not in words:
        return words
    at = words.index("--config")
    if words.count("--config") > 1 or at + 1 == len(words):
        message = "--config takes one file, once"
        raise UsageError(message)
    first = 1 if words[0] and not words[0].startswith("-") else 0
    file, rest = words[at + 1], words[:at] + words[at + 2 :]
    return rest[:first] + list(_words(file, release, notes)) + rest[first:]


def _words(file: str, release: Release, notes: list[str]) -> tuple[str, ...]:
    keys = _keys(file, notes)
    if "model" in keys and not model_may_stand_in_it.at(release):
        message = f"{file}: vLLM {release} does not take the model from a file (write it behind `vllm serve`)"
        raise UsageError(message)
    found = written(keys, release)
    notes += [f"{file}: vLLM {release} does not hear {_unheard(key, keys[key])}" for key in found.unheard]
    return found.words


def _unheard(key: str, value: object) -> str:
    instead = f" (write `no-{key.replace('_', '-')}: true`)" if value is False else ""
    return f"`{key}: {str(value).lower()}`{instead}"


def _keys(file: str, notes: list[str]) -> Mapping[str, object]:
    """The keys of the file and their values."""
    if Path(file).suffix not in {".yaml", ".yml"}:
        message = f"--config {file}: vLLM reads only files that end in .yaml or .yml"
        raise UsageError(message)
    text = _text(file)
    twice = [key for key, count in Counter(_KEY.findall(text)).items() if count > 1]
    if twice:
        notes.append(f"{file}: {', '.join(twice)} is given more than once: the last one counts")
    keys = _parsed(text, file)
    if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys):
        message = f"--config {file} holds no keys with values (write `max-model-len: 8192`, one to a line)"
        raise UnreadableError(message)
    return keys


def _text(file: str) -> str:
    try:
        with Path(file).expanduser().open("rb") as opened:
            raw = opened.read(_LIMIT + 1)
        text = raw.decode()
    except (OSError, RuntimeError, ValueError) as error:
        message = f"--config {file} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}"
        raise UsageError(message) from None
    if len(raw) > _LIMIT:
        message = f"--config {file} is larger than any config (is it the right file?)"
        raise UnreadableError(message)
    return text


def _parsed(text: str, file: str) -> object:
    import yaml  # noqa: PLC0415 - only who has such a file pays for it

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where is not None else ""
        message = f"--config {file} is not YAML{line} (check its indents and quotes)"
        raise UnreadableError(message) from None
