"""A remedy as it is printed, typed back as a command: what failed passes."""

import json
from pathlib import Path
from typing import Any

import pytest

from oomph.cli.main import main

Plan = dict[str, Any]  # as read from JSON
QWEN = str(Path(__file__).parents[2] / "examples" / "qwen3.6-27b")
SEED_A = [
    *("--kv-cache-dtype", "fp8", "--max-model-len", "16384", "--gpu-memory-utilization", "0.8"),
    *("--speculative-config", '{"method": "mtp", "num_speculative_tokens": 2}', "--language-model-only"),
]
SEED_B = ["--kv-cache-dtype", "fp8_e5m2", "--max-model-len", "32768", "--gpu-memory-utilization", "0.92"]


def plan(capsys: pytest.CaptureFixture[str], gpu: str, weights: str, words: list[str], release: str = "0.19.1") -> Plan:
    main(
        [
            "plan",
            "--gpu",
            gpu,
            "--release",
            release,
            "--weights",
            weights,
            "--json",
            "--",
            "vllm",
            "serve",
            QWEN,
            *words,
        ]
    )
    answer: Plan = json.loads(capsys.readouterr().out)
    return answer


def typed(change: dict[str, object]) -> list[str]:
    words: list[str] = []
    for name, value in change.items():
        if name != "release":
            words += ["--" + name.replace("_", "-"), *([] if value is True else [str(value)])]
    return words


@pytest.mark.parametrize(
    ("gpu", "weights", "words"), [("rtx-5090", "18.47GiB", SEED_A), ("rtx-3090", "18GiB", SEED_B)], ids=["a", "b"]
)
def test_every_remedy_of_the_crashes_passes_when_it_is_typed(
    gpu: str, weights: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = plan(capsys, gpu, weights, words)
    (finding,) = before["findings"]
    remedies = [each for each in finding["remedies"] if "tensor_parallel_size" not in each["change"]]

    assert (before["gate"], len(remedies) >= 4) == ("graph-profile", True)
    for remedy in remedies:
        change = remedy["change"]
        after = plan(capsys, gpu, weights, [*words, *typed(change)], release=change.get("release", "0.19.1"))
        verdicts = {gate["name"]: gate["verdict"] for gate in after["gates"]}
        assert verdicts.get("graph-profile", "fits") == "fits", change
        assert after["verdict"] == remedy["verdict"], change
