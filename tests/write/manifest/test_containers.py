"""Compose files and manifests of Kubernetes hold against the schemas of both, and say what was meant."""

import json
from importlib.resources import files
from typing import Any

import jsonschema
import kubernetes_validate  # type: ignore[import-untyped] # it ships no types
import pytest
import yaml
from hypothesis import given, settings

from oomph.engines.history import release
from oomph.errors import UsageError
from oomph.ledger.command import Command
from oomph.readers.command_line import read_command
from oomph.units import GIB, Bytes
from oomph.write.manifest.forms import Form, written
from write.manifest.proposals import commands, heard, made, told

COMPOSE = jsonschema.Draft202012Validator(
    json.loads((files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json").read_text())
)
KUBERNETES = "1.37"


def service(command: Command) -> dict[str, Any]:
    """The only service of the file, which holds against the schema."""
    document: Any = yaml.safe_load(written(command, Form.COMPOSE))
    COMPOSE.validate(document)
    (only,) = document["services"].values()
    found: dict[str, Any] = only
    return found


def manifests(command: Command) -> dict[str, Any]:
    """Every document by its kind; each holds against the schema, which knows no other field."""
    documents: list[Any] = list(yaml.safe_load_all(written(command, Form.KUBERNETES)))
    for document in documents:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    return {document["kind"]: document for document in documents}


def pod(command: Command) -> dict[str, Any]:
    found: dict[str, Any] = manifests(command)["Deployment"]["spec"]["template"]["spec"]
    return found


def started(words: list[str], variables: dict[str, str | None], command: Command) -> tuple[str | None, object]:
    """Model and flags of the words, with doubled dollars as Compose and Kubernetes read them."""
    before = [f"{name}={value}" for name, value in variables.items() if value is not None]
    read = read_command([word.replace("$$", "$") for word in (*before, *words)], release(command.release))
    return read.model, heard(read.flags)


@given(commands())
@settings(max_examples=60, deadline=None)
def test_a_compose_file_holds_against_the_schema_and_says_what_was_meant(command: Command) -> None:
    found = service(command)
    said = started([*found["entrypoint"], *found["command"]], found["environment"], command)

    assert said == (command.model, heard(told(command)))


@given(commands())
@settings(max_examples=60, deadline=None)
def test_manifests_hold_against_the_schema_and_say_what_was_meant(command: Command) -> None:
    (container,) = pod(command)["containers"]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    said = started([*container["command"], *container["args"]], variables, command)

    assert said == (command.model, heard(told(command)))


@pytest.mark.parametrize("form", [Form.COMPOSE, Form.KUBERNETES])
def test_a_lone_dollar_never_stands_where_a_variable_would_be_looked_for(form: Form) -> None:
    text = written(made({"served_model_name": "$(HOME)", "VLLM_X": "${y}"}), form)

    assert "$$(HOME)" in text
    assert "$${y}" in text
    assert "$" not in text.replace("$$", "")


def test_the_schema_of_compose_would_refuse_a_mistake() -> None:
    document: Any = yaml.safe_load(written(made({}), Form.COMPOSE))
    document["services"]["vllm"]["restarts"] = "always"

    with pytest.raises(jsonschema.ValidationError):
        COMPOSE.validate(document)


def test_the_schema_of_kubernetes_would_refuse_a_mistake() -> None:
    document = manifests(made({}))["Deployment"]
    document["spec"]["template"]["spec"]["containers"][0]["gpus"] = 2

    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, KUBERNETES, strict=True)


def test_a_service_gets_its_gpus_starts_slowly_and_comes_back_whatever_it_exits_with() -> None:
    found = service(made({"tensor_parallel_size": 2, "port": 9000}, gpus="a100-80gb x2"))

    assert found["image"] == "vllm/vllm-openai:v0.19.1"
    assert found["deploy"]["resources"]["reservations"]["devices"] == [
        {"driver": "nvidia", "count": 2, "capabilities": ["gpu"]}
    ]
    assert found["ports"] == ["127.0.0.1:9000:9000"]
    assert found["healthcheck"]["test"][-1] == "http://127.0.0.1:9000/health"
    assert found["healthcheck"]["start_period"] == "60m"
    assert found["restart"] == "always"
    assert found["ipc"] == "host"
    assert found["environment"]["HF_TOKEN"] is None


def test_a_pod_gets_its_gpus_memory_to_share_and_time() -> None:
    found = pod(made({"tensor_parallel_size": 2, "kv_offloading_size": 20.5, "shutdown_timeout": 30}))
    (container,) = found["containers"]

    assert container["resources"]["limits"] == {"nvidia.com/gpu": 2}
    assert found["volumes"][1]["emptyDir"] == {"medium": "Memory", "sizeLimit": "29Gi"}  # 8 and, rounded up, 20.5
    assert container["startupProbe"]["periodSeconds"] * container["startupProbe"]["failureThreshold"] == 3600
    assert found["terminationGracePeriodSeconds"] == 90
    assert found["enableServiceLinks"] is False
    assert container["env"][0]["valueFrom"]["secretKeyRef"]["optional"] is True


def test_a_claim_has_room_for_the_checkpoint_and_its_download() -> None:
    known = Command(
        release="0.19.1", model="org/m", flags=made({}).flags, devices=made({}).devices, files=Bytes(8 * GIB)
    )

    assert manifests(known)["PersistentVolumeClaim"]["spec"]["resources"]["requests"]["storage"] == "10Gi"
    assert manifests(made({}))["Deployment"]["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Qwen/Qwen3-8B", "qwen3-8b"),
        ("org/01-ai.Yi", "model-01-ai-yi"),
        ("org/漢字", "model"),
        ("/srv/My_Model/", "my-model"),
    ],
)
def test_what_it_is_called_is_a_name_that_services_may_have(model: str, name: str) -> None:
    found = manifests(made({}, model=model))

    assert found["Service"]["metadata"]["name"] == name
    assert found["Service"]["spec"]["selector"] == found["Deployment"]["spec"]["selector"]["matchLabels"]


