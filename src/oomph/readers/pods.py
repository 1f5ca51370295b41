"""The containers of a manifest of Kubernetes, of whatever kind: every kind that runs pods has lists of containers.

Knows how Kubernetes puts variables in place, and which GPUs and folders a container is given. What a secret or a
running cluster holds becomes a hole. Does not know what runs in a container.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from oomph.errors import UsageError
from oomph.readers.docker_line import Container
from oomph.readers.words import hole

_REFERENCE: Final = re.compile(r"\$(?:(?P<dollar>\$)|\((?P<name>[^()]*)\))")
_GPU: Final = re.compile(r"(?:nvidia\.com/(?:gpu|mig-.+)|amd\.com/gpu|nvidia\.com/gpu\.shared)")
_MOST: Final = 100_000  # mappings and lists that are looked at


def pods(document: Mapping[str, object], *, notes: list[str]) -> Iterator[Container]:
    """Every container, in the order of the file."""
    for spec in _specs(document):
        outside = {str(each.get("name")): each for each in _mappings(spec.get("volumes"))}
        for container in _mappings(spec.get("containers")):
            yield _container(container, outside, notes)


def _specs(document: object) -> Iterator[Mapping[str, object]]:
    """What has containers, however deep; aliases may make a file hold itself."""
    todo, seen = [document], 0
    while todo and seen < _MOST:
        place, seen = todo.pop(), seen + 1
        if isinstance(place, dict):
            if isinstance(place.get("containers"), list):
                yield place
            else:
                todo += reversed(place.values())
        elif isinstance(place, list):
            todo += reversed(place)


def _container(said: Mapping[str, object], outside: Mapping[str, Mapping[str, object]], notes: list[str]) -> Container:
    name = str(said.get("name", "without a name"))
    environment, unknown = _environment(said.get("env"), notes)
    command = said.get("command")
    words = [_expanded(word, environment, unknown) for word in _words(said.get("args"), f"args of container {name}")]
    program = [_expanded(word, environment, unknown) for word in _words(command, f"command of container {name}")]
    if "envFrom" in said:
        notes.append(f"container {name}: what envFrom sets cannot be seen from here")
    return Container(
        image=str(said.get("image", "")),
        entrypoint=None if command is None else tuple(program),
        words=tuple(words),
        environment=environment,
        gpus=_gpus(said.get("resources")),
        volumes=dict(_volumes(said.get("volumeMounts"), outside)),
    )


def _environment(said: object, notes: list[str]) -> tuple[dict[str, str], frozenset[str]]:
    """Variables with a value, which may name those before it, and the names of those whose value lies elsewhere."""
    found: dict[str, str] = {}
    unknown: set[str] = set()
    for each in _mappings(said):
        name, value = str(each.get("name")), each.get("value")
        if value is None and "valueFrom" in each:
            unknown.add(name)
            notes.append(f"{name} comes from the cluster, and is not seen here")
        else:
            found[name] = _expanded("" if value is None else str(value), found, frozenset(unknown))
    return found, frozenset(unknown)


def _expanded(text: str, known: Mapping[str, str], unknown: frozenset[str]) -> str:
    """`$(NAME)` is its value; of a name that nothing sets, it stays as it is written."""

    def put(found: re.Match[str]) -> str:
        if found["dollar"]:
            return "$"
        name = found["name"]
        return known.get(name) or (hole(found[0]) if name in unknown else found[0])

    return _REFERENCE.sub(put, text)


def _words(said: object, where: str) -> tuple[str, ...]:
    if said is None:
        return ()
    if not isinstance(said, list) or any(isinstance(each, dict | list) for each in said):
        message = f"{where}: not a list of words"
        raise UsageError(message)
    return tuple(str(each).lower() if isinstance(each, bool) else str(each) for each in said)


def _gpus(resources: object) -> int | None:
    """As many as the container may have: its limit, else what it asks for."""
    for key in ("limits", "requests"):
        said = resources.get(key) if isinstance(resources, dict) else None
        counts = (
            [str(count) for name, count in said.items() if _GPU.fullmatch(str(name))] if isinstance(said, dict) else []
        )
        if counts and all(re.fullmatch("[0-9]{1,3}", count) for count in counts):
            return sum(map(int, counts))
    return None


def _volumes(mounts: object, outside: Mapping[str, Mapping[str, object]]) -> Iterator[tuple[str, str]]:
    """Folders of the node, as the container sees them; what else is mounted lies nowhere that can be seen."""
    for mount in _mappings(mounts):
        volume = outside.get(str(mount.get("name")), {}).get("hostPath")
        path = volume.get("path") if isinstance(volume, dict) else None
        if isinstance(path, str):
            yield str(mount.get("mountPath", "")).rstrip("/"), path


def _mappings(said: object) -> list[Mapping[str, object]]:
    return [each for each in said if isinstance(each, dict)] if isinstance(said, list) else []
