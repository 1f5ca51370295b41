import pytest

from oomph.engines.history import release
from oomph.engines.vllm import facts
from oomph.engines.vllm.formulas.runners import Kind


def kind(architecture: str = "LlamaForCausalLM", *, routed: bool = False, recurrent: bool = False) -> Kind:
    return Kind(architecture=architecture, routed=routed, recurrent=recurrent, quantized=False)


@pytest.mark.parametrize(
    ("text", "asked", "second"),
    [
        ("0.21.0", kind("Qwen3ForCausalLM"), False),
        ("0.22.1", kind("Qwen3ForCausalLM"), True),
        ("0.22.1", kind(), False),
        ("0.23.0", kind(), True),
        ("0.24.0", kind("Qwen2MoeForCausalLM", routed=True), True),
        ("0.25.0", kind("Gemma2ForCausalLM"), True),
        ("0.28.0", kind("Qwen3MoeForCausalLM", routed=True), False),
        ("0.28.0", kind("Qwen3_5ForConditionalGeneration", recurrent=True), False),
        ("0.29.0", kind("Qwen3_5ForConditionalGeneration", recurrent=True), True),
    ],
)
def test_which_runner_runs_a_model(text: str, asked: Kind, second: object) -> None:
    assert facts.second_runner.at(release(text))(asked) is second


def test_a_quantized_model_stayed_with_the_first_runner_in_0_22_and_0_23() -> None:
    quantized = Kind(architecture="Qwen3ForCausalLM", routed=False, recurrent=False, quantized=True)

    assert not facts.second_runner.at(release("0.23.0"))(quantized)
    assert facts.second_runner.at(release("0.24.0"))(quantized)


@pytest.mark.parametrize(
    ("text", "ranks", "overlapped", "second", "batches"),
    [
        ("0.25.1", 4, True, True, 1),
        ("0.26.0", 1, True, False, 2),
        ("0.26.0", 4, True, False, 4),
        ("0.26.0", 1, True, True, 2),
        ("0.29.0", 4, True, True, 5),
        ("0.29.0", 4, False, True, 4),
    ],
)
def test_how_many_steps_are_under_way(text: str, ranks: int, overlapped: object, second: object, batches: int) -> None:
    found = facts.batches_in_flight.at(release(text))(
        ranks=ranks, overlapped=bool(overlapped), second_runner=bool(second)
    )

    assert found == batches
