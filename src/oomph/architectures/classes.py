"""What a field means that a config leaves out: the defaults of the class that reads it.

Knows the sizes that `transformers` 5 gives to a model type. A type that is not here has no defaults: what its config
leaves out is refused by name.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_NONE: Final[Mapping[str, object]] = MappingProxyType({})
_NAMES: Final = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",  # null: as many as there are heads
    "max_position_embeddings",
)


def defaults(model_type: str) -> Mapping[str, object]:
    """Of a model type, by field."""
    return _DEFAULTS.get(model_type, _NONE)


def _class(*sizes: int | None, tied: bool = False, **more: object) -> Mapping[str, object]:
    named = dict(zip(_NAMES, sizes, strict=True))
    return MappingProxyType({**named, "tie_word_embeddings": tied, **more})


_DEFAULTS: Final = {
    "apertus": _class(131072, 4096, 14336, 32, 32, None, 65536),
    "arcee": _class(32000, 2560, 18432, 32, 32, None, 4096),
    "cohere": _class(256000, 8192, 22528, 40, 64, None, 8192, tied=True),
    "cohere2": _class(256000, 8192, 22528, 40, 64, None, 8192, tied=True, sliding_window=4096),
    "exaone4": _class(102400, 4096, 16384, 32, 32, 32, 2048, sliding_window=4096),
    "falcon": _class(65024, 4544, None, 32, 71, None, 2048, tied=True),
    "gemma": _class(256000, 3072, 24576, 28, 16, 16, 8192, tied=True, head_dim=256),
    "gemma2": _class(256000, 2304, 9216, 26, 8, 4, 8192, tied=True, head_dim=256, sliding_window=4096),
    "gemma3_text": _class(262208, 2304, 9216, 26, 8, 4, 131072, tied=True, head_dim=256, sliding_window=4096),
    "gemma4_text": _class(
        *(262144, 2304, 9216, 30, 8, 4, 131072),
        tied=True,
        head_dim=256,
        sliding_window=512,
        hidden_size_per_layer_input=256,
        vocab_size_per_layer_input=262144,
    ),
    "glm": _class(151552, 4096, 13696, 40, 32, 2, 131072, head_dim=128),
    "glm4": _class(151552, 4096, 13696, 40, 32, 2, 131072, head_dim=128),
    "gpt2": _class(50257, 768, None, 12, 12, None, 1024, tied=True),
    "granite": _class(32000, 4096, 11008, 32, 32, None, 2048),
    "llama": _class(32000, 4096, 11008, 32, 32, None, 2048),
    "ministral3": _class(131072, 4096, 14336, 34, 32, 8, 262144, head_dim=128),
    "mistral": _class(32000, 4096, 14336, 32, 32, 8, 131072, sliding_window=4096),
    "olmo2": _class(50304, 4096, 11008, 32, 32, None, 2048),
    "olmo3": _class(50304, 4096, 11008, 32, 32, None, 2048, sliding_window=4096),
    "phi": _class(51200, 2048, 8192, 24, 32, None, 2048),
    "phi3": _class(32064, 3072, 8192, 32, 32, None, 4096),
    "qwen2": _class(151936, 4096, 22016, 32, 32, 32, 32768, sliding_window=4096),
    "qwen3": _class(151936, 4096, 22016, 32, 32, 32, 32768, head_dim=128, sliding_window=4096),
    "seed_oss": _class(155136, 4096, 27648, 64, 80, 8, 524288, head_dim=128),
    "smollm3": _class(128256, 2048, 11008, 36, 16, 4, 32768, tied=True),
    "stablelm": _class(50304, 2560, 6912, 32, 32, 32, 4096),
    "starcoder2": _class(49152, 3072, 12288, 30, 24, 2, 4096, tied=True),
}
