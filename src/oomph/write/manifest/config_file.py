"""A command as the file behind `vllm serve --config FILE`.

Knows how releases read such a file: one key for each flag, JSON as text, a switch that is off by the name of its
negation. Variables cannot stand in it, so they are said in the comment on top. What a release cannot hear from a file
is refused: several words behind one flag up to 0.10.1, switches up to 0.6.3.
"""

import re
from typing import Final

from oomph.engines.vllm.flags.config_file import model_may_stand_in_it, written
from oomph.errors import UsageError
from oomph.ledger.command import Command
from oomph.write.manifest.container import title
from oomph.write.manifest.shell_line import started
from oomph.write.manifest.words import arguments, release_of
from oomph.write.yaml_text import Commented, Node, yaml_text

_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FRACTION: Final = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")


def config_file(command: Command) -> str:
    """One key to a line, and on top how it is used."""
    inside = model_may_stand_in_it.at(release_of(command))
    keys: dict[str, Node] = {"model": command.model} if inside else {}
    for words in arguments(command):
        keys |= _pair(words, command)
    use = started(command, () if inside else (command.model,))
    return yaml_text(Commented(value=keys, comment=f"{title(command)}.\n{use} --config FILE"))


def _pair(words: tuple[str, ...], command: Command) -> dict[str, Node]:
    """The flag without its dashes; refused where this release would make other words of it."""
    name, equals, joined = words[0].partition("=")
    values = [_number(word) for word in (joined, *words[1:])[0 if equals else 1 :]]
    key: Node = True if not values else values if len(values) > 1 else values[0]
    pair = {name.removeprefix("--"): key}
    if equals or written(pair, release_of(command)).words != words:
        message = f"vLLM {command.release} cannot be given {' '.join(words)[:60]} in a file (take the form vllm)"
        raise UsageError(message)
    return pair


def _number(word: str) -> Node:
    if _WHOLE.fullmatch(word):
        return int(word)
    return float(word) if _FRACTION.fullmatch(word) and str(float(word)) == word else word