def test_a_model_on_a_disk_is_mounted_where_the_command_looks_for_it() -> None:
    absolute, relative = made({}, model="/srv/m"), made({}, model="./m")

    assert service(absolute)["volumes"] == [{"type": "bind", "source": "/srv/m", "target": "/srv/m", "read_only": True}]
    assert service(relative)["command"] == ["/model/m"]
    assert service(relative)["volumes"][0]["source"] == "./m"
    assert "PersistentVolumeClaim" not in manifests(absolute)
    assert pod(absolute)["volumes"][0] == {"name": "models", "hostPath": {"path": "/srv/m", "type": "Directory"}}
    assert read_command([written(relative, Form.DOCKER)]).model == "./m"
    with pytest.raises(UsageError, match="no place on a node"):
        manifests(relative)


def test_chosen_gpus_are_given_to_the_container_by_name_and_not_hidden_again_inside() -> None:
    command = made({"tensor_parallel_size": 2, "CUDA_VISIBLE_DEVICES": "2,3"})
    (device,) = service(command)["deploy"]["resources"]["reservations"]["devices"]

    assert device == {"driver": "nvidia", "device_ids": ["2", "3"], "capabilities": ["gpu"]}
    assert "CUDA_VISIBLE_DEVICES" not in service(command)["environment"]
    assert """--gpus '"device=2,3"'""" in written(command, Form.DOCKER)
    assert read_command([written(command, Form.DOCKER)]).gpus == 2


def test_inside_a_container_the_server_listens_for_those_outside() -> None:
    command = made({"host": "127.0.0.1"})

    assert "--host" not in written(command, Form.DOCKER)
    assert "--host 127.0.0.1" in written(command, Form.VLLM)


def test_devices_of_amd_have_an_image_and_a_resource_of_their_own() -> None:
    command = made({}, gpus="mi300x")

    assert service(command)["image"] == "vllm/vllm-openai-rocm:v0.19.1"
    assert service(command)["devices"] == ["/dev/kfd", "/dev/dri"]
    assert pod(command)["containers"][0]["resources"]["limits"] == {"amd.com/gpu": 1}
    assert "--device /dev/kfd" in written(command, Form.DOCKER)
    with pytest.raises(UsageError, match=r"from 0\.15\.0 on"):
        written(made({}, gpus="mi300x", name="0.10.2"), Form.DOCKER)


def test_a_server_that_speaks_tls_is_asked_so() -> None:
    command = made({"ssl_certfile": "/certs/a.pem"})

    assert service(command)["healthcheck"]["test"][-1].startswith("https://")
    assert pod(command)["containers"][0]["readinessProbe"]["httpGet"]["scheme"] == "HTTPS"
