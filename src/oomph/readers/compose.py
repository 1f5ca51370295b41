"""The services of a Compose file → containers.

Knows short and long forms, and how Compose puts variables in place, from a file `.env` beside it and from defaults.
What only the shell that starts it knows becomes a hole. Does not know what runs in a container.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from oomph.errors import UsageError
from oomph.readers.bounded import read_small
from oomph.readers.docker_line import Container
from oomph.readers.environment import visible
from oomph.readers.words import hole, shown

_VARIABLE: Final = re.compile(
    r"\$(?:(?P<dollar>\$)|(?P<name>[A-Za-z_]\w*)"
    r"|\{(?P<braced>[A-Za-z_]\w*)(?P<how>:?[-+?])?(?P<other>(?:[^{}]|\{[^{}]*\})*)\})"
)
_DEEPEST: Final = 4  # defaults within defaults


def services(found: Mapping[str, object], folder: Path, *, notes: list[str]) -> Iterator[Container]:
    """Each service that has an image."""
    known = dict(_pairs(read_small(folder / ".env") or ""))
    for name, service in found.items():
        if isinstance(service, dict) and isinstance(service.get("image"), str):
            if "extends" in service:
                notes.append(f"services.{name}: what it extends was not read")
            yield _container(str(name), _filled(service, known), folder, notes)


def _container(name: str, service: Mapping[str, object], folder: Path, notes: list[str]) -> Container:
    environment = dict(_environment(name, service, folder, notes))
    entrypoint = service.get("entrypoint")
    return Container(
        image=shown(str(service["image"])),
        entrypoint=None if entrypoint is None else _words(entrypoint, f"services.{name}.entrypoint"),
        words=_words(service.get("command") or [], f"services.{name}.command"),
        environment=environment,
        gpus=_gpus(service) if _asked(service) else visible(environment.get("NVIDIA_VISIBLE_DEVICES")),
        volumes=dict(_volumes(service.get("volumes"), folder)),
    )


def _words(said: object, where: str) -> tuple[str, ...]:
    """A list of words, or a line that is split as a shell does, though none runs it."""
    if isinstance(said, list) and not any(isinstance(each, dict | list) or each is None for each in said):
        return tuple(_text(each) for each in said)
    if isinstance(said, str):
        with suppress(ValueError):  # quotes that do not end
            return tuple(shlex.split(said))
    message = f"{where} is neither a line nor a list of words"
    raise UsageError(message)


def _environment(name: str, service: Mapping[str, object], folder: Path, notes: list[str]) -> Iterator[tuple[str, str]]:
    for file in _listed(service.get("env_file")):
        path = file.get("path") if isinstance(file, dict) else file
        text = read_small(folder / path) if isinstance(path, str) else None
        if text is None:
            notes.append(f"services.{name}: what env_file {path} sets cannot be seen from here")
        yield from _pairs(text or "")
    said = service.get("environment")
    pairs = said.items() if isinstance(said, dict) else (_pair(str(each)) for each in _listed(said))
    for variable, value in pairs:
        if value is None:
            notes.append(f"{variable} comes from the shell that starts the container, and is not seen here")
        else:
            yield str(variable), _text(value)


def _pair(said: str) -> tuple[str, str | None]:
    name, equals, value = said.partition("=")
    return name, value if equals else None


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Lines of `NAME=value`, where the value may stand in quotes."""
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            value = value.strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
            yield name.strip(), value[1:-1] if quoted else value


def _asked(service: Mapping[str, object]) -> list[object]:
    """The devices that it asks for, in either place."""
    place: object = service
    for key in ("deploy", "resources", "reservations", "devices"):
        place = place.get(key) if isinstance(place, dict) else None
    return [*_listed(place), *_listed(service.get("gpus"))]


def _gpus(service: Mapping[str, object]) -> int | None:
    """How many, where that is said in numbers."""
    counts = [_count(device) for device in _asked(service)]
    return None if None in counts else sum(count for count in counts if count is not None)


def _count(device: object) -> int | None:
    if not isinstance(device, dict):
        return None
    named = device.get("device_ids")
    count = str(device.get("count", "all"))
    return len(named) if isinstance(named, list) else int(count) if re.fullmatch("[0-9]{1,3}", count) else None


def _volumes(said: object, folder: Path) -> Iterator[tuple[str, str]]:
    """Folders as the container sees them, and what they are outside; volumes by name lie nowhere that can be seen."""
    for each in _listed(said):
        if isinstance(each, dict):
            outside, inside = str(each.get("source", "")), str(each.get("target", ""))
        else:
            outside, _, inside = str(each).partition(":")
        if outside.startswith(("/", ".", "~")) and inside.startswith("/"):
            where = str(folder / outside) if outside.startswith(".") else outside
            yield inside.partition(":")[0].rstrip("/"), where


def _listed(said: object) -> list[object]:
    return said if isinstance(said, list) else [] if said is None else [said]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _filled(value: object, known: Mapping[str, str]) -> "dict[str, object]":
    """The service with its variables in place, in every text of it."""
    filled = _fill(value, known)
    return filled if isinstance(filled, dict) else {}


def _fill(value: object, known: Mapping[str, str], seen: int = 0) -> object:
    if isinstance(value, str):
        return _interpolated(value, known)
    if seen > 2 * _DEEPEST:  # deeper than anything that is read of a service; also where it holds itself
        return value
    if isinstance(value, dict):
        return {key: _fill(each, known, seen + 1) for key, each in value.items()}
    return [_fill(each, known, seen + 1) for each in value] if isinstance(value, list) else value


def _interpolated(text: str, known: Mapping[str, str], depth: int = 0) -> str:
    def put(found: re.Match[str]) -> str:
        if found["dollar"]:
            return "$"
        value, how = known.get(found["name"] or found["braced"]), found["how"] or ""
        absent = value is None or (":" in how and not value)
        if "+" in how:
            return "" if absent else _interpolated(found["other"], known, depth + 1)
        if absent and "-" in how and depth < _DEEPEST:
            return _interpolated(found["other"], known, depth + 1)
        return hole(f"${found['name'] or found['braced']}") if value is None else value

    return _VARIABLE.sub(put, text)
