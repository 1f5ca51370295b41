"""The models that the guides speak of, as far as sizes follow from them.

Knows widths, depths and heads as their publishers state them. Llama 3.1 has the shapes of Llama 3 and a longer context;
it stands for both, because two guides speak of contexts that Llama 3 does not have.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

from oomph.architectures.registry import geometry, quantization
from oomph.engines.vllm.model import Model

_LLAMA: Final = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}
_QWEN: Final = {**_LLAMA, "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2"}
_AWQ: Final = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"}
_GPTQ: Final = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}

_NAMES: Final = (
    *("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads"),
    *("vocab_size", "max_position_embeddings"),
)


def _shape(like: Mapping[str, object], *numbers: int) -> dict[str, object]:
    return {**like, **dict(zip(_NAMES, numbers, strict=True))}


_PLAIN: Final[dict[str, dict[str, object]]] = {
    "Llama-2-7B": _shape(_LLAMA, 4096, 11_008, 32, 32, 32, 32_000, 4096),
    "Llama-3.1-8B": _shape(_LLAMA, 4096, 14_336, 32, 32, 8, 128_256, 131_072),
    "Llama-2-13B": _shape(_LLAMA, 5120, 13_824, 40, 40, 40, 32_000, 4096),
    "CodeLlama-34B": _shape(_LLAMA, 8192, 22_016, 48, 64, 8, 32_000, 16_384),
    "Llama-3.1-70B": _shape(_LLAMA, 8192, 28_672, 80, 64, 8, 128_256, 131_072),
    "Qwen2-72B": _shape(_QWEN, 8192, 29_568, 80, 64, 8, 152_064, 32_768),
}
CONFIGS: Final = _PLAIN | {
    "Llama-3.1-8B-GPTQ-4": _PLAIN["Llama-3.1-8B"] | {"quantization_config": _GPTQ},
    "Llama-3.1-70B-GPTQ-8": _PLAIN["Llama-3.1-70B"] | {"quantization_config": {**_GPTQ, "bits": 8}},
    "Llama-3.1-70B-AWQ": _PLAIN["Llama-3.1-70B"] | {"quantization_config": _AWQ},
}


@cache
def model(name: str) -> Model:
    """By its name here."""
    config = CONFIGS[name]
    return Model(name=name, geometry=geometry(config), quantization=quantization(config))
