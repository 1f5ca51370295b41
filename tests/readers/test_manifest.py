"""Compose files and manifests are read as the commands that they run; what is hostile is refused, with its line."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oomph.errors import OomphError, UnreadableError, UsageError
from oomph.ledger.command import Command as Proposed
from oomph.readers.command import Command
from oomph.readers.command_line import read_command
from oomph.write.manifest.forms import Form, written
from write.manifest.proposals import commands, heard, made, told

COMPOSE = """
x-common: &common
  restart: always
services:
  proxy:
    image: nginx
  llm:
    <<: *common
    image: "vllm/vllm-openai:${TAG:-v0.19.1}"
    command: --model ${MODEL} --max-model-len=8192 --served-model-name '$$one'
    environment:
      - VLLM_LOGGING_LEVEL=${LEVEL-INFO}
      - HF_TOKEN
    volumes: ["./models:/models:ro"]
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 2, capabilities: [gpu]}]}}}
"""
PODS = """
apiVersion: v1
kind: Service
metadata: {name: llm}
---
apiVersion: apps/v1
kind: StatefulSet
spec:
  template:
    spec:
      initContainers: [{name: wait, image: busybox, command: [sleep, "1"]}]
      containers:
        - {name: metrics, image: exporter}
        - name: llm
          image: vllm/vllm-openai:v0.26.0
          command: [/bin/bash, -c]
          args: ["vllm serve /data/$NAME -tp $(SIZE) --max-model-len ${LENGTH}"]
          env:
            - {name: NAME, value: m}
            - {name: SIZE, value: "2"}
            - {name: LENGTH, value: "4096"}
            - {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: a, key: b}}}
          resources: {limits: {nvidia.com/gpu: 2}}
          volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, hostPath: {path: /srv}}]
"""


def read(text: str, tmp_path: Path, name: str = "compose.yaml") -> Command:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return read_command([str(file)])


@pytest.mark.parametrize("form", [Form.COMPOSE, Form.KUBERNETES])
@given(command=commands())
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_written_is_read_back(command: Proposed, form: Form, tmp_path: Path) -> None:
    found = read(written(command, form), tmp_path)

    assert str(found.release) == command.release
    assert found.model == command.model
    assert heard(found.flags) == heard(told(command))


@pytest.mark.parametrize("form", [Form.COMPOSE, Form.KUBERNETES])
def test_its_gpus_are_read_back(form: Form, tmp_path: Path) -> None:
    text = written(made({"tensor_parallel_size": 4}, gpus="a100-80gb x4"), form)

    assert read(text, tmp_path).gpus == 4


def test_a_service_is_read_with_its_variables_in_place(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# of the project\nMODEL='/models/m'\n")
    found = read(COMPOSE, tmp_path)

    assert found.model == f"{tmp_path}/models/m"
    assert str(found.release) == "0.19.1"
    assert found.gpus == 2
    assert dict(found.flags) == {"max_model_len": 8192, "served_model_name": "$one", "VLLM_LOGGING_LEVEL": "INFO"}
    assert any("HF_TOKEN comes from the shell" in note for note in found.notes)


def test_a_variable_that_only_a_shell_knows_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"what \$MODEL holds is not known here"):
        read(COMPOSE, tmp_path)


def test_a_container_among_others_is_found_and_its_script_is_read(tmp_path: Path) -> None:
    found = read(PODS, tmp_path, "pods.yml")

    assert found.model == "/srv/m"
    assert str(found.release) == "0.26.0"
    assert found.gpus == 2
    assert found.flags["tensor_parallel_size"] == 2
    assert found.flags["max_model_len"] == 4096


def test_a_file_of_flags_is_read_as_the_engine_reads_it(tmp_path: Path) -> None:
    found = read("model: org/m\nmax-model-len: 4096\n", tmp_path, "vllm.yaml")

    assert found.model == "org/m"
    assert found.flags["max_model_len"] == 4096


BOMB = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], k{n}: 1}}\n" for n in range(1, 60)
)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("services:\n  a: [1\n", UnreadableError, "line 3"),
        ("kind: Pod\nspec: {{ .Values.x }}\n", UnreadableError, "helm template"),
        (BOMB, UnreadableError, r"line [0-9]+"),
        ("a: &a 1\n" + "b: *a\n" * 300, UnreadableError, "line 202: more aliases"),
        ("[" * 5000, UnreadableError, "not YAML"),
        ("!!python/object/apply:os.system [ls]\n", UnreadableError, "line 1"),
        ("x: \xff" + "y" * (1 << 18), UnreadableError, "larger than any manifest"),
        ("services: {a: {image: nginx}}\n", UsageError, "no container of vLLM is in it, but nginx"),
        ("kind: Service\n", UsageError, "no container at all"),
        ("- 1\n", UsageError, "no container"),
        ("services: {a: {image: vllm/vllm-openai, command: 3}}\n", UsageError, r"services\.a\.command"),
        ('services: {a: {image: vllm/vllm-openai, command: "x \'y"}}\n', UsageError, r"services\.a\.command"),
        ("spec: {containers: [{name: a, image: vllm, args: {b: 1}}]}\n", UsageError, "args of container a"),
    ],
)
def test_what_cannot_be_read_is_refused_with_where_and_why(
    text: str, kind: type[OomphError], said: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=said):
        read(text, tmp_path)


def test_a_file_that_holds_itself_ends(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no container"):
        read("kind: Pod\nspec: &s {a: *s, b: [*s]}\n", tmp_path)
    with pytest.raises(OomphError, match=r"services\.a\.command"):
        read("services: {a: &s {image: vllm/vllm-openai, command: [*s]}}\n", tmp_path)


PIECES = st.sampled_from(
    [
        "services",
        "image",
        "vllm/vllm-openai:v0.19.1",
        "command",
        "containers",
        "args",
        "env",
        "${A:-${B}}",
        "$(X)",
        "name",
    ]
)
TREES: st.SearchStrategy[object] = st.recursive(
    PIECES | st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PIECES | st.text(max_size=3), inner, max_size=4),
    max_leaves=25,
)


@given(tree=TREES)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_it_holds_is_read_or_refused_by_an_error_of_ours(tree: object, tmp_path: Path) -> None:
    import yaml  # noqa: PLC0415 - as the reader does

    found: Command | None = None
    with suppress(OomphError):
        found = read(yaml.safe_dump({"services": {"a": tree}, "spec": tree}), tmp_path)

    assert found is None or found.flags is not None
