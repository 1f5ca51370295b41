"""Words of a command → how the engine is started, with what words, and in which environment.

Knows the ways people start vLLM: `vllm serve`, `python -m …`, a container, and what is put before them. Does not know
the engine's flags.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from oomph.errors import UsageError
from oomph.readers.environment import heard
from oomph.readers.words import assigned

if TYPE_CHECKING:
    from oomph.readers.docker_line import Container

_PYTHON: Final = r"(?:python|pypy)[0-9.]*"
_MODULE: Final = r"vllm\.(?:entrypoints\.(?:[a-z_]+\.)*(?:api_server|cli\.main)|scripts)|vllm"
_SCRIPT: Final = r"(?:.*/)?vllm/entrypoints/(?:[a-z_]+/)*api_server\.py"
_CONTAINERS: Final = frozenset({"docker", "podman", "nerdctl"})
_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ash"})
_QUIET: Final = (  # before an engine, without a say in its memory
    *("sudo", "env", "nohup", "exec", "time", "nice", "ionice", "numactl", "taskset", "setsid", "stdbuf", "timeout"),
    *("uv", "uvx", "poetry", "pixi", "pipx", "conda", "srun", "command", "then", "do", "$", "%", "#"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How an engine is started."""

    words: tuple[str, ...]  # for the engine's own parser
    served: bool = False  # by `vllm serve`, of which the model is a word of its own
    environment: Mapping[str, str] = field(default_factory=dict)
    image: str | None = None
    gpus: int | None = None  # that a container is given
    volumes: Mapping[str, str] = field(default_factory=dict)  # folders in the container, and what they are outside


def find_start(words: Sequence[str], *, notes: list[str], exported: Mapping[str, str] | None = None) -> Start | None:
    """Where the engine begins among wrappers and assignments; None where it does not."""
    before = dict(exported or {})
    for at, word in enumerate(words):
        start = _begun(word.rpartition("/")[2], tuple(words[at:]), before, notes)
        if start is not None:
            _note_wrapper(words[:at], notes)
            return start
        if pair := assigned(word):
            before.update((pair,))
    return None


def bare(words: Sequence[str]) -> Start:
    """Without an engine: a model and flags, or flags alone; a prompt and assignments may stand before them."""
    rest = list(words[1:] if words[:1] and words[0] == "$" else words)
    environment: dict[str, str] = {}
    while rest and (pair := assigned(rest[0])):
        environment.update((pair,))
        rest.pop(0)
    return Start(words=tuple(rest), environment=environment)


def _begun(name: str, words: tuple[str, ...], before: Mapping[str, str], notes: list[str]) -> Start | None:
    """The start, if one begins with this word."""
    if name == "vllm":
        return _vllm(words, before)
    if re.fullmatch(_PYTHON, name):
        return _python(words, before, notes)
    if name in _CONTAINERS and (rest := _run(words[1:])) is not None:
        if lost := [each for each in before if heard(each)]:
            notes.append(f"{', '.join(lost)} before `{name}` does not reach the container: give it with -e")
        return _contained(rest, notes)
    if name in _SHELLS and (script := _script(words)) is not None:
        return _inner(script, before, notes)
    return None


def _vllm(words: tuple[str, ...], before: Mapping[str, str]) -> Start | None:
    if words[1:2] == ("serve",):
        return Start(words=words[2:], served=True, environment=before)
    if words[1:2] and words[1] in {"bench", "chat", "complete", "run-batch", "collect-env", "launch", "snapshot"}:
        message = f"`vllm {words[1]}` is not read: write the `vllm serve …` whose memory is asked for"
        raise UsageError(message)
    return None


def _python(words: tuple[str, ...], before: Mapping[str, str], notes: list[str]) -> Start | None:
    """`python [-u …] -m vllm.entrypoints.… [serve]`, or the module's file."""
    for at, word in enumerate(words[1:], start=1):
        if re.fullmatch(_SCRIPT, word):
            return Start(words=words[at + 1 :], environment=before)
        if word == "-m" and words[at + 1 : at + 2] and re.fullmatch(_MODULE, words[at + 1].lower()):
            module, rest = words[at + 1], words[at + 2 :]
            if not module.islower():
                notes.append(f"{module} was read as {module.lower()}: Python tells capitals from small letters")
            served = rest[:1] == ("serve",)
            return Start(words=rest[1:] if served else rest, served=served, environment=before)
        if not word.startswith("-"):
            return None
    return None


def _run(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words behind `docker [--option] [container] run`."""
    for at, word in enumerate(words):
        if word in {"run", "create"}:
            return words[at + 1 :]
        behind_option = at > 0 and words[at - 1] in {"--context", "-c", "--host", "-H", "--config", "--log-level", "-l"}
        if word != "container" and not word.startswith("-") and not behind_option:
            break
    if words[:1] == ("compose",):
        message = "a Compose file is not read here: name it instead (oomph plan compose.yaml)"
        raise UsageError(message)
    return None


def _contained(words: tuple[str, ...], notes: list[str]) -> Start:
    from oomph.readers.docker_line import read_docker  # noqa: PLC0415 - most start without a container

    return in_container(read_docker(words, notes=notes), notes)


def in_container(container: "Container", notes: list[str]) -> Start:
    """The engine inside a container: the image starts `vllm serve`, unless told otherwise."""
    inside = (*(container.entrypoint or ()), *container.words)
    inner = find_start(inside, notes=notes, exported=container.environment)
    if inner is None and (container.entrypoint or "vllm" not in container.image):
        message = f"{container.image} is not known to start vLLM like this (write what it runs: vllm serve MODEL …)"
        raise UsageError(message)
    if inner is not None and container.entrypoint is None and "vllm-openai" in container.image:
        notes.append("the image starts `vllm serve` by itself: the words that say so again would be refused")
    start = inner or Start(words=container.words, environment=container.environment)
    return replace(start, image=container.image, gpus=container.gpus, volumes=container.volumes)


def _script(words: tuple[str, ...]) -> str | None:
    """What is written behind `bash -c`."""
    for at, word in enumerate(words[1:-1], start=1):
        if re.fullmatch(r"-[a-z]*c", word):
            return words[at + 1]
        if not word.startswith("-"):
            break
    return None


def _inner(script: str, before: Mapping[str, str], notes: list[str]) -> Start | None:
    from oomph.readers.script import read_script  # noqa: PLC0415 - few start like this

    found = read_script(script, notes=notes)
    return replace(found, environment={**before, **found.environment})


def _note_wrapper(words: Sequence[str], notes: list[str]) -> None:
    """Say what was put before the engine, unless it is known to change nothing."""
    said = [word for word in words if not assigned(word)]
    if said and said[0] not in _QUIET:
        notes.append(f"what stands before the engine was left out: {' '.join(said)[:60]}")
