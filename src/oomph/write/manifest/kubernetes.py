"""A command as manifests for Kubernetes: a claim for downloaded models, a Deployment, and a Service.

Knows what vLLM needs of a cluster, and what trips it there. Dollars are doubled, because `$(NAME)` is replaced. Does
not know the cluster: its storage, its nodes' labels, who may reach the service.
"""

import math
import re
from typing import Final

from oomph.errors import UsageError
from oomph.ledger.command import Command
from oomph.units import GIB
from oomph.write.manifest.container import CACHE, ENTRYPOINT, TOKEN, Container, contained, title
from oomph.write.yaml_text import Commented, Node, yaml_text

_SECRET: Final = "hf-token"  # noqa: S105 - the name of a secret, not the secret
_UNKNOWN: Final = 200  # GiB asked for, where the size of the checkpoint is not known
_SPARE: Final = 1.25  # of the checkpoint: a download is kept beside what it becomes
_LONGEST: Final = 50  # signs of a name; 63 are allowed, and pods add some
_STOP: Final = 60  # seconds


def kubernetes_manifests(command: Command) -> str:
    """Documents for `kubectl apply -f`."""
    inside = contained(command)
    name = _name(command.model)
    claim = [] if inside.folder else [_claim(name, command)]
    first, *others = (*claim, _deployment(name, command, inside), _service(name))
    secret = f"kubectl create secret generic {_SECRET} --from-literal=token=…  # for a gated model"
    head = f"{title(command)}.\n{secret}\nkubectl apply -f FILE"
    return yaml_text(Commented(value=first, comment=head), *others)


def _claim(name: str, command: Command) -> "dict[str, Node]":
    known = command.files is not None
    size = math.ceil(command.files / GIB * _SPARE) if command.files is not None else _UNKNOWN
    why = "The checkpoint, and room to download it." if known else "More than the checkpoint has: adjust it."
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": f"{name}-cache", "labels": _labels(name)},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": Commented(value=f"{size}Gi", comment=why)}},
        },
    }


def _deployment(name: str, command: Command, inside: Container) -> "dict[str, Node]":
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": _labels(name)},
        "spec": {
            "replicas": 1,
            "strategy": Commented(
                value={"type": "Recreate"}, comment="A second pod beside the first would find no free GPU."
            ),
            "selector": {"matchLabels": _labels(name)},
            "template": {"metadata": {"labels": _labels(name)}, "spec": _pod(name, command, inside)},
        },
    }


def _pod(name: str, command: Command, inside: Container) -> "dict[str, Node]":
    return {
        "enableServiceLinks": Commented(
            value=False,
            comment="A service called vllm would set VLLM_PORT to an address, which vLLM takes for its own.",
        ),
        "terminationGracePeriodSeconds": _STOP + (command.flags.positive("shutdown_timeout") or 0),
        "containers": [_container(inside)],
        "volumes": [
            {"name": "models", **_models(name, inside)},
            {
                "name": "shm",
                "emptyDir": Commented(
                    value={"medium": "Memory", "sizeLimit": f"{inside.shared}Gi"},
                    comment="Ranks talk through it; a container has 64 MiB otherwise.",
                ),
            },
        ],
    }


def _container(inside: Container) -> "dict[str, Node]":
    check: Node = {"path": "/health", "port": "http", **({"scheme": "HTTPS"} if inside.secure else {})}
    return {
        "name": "vllm",
        "image": inside.image,
        "command": [*ENTRYPOINT],
        "args": [_doubled(word) for word in inside.words],
        "env": [
            {"name": TOKEN, "valueFrom": {"secretKeyRef": {"name": _SECRET, "key": "token", "optional": True}}},
            *({"name": variable, "value": _doubled(value)} for variable, value in inside.variables.items()),
        ],
        "ports": [{"name": "http", "containerPort": inside.port}],
        "resources": {"limits": {"amd.com/gpu" if inside.amd else "nvidia.com/gpu": inside.gpus}},
        "startupProbe": Commented(
            value={"httpGet": check, "periodSeconds": 10, "failureThreshold": 360},
            comment="An hour to download, load and capture; a pod that is killed earlier begins again from nothing.",
        ),
        "readinessProbe": {"httpGet": check, "periodSeconds": 5, "timeoutSeconds": 5},
        "volumeMounts": [
            {"name": "models", **_mount(inside)},
            {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108 - in the container
        ],
    }


def _models(name: str, inside: Container) -> "dict[str, Node]":
    """What is downloaded is kept; a model that lies on the node is read from there."""
    if inside.folder is None:
        return {"persistentVolumeClaim": {"claimName": f"{name}-cache"}}
    outside, _ = inside.folder
    if not outside.startswith("/"):
        message = f"{outside} is no place on a node of the cluster (write the whole path, or a model of the Hub)"
        raise UsageError(message)
    return {"hostPath": {"path": outside, "type": "Directory"}}


def _mount(inside: Container) -> "dict[str, Node]":
    return {"mountPath": CACHE} if inside.folder is None else {"mountPath": inside.folder[1], "readOnly": True}


def _service(name: str) -> "dict[str, Node]":
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": _labels(name)},
        "spec": {
            "type": Commented(
                value="ClusterIP", comment="Within the cluster only: the server asks nobody who they are."
            ),
            "selector": _labels(name),
            "ports": [{"name": "http", "port": 80, "targetPort": "http"}],
        },
    }


def _labels(name: str) -> "dict[str, Node]":
    return {"app.kubernetes.io/name": name}


def _name(model: str) -> str:
    """As Kubernetes takes it: `Qwen/Qwen3-8B` is qwen3-8b; it begins with a letter, as services must."""
    last = model.rstrip("/").rpartition("/")[2].lower()
    label = re.sub(r"[^a-z0-9]+", "-", last)[:_LONGEST].strip("-")
    return label if label[:1].isalpha() else f"model-{label}".strip("-")


def _doubled(text: str) -> str:
    return text.replace("$", "$$")
