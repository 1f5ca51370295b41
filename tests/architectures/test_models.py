"""Every config that we have: read, or refused by the field; and configs that nobody should have."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from architectures import hostile, small_configs
from oomph.architectures.registry import geometry
from oomph.architectures.stored.quantization import quantization
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import total
from oomph.errors import OomphError, UnknownArchitecture, UnreadableError
from oomph.ledger.geometry import Geometry

ROOT: Final = Path(__file__).parents[2]
MODELS: Final = ROOT.parent / "shared" / "models"
NAMES: Final = sorted(
    path.name.removesuffix(".json")
    for path in MODELS.glob("*.json")
    if not path.name.endswith(".hf_quant_config.json")  # stands beside another config
)

# What is refused, and the field that the refusal names. None of these is a config that vLLM 0.32.0 itself takes: the
# first is what vLLM calls MiniMaxM3SparseForCausalLM, the last is a stub with only the fields that size a cache.
REFUSED: Final = {
    "MiniMaxAI__MiniMax-M3": "architectures: MiniMaxM3ForCausalLM",
    "Qwen__Qwen3-Omni-30B-A3B-Instruct": "thinker_config: text_config: hidden_size",
    "stepfun-ai__Step-3.7-Flash": "architectures: Step3p7FlashForCausalLM",
    "stepfun-ai__Step-3.7-Flash-FP8": "architectures: Step3p7FlashForCausalLM",
    "tiiuae__Falcon-H1-7B-Instruct.partial": "intermediate_size",
}


def config(name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((MODELS / f"{name}.json").read_text())
    return found


def _says_method(fields: dict[str, object]) -> object:
    """The word by which vLLM knows a quantization; a section without it counts for nothing."""
    inner = fields.get("text_config")
    sections = [each.get("quantization_config") for each in (fields, inner) if isinstance(each, dict)]
    return next((each.get("quant_method") for each in sections if isinstance(each, dict)), None)


def test_the_evidence_is_there() -> None:
    if not MODELS.exists() and not os.environ.get("CI"):
        pytest.skip("the shared evidence is not beside this checkout")

    assert len(NAMES) - len(REFUSED) >= 150


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED])
def test_a_config_is_read(name: str) -> None:
    fields = config(name)
    found = geometry(fields)

    assert isinstance(found, Geometry)
    assert found.layers
    assert any(layer.mixers for layer in found.layers)
    assert (quantization(fields) is not None) is (_says_method(fields) is not None)


@pytest.mark.parametrize("name", sorted(REFUSED) if NAMES else [])
def test_a_config_is_refused_by_its_field(name: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        geometry(config(name))

    assert REFUSED[name] in str(refused.value)


# --- configs that nobody should have


def fuzzed(seed: int, cases: int) -> "subprocess.Popen[str]":
    """In a process of its own, because its memory is limited."""
    files = [str(MODELS / f"{name}.json") for name in NAMES]
    return subprocess.Popen(
        [sys.executable, "-m", "architectures.hostile", str(seed), str(cases), *files],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_twenty_thousand_broken_configs_are_answered_or_refused() -> None:
    processes = [fuzzed(seed, 10_000) for seed in (0, 10_000)]
    said = [process.communicate(timeout=600) for process in processes]
    answers = [json.loads(out) if out else {"crashes": [error], "outcomes": {}} for out, error in said]
    outcomes: Counter[str] = sum((Counter(answer["outcomes"]) for answer in answers), Counter())

    assert [crash for answer in answers for crash in answer["crashes"]] == []
    assert outcomes.total() == 20_000
    for met in ("refused", "weighed, planned", "not weighed, planned", "weighed, not planned"):
        assert outcomes[met] > 100, met


def test_the_fuzzer_sees_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(fields: object) -> Geometry:
        raise KeyError(fields)

    monkeypatch.setattr(hostile, "geometry", crash)

    with pytest.raises(KeyError):
        hostile.through(hostile.broken(list(small_configs.SMALL), 0), 0)


@pytest.mark.parametrize("base", small_configs.SMALL, ids=lambda base: base["architectures"][0])
def test_a_small_config_is_read_as_it_stands(base: dict[str, object]) -> None:
    assert total(geometry(base), Ranks(), quantization=quantization(base)) > 0


@pytest.mark.parametrize("layers", [10**6, 10**9, 2**31, 10**30, -1, 0, 1.5, float("nan"), float("inf"), "64", [64]])
@pytest.mark.parametrize("base", small_configs.SMALL, ids=lambda base: base["architectures"][0])
def test_an_absurd_number_of_layers_is_refused_by_its_field(base: dict[str, object], layers: object) -> None:
    with pytest.raises(OomphError, match=r"layers|layer_types|hybrid_override_pattern"):
        geometry({**base, "num_hidden_layers": layers, "hybrid_override_pattern": layers})


@pytest.mark.parametrize("named", [[], ["Unheard"], ["x" * 10**6], ["LlamaForCausalLM/../x"]])
def test_an_unknown_architecture_is_refused_by_name(named: list[str]) -> None:
    with pytest.raises(UnknownArchitecture, match="architectures") as refused:
        geometry({"architectures": named})

    assert len(str(refused.value)) < 400
