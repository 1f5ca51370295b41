import shlex
from pathlib import Path

import pytest

from oomph.engines.history import release
from oomph.errors import UnknownRelease, UsageError
from oomph.readers.command_line import read_command
from oomph.readers.image import release_in

SERVER = "vllm.entrypoints.openai.api_server"
IMAGE = "vllm/vllm-openai:v0.19.1"


@pytest.mark.parametrize(
    "line",
    [
        "vllm serve org/m -tp 2",
        "/opt/venv/bin/vllm serve org/m -tp 2",
        f"python -m {SERVER} --model org/m -tp 2",
        f"/usr/bin/python3.12 -u -m {SERVER} --model org/m -tp 2",
        "python3 -m vllm.entrypoints.api_server --model org/m -tp 2",
        "python3 -m vllm.entrypoints.cli.main serve org/m -tp 2",
        "python vllm/entrypoints/openai/api_server.py --model org/m -tp 2",
        "sudo -E nohup vllm serve org/m -tp 2",
        "exec vllm serve org/m -tp 2",
        "time vllm serve org/m -tp 2",
        "uv run --with vllm vllm serve org/m -tp 2",
        f"uv run python -m {SERVER} --model org/m -tp 2",
        "numactl --interleave=all vllm serve org/m -tp 2",
        "bash -lc 'cd x && vllm serve org/m -tp 2'",
        "org/m -tp 2",
        "--model org/m -tp 2",
    ],
)
def test_the_same_start_in_many_ways(line: str) -> None:
    for words in (shlex.split(line), [line]):
        command = read_command(words)

        assert (command.model, dict(command.flags)) == ("org/m", {"tensor_parallel_size": 2})
        assert (command.release, command.gpus, command.notes) == (None, None, ())


@pytest.mark.parametrize(
    "line",
    [
        f"docker run --gpus all {IMAGE} org/m -tp 2",
        f"docker run --gpus all {IMAGE} --model org/m -tp 2",
        f"sudo docker container run --rm -it --gpus all --ipc=host --shm-size 16g -p 80:80 {IMAGE} --model org/m -tp 2",
        f"podman run --device nvidia.com/gpu=all {IMAGE} --model org/m -tp 2",
        f"nerdctl run -d --gpus all {IMAGE} --model org/m -tp 2",
        f"docker --context far run --name x -p8000:8000 -dit --restart=always {IMAGE} --model org/m -tp 2",
        "docker run --gpus all docker.io/vllm/vllm-openai:v0.19.1-cu130 --model org/m -tp 2",
        "docker run --gpus all localhost:5000/vllm/vllm-openai:v0.19.1@sha256:0123 --model org/m -tp 2",
        f"docker run --gpus all --entrypoint vllm {IMAGE} serve org/m -tp 2",
        f"docker run --gpus all --entrypoint python3 {IMAGE} -m {SERVER} --model org/m -tp 2",
        f"docker run --gpus all --entrypoint /bin/bash {IMAGE} -c 'pip install x && vllm serve org/m -tp 2'",
        f"docker run --gpus all --entrypoint '' {IMAGE} vllm serve org/m -tp 2",
    ],
)
def test_a_container_starts_the_release_of_its_tag(line: str) -> None:
    for words in (shlex.split(line), [line]):
        command = read_command(words)

        assert (command.model, dict(command.flags)) == ("org/m", {"tensor_parallel_size": 2})
        assert (command.release, command.gpus, command.notes) == (release("0.19.1"), None, ())


@pytest.mark.parametrize(
    ("image", "text"),
    [
        ("vllm/vllm-openai:v0.19.1", "0.19.1"),
        ("vllm/vllm-openai:v0.8.5.post1", "0.8.5.post1"),
        ("vllm/vllm-openai:v0.11.0-x86_64", "0.11.0"),
        ("vllm/vllm-openai:0.20.0rc1", "0.20.0rc1"),
        ("vllm/vllm-openai-rocm:v0.16.0", "0.16.0"),
        ("rocm/vllm:rocm6.3.1_vllm_0.8.5_20250521", "0.8.5"),
        ("vllm/vllm-openai:latest", None),
        ("vllm/vllm-openai:nightly-01d4d1ad", None),
        ("vllm/vllm-openai", None),
        ("nvcr.io/nvidia/vllm:26.01-py3", None),
        ("myself/llm:1.2.3", None),
    ],
)
def test_a_tag_names_a_release_or_none(image: str, text: str | None) -> None:
    assert release_in(image) == (None if text is None else release(text))


