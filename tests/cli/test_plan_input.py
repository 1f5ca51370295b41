"""A pasted command, all the way to the answer."""

import json
import shlex

import pytest

from oomph.cli.main import main

DOCKER = "docker run --gpus '\"device=0\"' -e VLLM_USE_V1=1 vllm/vllm-openai:{} --max-model-len 8192 -tp 1"


def plan(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    main(["plan", "--json", *words])
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("words", [[DOCKER.format("v0.19.1")], shlex.split(DOCKER.format("v0.19.1"))])
def test_the_tag_of_the_image_is_the_release(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    answer = plan(capsys, "--gpu", "24GiB", "--", *words)
    settings = answer["settings"]

    assert answer["release"] == "0.19.1"
    assert isinstance(settings, dict)
    assert settings["max_model_len"]["value"] == 8192
    assert settings["VLLM_USE_V1"]["value"] == "1"


def test_without_a_release_in_the_tag_the_newest_is_taken_and_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    answer = plan(capsys, "--gpu", "24GiB", DOCKER.format("nightly"))

    assert answer["release"] == "0.32.0"
    assert "the tag nightly names no release: vLLM 0.32.0 is taken" in str(answer["warnings"])


def test_the_release_that_is_named_wins_over_a_tag_that_names_none(capsys: pytest.CaptureFixture[str]) -> None:
    answer = plan(capsys, "--gpu", "24GiB", "--release", "0.20.0", DOCKER.format("latest"))

    assert answer["release"] == "0.20.0"


def test_two_releases_that_contradict_each_other_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["plan", "--gpu", "24GiB", "--release", "0.20.0", DOCKER.format("v0.19.1")])

    assert status == 2
    assert "holds vLLM 0.19.1, and --release says 0.20.0 (leave one of them out)" in capsys.readouterr().err


def test_fewer_gpus_in_the_command_than_in_the_question_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    answer = plan(capsys, "--gpu", "24GiB x2", "--", "CUDA_VISIBLE_DEVICES=0 vllm serve -tp 2")

    assert "--gpu names 2 GPUs, and the command lets the engine see only 1" in str(answer["warnings"])


def test_python_is_taken_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    answer = plan(capsys, "--gpu", "24GiB", "llm = LLM(max_num_seqs=32, gpu_memory_utilization=0.9)")
    settings = answer["settings"]

    assert isinstance(settings, dict)
    assert settings["max_num_seqs"]["value"] == 32


@pytest.mark.parametrize(
    "gpus",
    [
        ["--gpu", "rtx-3090,rtx-4090"],
        ["--gpu", "rtx-3090 + rtx-4090"],
        ["--gpu", "rtx-3090", "--gpu", "rtx-4090"],
    ],
)
def test_cards_that_differ_can_be_asked_for(gpus: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", *gpus, "--", "vllm", "serve", "-tp", "2"])

    assert "vLLM 0.32.0 on NVIDIA GeForce RTX 3090 + NVIDIA GeForce RTX 4090" in capsys.readouterr().out


def test_cards_that_are_alike_are_counted_beside_one_that_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--gpu", "l4 x2", "--gpu", "t4", "--", "vllm", "serve"])

    assert "vLLM 0.32.0 on 2 × NVIDIA L4 + Tesla T4" in capsys.readouterr().out
