"""A command as a Compose file.

Knows the Compose Specification as far as one GPU service needs it. Dollars are doubled, because Compose puts variables
in their place. The port is bound to this machine only: the server asks nobody who they are.
"""

from oomph.ledger.command import Command
from oomph.write.manifest.container import CACHE, ENTRYPOINT, TOKEN, Container, contained, title
from oomph.write.yaml_text import Commented, Node, yaml_text


def compose_file(command: Command) -> str:
    """One service; `docker compose up` runs it."""
    inside = contained(command)
    service: dict[str, Node] = {
        "image": inside.image,
        "entrypoint": [*ENTRYPOINT],
        "command": [_doubled(word) for word in inside.words],
        "environment": _environment(inside),
        "ports": [f"127.0.0.1:{inside.port}:{inside.port}"],
        "volumes": [_volume(inside)],
        "ipc": Commented(
            value="host", comment="Ranks talk through /dev/shm, of which a container has 64 MiB otherwise."
        ),
        **_gpus(inside),
        "healthcheck": _health(inside),
        "restart": Commented(
            value="always",
            comment="When its engine dies, vLLM exits with status 0: on-failure would not start it again.",
        ),
        "stop_grace_period": f"{30 + (command.flags.positive('shutdown_timeout') or 0)}s",
    }
    return yaml_text(Commented(value={"services": {"vllm": service}}, comment=f"{title(command)}.\ndocker compose up"))


def _environment(inside: Container) -> Node:
    token = Commented(value=None, comment="From the shell, or from a file .env beside this one; gated models need it.")
    return {TOKEN: token, **{name: _doubled(value) for name, value in inside.variables.items()}}


def _volume(inside: Container) -> Node:
    if inside.folder is None:
        return f"~/.cache/huggingface:{CACHE}"
    outside, within = inside.folder
    return {"type": "bind", "source": _doubled(outside), "target": _doubled(within), "read_only": True}


def _gpus(inside: Container) -> dict[str, Node]:
    if inside.amd:
        return {
            "devices": ["/dev/kfd", "/dev/dri"],
            "group_add": ["video"],
            "security_opt": ["seccomp=unconfined"],
        }
    which: dict[str, Node] = {"device_ids": [*inside.named]} if inside.named else {"count": inside.gpus}
    device: Node = {"driver": "nvidia", **which, "capabilities": ["gpu"]}
    return {"deploy": {"resources": {"reservations": {"devices": [device]}}}}


def _health(inside: Container) -> Node:
    """Weights may have to be downloaded first, and graphs captured: failures before the first success do not count."""
    check = ["CMD", "curl", "-fsSk" if inside.secure else "-fsS", "-o", "/dev/null"]
    return {
        "test": [*check, f"http{'s' if inside.secure else ''}://127.0.0.1:{inside.port}/health"],
        "interval": "10s",
        "timeout": "5s",
        "retries": 3,
        "start_period": Commented(
            value="60m", comment="Until then it may be loading; it is healthy as soon as it answers."
        ),
    }


def _doubled(text: str) -> str:
    return text.replace("$", "$$")