def test_a_tag_that_names_no_release_leaves_it_to_the_user() -> None:
    words = shlex.split("docker run vllm/vllm-openai:latest --model m --max-num-seqs 4")

    assert read_command(words).notes == (
        "the tag latest names no release: vLLM 0.32.0 is taken, the newest that is known; --release names another",
    )
    assert read_command(words, release("0.19.1")).notes == (
        "the tag latest names no release: vLLM 0.19.1 is taken, as --release says",
    )


def test_two_releases_that_contradict_each_other_are_refused() -> None:
    words = shlex.split(f"docker run {IMAGE} --model m")

    assert read_command(words, release("0.19.1")).release == release("0.19.1")
    with pytest.raises(UsageError, match=r"holds vLLM 0\.19\.1, and --release says 0\.20\.0"):
        read_command(words, release("0.20.0"))


def test_flags_are_those_of_the_image() -> None:
    line = "docker run vllm/vllm-openai:v0.{}.0 --model m --swap-space 4"

    assert read_command([line.format(11)]).flags["swap_space"] == 4.0
    with pytest.raises(UsageError, match=r"vLLM 0.20.0 has no --swap-space: it was removed in 0.18.0"):
        read_command([line.format(20)])
    with pytest.raises(UnknownRelease, match="older than the first release"):
        read_command([line.format(5)])


@pytest.mark.parametrize(
    ("options", "gpus"),
    [
        ("--gpus all", None),
        ("--gpus 2", 2),
        ("--gpus=3", 3),
        ("--gpus device=0", 1),
        ("--gpus '\"device=0,1\"'", 2),
        ("--gpus '\"device=GPU-1a,GPU-2b\",capabilities=utility'", 2),
        ("--gpus count=4,capabilities=utility", 4),
        ("--device nvidia.com/gpu=0 --device nvidia.com/gpu=1", 2),
        ("--runtime nvidia -e NVIDIA_VISIBLE_DEVICES=0,1,2", 3),
        ("--gpus all -e CUDA_VISIBLE_DEVICES=1", 1),
        ("--gpus 2 -e CUDA_VISIBLE_DEVICES=0,1,2,3", 2),
        ("--gpus all --env CUDA_VISIBLE_DEVICES=-1", 0),
    ],
)
def test_the_gpus_that_a_container_sees_are_counted(options: str, gpus: int | None) -> None:
    assert read_command([f"docker run {options} {IMAGE} --model m"]).gpus == gpus


def test_the_environment_comes_with_the_flags_by_its_own_names() -> None:
    given = "-e VLLM_USE_V1=0 --env=NCCL_P2P_DISABLE=1 -e HF_TOKEN=hf_x -e LANG=C -e 'PYTORCH_ALLOC_CONF=a:b,c:d'"
    line = f"FOO=1 docker run {given} {IMAGE} --model m"

    assert dict(read_command([line]).flags) == {
        "VLLM_USE_V1": "0",
        "NCCL_P2P_DISABLE": "1",
        "PYTORCH_ALLOC_CONF": "a:b,c:d",
    }


@pytest.mark.parametrize(
    "line",
    [
        "CUDA_VISIBLE_DEVICES=0,1 VLLM_LOGGING_LEVEL=DEBUG vllm serve m",
        "env -u X CUDA_VISIBLE_DEVICES=0,1 VLLM_LOGGING_LEVEL=DEBUG vllm serve m",
        "export CUDA_VISIBLE_DEVICES=0,1\nexport VLLM_LOGGING_LEVEL=DEBUG\nvllm serve m",
        "A=0 B=$A,1\nexport CUDA_VISIBLE_DEVICES=0,1 VLLM_LOGGING_LEVEL=DEBUG\nvllm serve m",
    ],
)
def test_variables_before_a_command_are_its_environment(line: str) -> None:
    command = read_command([line])

    assert dict(command.flags) == {"CUDA_VISIBLE_DEVICES": "0,1", "VLLM_LOGGING_LEVEL": "DEBUG"}
    assert command.gpus == 2


