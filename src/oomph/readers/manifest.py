"""A Compose file, or manifests of Kubernetes → the command that its container of vLLM runs.

Knows how such a file is found, how much of it is read, and which of its containers is meant. What a container says is
read by `compose` and `pods`; a file of keys alone is what `vllm serve --config` takes. Nothing is run or looked up in a
cluster: what only a running one knows is told, and refused where it weighs.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from oomph.engines.history import Release
from oomph.errors import UnreadableError, UsageError
from oomph.readers.command import Command
from oomph.readers.compose import services
from oomph.readers.docker_line import Container
from oomph.readers.pods import pods
from oomph.readers.start import Start, find_start, in_container
from oomph.readers.started import read_started
from oomph.readers.words import holes

_LIMIT: Final = 1 << 18  # bytes; a manifest has some hundreds of lines
_ALIAS: Final = re.compile(r"(?:^|[\s,\[{:-])\*[A-Za-z0-9_]", re.MULTILINE)
_SCRIPT_NEXT: Final = re.compile(r"-[a-z]*c")
_MOST_ALIASES: Final = 200
_MOST_MERGED: Final = 1000  # keys of one mapping, after others were merged into it


def read_manifest(file: str, release: Release | None) -> Command:
    """The command of the first container that starts vLLM."""
    documents = _documents(_text(file), file)
    notes: list[str] = []
    containers = [each for document in documents for each in _containers(document, Path(file).parent, file, notes)]
    starts = [start for each in containers if (start := _start(each, notes)) is not None]
    if not containers and len(documents) == 1 and _is_config(documents[0]):
        return read_started(Start(words=("--config", file), served=True), release, notes)
    if not starts:
        images = ", ".join(dict.fromkeys(each.image or "no image" for each in containers)) or "no container at all"
        message = f"{file}: no container of vLLM is in it, but {images[:200]} (write what it runs: vllm serve MODEL …)"
        raise UsageError(message)
    if len(starts) > 1:
        notes.append(f"{file}: {len(starts)} containers start vLLM: the first one was read")
    return read_started(starts[0], release, notes)


def _containers(document: object, folder: Path, file: str, notes: list[str]) -> Iterator[Container]:
    if not isinstance(document, dict):
        return
    try:
        if isinstance(document.get("services"), dict):
            yield from services(document["services"], folder, notes=notes)
        else:
            yield from pods(document, notes=notes)
    except UsageError as wrong:
        message = f"{file}: {wrong}"
        raise UsageError(message) from None


def _start(container: Container, notes: list[str]) -> Start | None:
    """How it starts vLLM; None for a container of something else."""
    program = container.entrypoint or ()
    words = _told((*program, *container.words), container.environment)
    if find_start(words, notes=[]) is None and ("vllm" not in container.image or program):
        return None
    entrypoint = None if container.entrypoint is None else words[: len(program)]
    return in_container(replace(container, entrypoint=entrypoint, words=words[len(program) :]), notes)


def _told(words: tuple[str, ...], environment: Mapping[str, str]) -> tuple[str, ...]:
    """A script for a shell is told the variables of its container, because it puts them in place itself."""
    from shlex import quote  # noqa: PLC0415 - few have a script

    for at, word in enumerate(words[:-1]):
        if _SCRIPT_NEXT.fullmatch(word):
            names = [name for name in environment if name.isidentifier() and not holes(environment[name])]
            exports = "".join(f"export {name}={quote(environment[name])}\n" for name in names)
            return (*words[: at + 1], exports + words[at + 1], *words[at + 2 :])
    return words


def _is_config(document: object) -> bool:
    """Keys with values, none of which makes it a file of something else."""
    return isinstance(document, dict) and bool(document) and not {"apiVersion", "kind", "services"} & document.keys()


def _text(file: str) -> str:
    try:
        with Path(file).open("rb") as opened:
            raw = opened.read(_LIMIT + 1)
        text = raw.decode()
    except (OSError, ValueError) as error:
        message = f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}"
        raise UnreadableError(message) from None
    if len(raw) > _LIMIT:
        message = f"{file} is larger than any manifest (is it the right file?)"
        raise UnreadableError(message)
    if (found := [*_ALIAS.finditer(text)])[_MOST_ALIASES:]:
        line = text.count("\n", 0, found[_MOST_ALIASES].start()) + 1
        message = f"{file}, line {line}: more aliases than any manifest has (write the values out)"
        raise UnreadableError(message)
    return text


def _documents(text: str, file: str) -> list[object]:
    import yaml  # noqa: PLC0415 - only who has such a file pays for it

    class Loader(yaml.SafeLoader):
        """As safe as it is called, also with mappings that merge each other until no memory is left."""

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            super().flatten_mapping(node)
            if len(node.value) > _MOST_MERGED:
                raise yaml.constructor.ConstructorError(None, None, "too much is merged", node.start_mark)

    try:
        return list(yaml.load_all(text, Loader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where is not None else ""
        why = " (a template of Helm must be rendered first: helm template)" if "{{" in text else ""
        message = f"{file}{line}: not YAML that can be read{why or ' (check its indents and quotes)'}"
        raise UnreadableError(message) from None
