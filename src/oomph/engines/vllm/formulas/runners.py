"""Which of vLLM's two model runners runs a model, when the user does not say.

Knows `config/vllm.py: use_v2_model_runner`. Does not know the features that send a model back to the first runner.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What the choice looks at."""

    architecture: str
    routed: bool  # has experts
    recurrent: bool  # has states, beside attention or alone
    quantized: bool


def first(kind: Kind) -> bool:
    """The first runner runs everything."""
    del kind
    return False


_PLAIN: Final = frozenset({"Qwen3ForCausalLM"})
_PLAIN_AND_LLAMA: Final = _PLAIN | {"LlamaForCausalLM", "MistralForCausalLM"}
_LISTED: Final = _PLAIN_AND_LLAMA | {"DeepseekV2ForCausalLM", "Qwen2MoeForCausalLM", "GraniteMoeForCausalLM"}
_ROUTED: Final = frozenset({"DeepseekV2ForCausalLM", "Qwen2MoeForCausalLM", "GraniteMoeForCausalLM"})
_ROUTED_026: Final = _ROUTED | {"InklingForConditionalGeneration", "LongcatFlashNgramForCausalLM"}
_ROUTED_027: Final = _ROUTED_026 | {"KimiK3ForConditionalGeneration"}
_ROUTED_028: Final = _ROUTED_027 | {"DeepseekV4ForCausalLM"}


def _plain(kind: Kind, listed: frozenset[str]) -> bool:
    return kind.architecture in listed and not (kind.routed or kind.recurrent or kind.quantized)


def plain_qwen(kind: Kind) -> bool:
    """The second runs Qwen 3, unless quantized."""
    return _plain(kind, _PLAIN)


def plain_listed(kind: Kind) -> bool:
    """And Llama and Mistral."""
    return _plain(kind, _PLAIN_AND_LLAMA)


def listed(kind: Kind) -> bool:
    """The second runs what a list names."""
    return kind.architecture in _LISTED


def _dense(kind: Kind, routed: frozenset[str]) -> bool:
    return kind.architecture in routed or not (kind.routed or kind.recurrent)


def dense(kind: Kind) -> bool:
    """The second runs every dense model, and experts that a list names."""
    return _dense(kind, _ROUTED)


def dense_026(kind: Kind) -> bool:
    """With two more on the list."""
    return _dense(kind, _ROUTED_026)


def dense_027(kind: Kind) -> bool:
    """With Kimi K3 on the list."""
    return _dense(kind, _ROUTED_027)


def dense_028(kind: Kind) -> bool:
    """With DeepSeek V4 on the list."""
    return _dense(kind, _ROUTED_028)


def second(kind: Kind) -> bool:
    """The second runner runs everything."""
    del kind
    return True


def one_batch(*, ranks: int, overlapped: bool, second_runner: bool) -> int:
    """Only the step under way counts."""
    del ranks, overlapped, second_runner
    return 1


def batches_in_flight(*, ranks: int, overlapped: bool, second_runner: bool) -> int:
    """Steps whose tokens may be under way at once, with so many pipeline ranks."""
    if not overlapped:
        return ranks
    if second_runner:
        return ranks + 1
    return 2 if ranks == 1 else ranks
