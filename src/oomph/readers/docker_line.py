"""The words behind `docker run` → image, environment, GPUs, folders, and the words for the engine.

Knows which options of docker, podman and nerdctl take a value. Does not know what is in an image. Reads `--env-file`s.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from oomph.errors import UsageError
from oomph.readers.environment import visible

_ALONE: Final = frozenset(
    {
        "--detach",
        "--interactive",
        "--tty",
        "--rm",
        "--init",
        "--privileged",
        "--publish-all",
        "--read-only",
        "--no-healthcheck",
        "--quiet",
        "--oom-kill-disable",
        "--sig-proxy",
        "--disable-content-trust",
        "--replace",
        "--help",
        "--no-hosts",
        "--no-hostname",
        "--rmi",
        "--read-only-tmpfs",
        "--http-proxy",
        "--tls-verify",
        "--use-api-socket",
    }
)
_ALONE_SHORT: Final = frozenset("ditPq")
_ENV_FILE_LIMIT: Final = 1 << 16
_DEVICES: Final = re.compile(r"device=(?P<names>[^\"'=]+?)(?:[\"']|,[a-z]+=|$)")
_CDI: Final = re.compile(r"nvidia\.com/gpu=(?P<name>.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What a `docker run` line asks for."""

    image: str
    entrypoint: tuple[str, ...] | None  # None leaves it to the image
    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    gpus: int | None = None
    volumes: Mapping[str, str] = field(default_factory=dict)


def read_docker(words: tuple[str, ...], *, notes: list[str]) -> Container:
    """Read the options, the image, and what stands behind it."""
    options, rest = _options(words)
    if not rest:
        message = "no image is named behind `docker run` (was the end of the line lost?)"
        raise UsageError(message)
    environment: dict[str, str] = {}
    for name, value in options:
        if name == "--env-file":
            environment.update(_env_file(value, notes))
    for name, value in options:
        if name in {"-e", "--env"}:
            environment.update(_variable(value, notes))
    return Container(
        image=rest[0],
        entrypoint=_entrypoint(options),
        words=rest[1:],
        environment=environment,
        gpus=_gpus(options, environment),
        volumes=dict(_volumes(options)),
    )


def _entrypoint(options: list[tuple[str, str]]) -> tuple[str, ...] | None:
    """What is run instead of the image's own choice; an empty one leaves it to the words behind the image."""
    said = [value for name, value in options if name == "--entrypoint"]
    return None if not said else tuple(filter(None, said[-1:]))


def _options(words: tuple[str, ...]) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Options with their values, up to the first word that is none: the image."""
    options: list[tuple[str, str]] = []
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        name, equals, value = words[at].partition("=")
        if not name.startswith("--"):
            name, value = _cluster(words[at])
            equals = value
        takes_next = not equals and name not in _ALONE and bool(name)
        if takes_next:
            value = words[at + 1] if at + 1 < len(words) else ""
        options.append((name, value))
        at += 2 if takes_next else 1
    return options, words[at:]


def _cluster(word: str) -> tuple[str, str]:
    """Short options may be joined: `-it`, `-itp 8000:8000`, `-p8000:8000`; an empty name takes no value."""
    for at, letter in enumerate(word[1:], start=1):
        if letter not in _ALONE_SHORT:
            return f"-{letter}", word[at + 1 :].removeprefix("=")
    return "", ""


def _variable(said: str, notes: list[str]) -> Iterator[tuple[str, str]]:
    name, equals, value = said.partition("=")
    if equals:
        yield name, value
    else:
        notes.append(f"{name} comes from the shell that starts the container, and is not seen here")


def _env_file(path: str, notes: list[str]) -> Iterator[tuple[str, str]]:
    """Lines of `NAME=value`; a file that is not here cannot be seen."""
    try:
        with Path(path).expanduser().open("rb") as file:
            text = file.read(_ENV_FILE_LIMIT).decode()
    except (OSError, ValueError, RuntimeError):
        notes.append(f"what --env-file {path} sets cannot be seen from here")
        return
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            yield name.strip(), value


def _gpus(options: list[tuple[str, str]], environment: Mapping[str, str]) -> int | None:
    """How many GPUs the container is given, where that is said in numbers."""
    handed = [found["name"] for _, value in options if (found := _CDI.fullmatch(value))]
    if handed and "all" not in handed:
        return len(handed)
    for name, value in options:
        if name == "--gpus":
            return _asked(value)
    return visible(environment.get("NVIDIA_VISIBLE_DEVICES"))


def _asked(value: str) -> int | None:
    """`2`, `count=2`, `device=0`, `"device=0,1"`; `all` says nothing."""
    if named := _DEVICES.search(value):
        return len([name for name in named["names"].split(",") if name])
    counted = re.match(r"(?:count=)?([0-9]{1,3})(?:,|$)", value.strip("\"'"))
    return int(counted[1]) if counted else None


def _volumes(options: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Folders as the container sees them, and what they are outside."""
    for name, value in options:
        if name in {"-v", "--volume"}:
            outside, _, inside = value.partition(":")
            if inside.startswith("/"):
                yield inside.partition(":")[0].rstrip("/"), outside
        elif name == "--mount":
            parts = dict(part.partition("=")[::2] for part in value.split(","))
            inside = parts.get("target") or parts.get("destination") or parts.get("dst") or ""
            outside = parts.get("source") or parts.get("src") or ""
            if inside and outside:
                yield inside.rstrip("/"), outside