def test_an_env_file_is_read_where_it_exists_and_missed_where_it_does_not(tmp_path: Path) -> None:
    file = tmp_path / "vllm.env"
    file.write_text("# ours\nVLLM_USE_V1=1\nHF_TOKEN=secret\nCUDA_VISIBLE_DEVICES=0\n\n", encoding="utf-8")

    found = read_command(["docker", "run", "--env-file", str(file), "-e", "VLLM_USE_V1=0", IMAGE, "m"])
    missed = read_command(["docker", "run", "--env-file", "nowhere.env", IMAGE, "m"])

    assert dict(found.flags) == {"VLLM_USE_V1": "0", "CUDA_VISIBLE_DEVICES": "0"}
    assert missed.notes == ("what --env-file nowhere.env sets cannot be seen from here",)


def test_what_the_container_cannot_see_is_told() -> None:
    before = read_command([f"CUDA_VISIBLE_DEVICES=0 docker run -e VLLM_X {IMAGE} m"])
    doubled = read_command([f"docker run {IMAGE} vllm serve m"])

    assert before.notes == (
        "CUDA_VISIBLE_DEVICES before `docker` does not reach the container: give it with -e",
        "VLLM_X comes from the shell that starts the container, and is not seen here",
    )
    assert (before.gpus, dict(before.flags)) == (None, {})
    assert doubled.model == "m"
    assert "starts `vllm serve` by itself" in doubled.notes[0]


@pytest.mark.parametrize(
    "volume",
    ["-v /data/models:/models:ro", "--volume=/data/models/:/models", "--mount type=bind,src=/data/models,dst=/models"],
)
def test_a_model_in_the_container_is_looked_for_outside(volume: str) -> None:
    command = read_command([f"docker run {volume} {IMAGE} --model /models/qwen"])

    assert command.model == "/data/models/qwen"
    assert command.notes == ("/models/qwen in the container is /data/models/qwen outside of it",)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("vllm serve $MODEL -tp 2", r"the model is $MODEL, which stands for a name that is not known here"),
        ("vllm serve <your model>", r"the model is <your model>"),
        ("vllm serve m -tp $TP", r"-tp $TP: what $TP holds is not known here"),
        ("vllm serve m --max-model-len $(cat len)", r"what $(cat len) holds is not known"),
        ("vllm bench throughput --model m", "`vllm bench` is not read"),
        ("docker compose up", "a Compose file is not read here"),
        ("docker run --gpus all -p 8000:8000", "no image is named"),
        ("docker run ollama/ollama", "ollama/ollama is not known to start vLLM like this"),
        (f"docker run --entrypoint bash {IMAGE}", "is not known to start vLLM like this"),
        ("vllm serve 'm", "a quote is never closed"),
    ],
)
def test_what_cannot_be_known_is_refused_in_words(line: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_command([line])

    assert why in str(refused.value)


def test_an_unknown_value_that_weighs_nothing_is_left_out() -> None:
    command = read_command(["vllm serve m --port $PORT --api-key $KEY --served-model-name $NAME -tp 2"])

    assert dict(command.flags) == {"tensor_parallel_size": 2}


def test_of_two_starts_the_first_is_read() -> None:
    command = read_command(["vllm serve a -tp 2\n\nvllm serve b -tp 4\n"])

    assert (command.model, command.notes) == ("a", ("2 commands start an engine: the first one was read",))


def test_what_stands_before_the_engine_is_told_unless_it_is_known() -> None:
    assert read_command(["mylauncher --fast vllm serve m"]).notes == (
        "what stands before the engine was left out: mylauncher --fast",
    )


def test_a_folder_with_a_space_in_its_name_is_a_model(tmp_path: Path) -> None:
    folder = tmp_path / "my model"
    folder.mkdir()

    assert read_command([str(folder)]).model == str(folder)


def test_starts_within_starts_are_refused() -> None:
    with pytest.raises(UsageError, match="too deep to be read"):
        read_command(["docker", "run", "vllm"] * 2000)
