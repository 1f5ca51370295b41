"""A command in the form that is asked for.

Knows the names of the forms and their writers. Does not know how any is written.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from oomph.errors import UsageError
from oomph.ledger.command import Command
from oomph.write.manifest.compose import compose_file
from oomph.write.manifest.config_file import config_file
from oomph.write.manifest.docker_line import docker_line
from oomph.write.manifest.env_file import env_file
from oomph.write.manifest.kubernetes import kubernetes_manifests
from oomph.write.manifest.offline_call import offline_call
from oomph.write.manifest.shell_line import vllm_line


class Form(StrEnum):
    """As `--as` names them."""

    VLLM = "vllm"  # a line for a shell
    DOCKER = "docker"  # a line for a shell
    COMPOSE = "compose"
    KUBERNETES = "kubernetes"
    PYTHON = "python"  # offline: LLM(…)
    ENV = "env"  # variables, for a shell or systemd
    CONFIG = "config"  # the file behind `vllm serve --config`


_WRITERS: Final[Mapping[Form, Callable[[Command], str]]] = {
    Form.VLLM: vllm_line,
    Form.DOCKER: docker_line,
    Form.COMPOSE: compose_file,
    Form.KUBERNETES: kubernetes_manifests,
    Form.PYTHON: offline_call,
    Form.ENV: env_file,
    Form.CONFIG: config_file,
}


def written(command: Command, form: str) -> str:
    """Text with a line end; a form that is not known is refused with those that are."""
    if form not in _WRITERS:
        message = f"no form {form!r}: write one of {', '.join(Form)}"
        raise UsageError(message)
    return _WRITERS[Form(form)](command)
