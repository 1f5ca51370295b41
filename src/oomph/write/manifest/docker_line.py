"""A command as `docker run …`.

Knows what a container of vLLM needs to be given: GPUs, shared memory, the cache of models, a token by its name. The
port is bound to this machine only: the server asks nobody who they are.
"""

import shlex
from collections.abc import Iterator

from oomph.ledger.command import Command
from oomph.write.manifest.container import CACHE, ENTRYPOINT, TOKEN, Container, contained
from oomph.write.manifest.shell_line import broken


def docker_line(command: Command) -> str:
    """Options, the image, and the engine's words, one to a line."""
    inside = contained(command)
    program, *rest = ENTRYPOINT
    run = shlex.join((inside.image, *rest, inside.model))
    return broken(["docker run --rm", *_options(inside), f"--entrypoint {program}", run], map(shlex.join, inside.flags))


def _options(inside: Container) -> Iterator[str]:
    yield from _gpus(inside)
    yield "--ipc=host"  # /dev/shm of a container has 64 MiB otherwise
    yield f"-p 127.0.0.1:{inside.port}:{inside.port}"
    if inside.folder is None:
        yield f"-v ~/.cache/huggingface:{CACHE}"
    else:
        outside, within = inside.folder
        yield f"-v {_home(outside)}:{shlex.quote(within)}:ro"
    yield f"-e {TOKEN}"
    yield from (f"-e {shlex.quote(f'{name}={value}')}" for name, value in inside.variables.items())


def _gpus(inside: Container) -> Iterator[str]:
    if inside.amd:  # docs/getting_started/installation of vLLM
        yield "--device /dev/kfd --device /dev/dri --group-add video --security-opt seccomp=unconfined"
    elif inside.named:
        yield f"--gpus {shlex.quote(_quoted('device=' + ','.join(inside.named)))}"
    else:
        yield f"--gpus {inside.gpus}"


def _quoted(value: str) -> str:
    """Docker splits the value at commas, as in a CSV file, unless it stands in quotes of its own."""
    return f'"{value}"' if "," in value else value


def _home(path: str) -> str:
    """Quoted, but for the sign that a shell puts the user's home for."""
    return f"~/{shlex.quote(path[2:])}" if path.startswith("~/") else shlex.quote(path)
