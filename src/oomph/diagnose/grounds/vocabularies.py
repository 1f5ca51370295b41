"""How many words common models know, for logs that name no model whose config is at hand.

Knows `vocab_size` of the published config.json of families that are served a lot. Does not know any model exactly: a
name that says more than its family is not looked at.
"""

from collections.abc import Iterator
from typing import Final

# Words that tell a family in a model's name, and the sizes that its members have; the most common first.
_FAMILIES: Final = {
    "qwen2.5": (152064, 151936),
    "distill-qwen": (152064, 151936),
    "qwq": (152064,),
    "llama-3": (128256,),
    "distill-llama": (128256,),
    "nemotron-super": (128256,),
    "hermes-3": (128256,),
    "qwen3": (151936,),
    "qwen3.5": (248320,),
    "qwen3.6": (248320,),
    "qwen3.8": (248320,),
    "qwen2": (151936, 152064, 151646),
    "qwen1.5": (151936, 152064),
    "gpt-oss": (201088,),
    "deepseek-v2": (102400,),
    "deepseek-coder-v2": (102400,),
    "deepseek-v3": (129280,),
    "deepseek-v4": (129280,),
    "deepseek-r1": (129280,),
    "llama-2": (32000,),
    "llama2": (32000,),
    "vicuna": (32000,),
    "mixtral": (32000, 32768),
    "mistral": (32000, 32768, 131072),
    "mistral-nemo": (131072,),
    "mistral-small": (131072,),
    "pixtral": (131072,),
    "devstral": (131072,),
    "magistral": (131072,),
    "nemotron": (131072, 256000),
    "gemma": (262144, 262208, 256000),
    "gemma-2": (256000,),
    "gemma-3": (262208, 262144),
    "gemma-4": (262144,),
    "llama-4": (202048,),
    "glm-4": (151552, 154880),
    "glm-4.7-flash": (154880,),
    "glm-5": (154880,),
    "kimi": (163840,),
    "moonlight": (163840,),
    "minimax-m": (200064,),
    "phi-3": (32064,),
    "phi-4": (100352, 200064),
    "granite": (49155, 49159, 100352),
    "command": (256000,),
    "aya": (256000,),
    "internlm": (92544,),
    "internvl": (151674, 92553),
    "seed-oss": (155136,),
    "ernie": (103424,),
    "olmo": (100352, 100278),
    "yi-": (64000,),
    "starcoder2": (49152,),
    "falcon": (65024, 131072),
    "whisper": (51866, 51865),
}


def vocabularies(model: str | None) -> tuple[int, ...]:
    """What a model of this name may have; of every family where the name tells none."""
    told = max(_told(model or ""), key=len, default=None)
    if told is not None:
        return _FAMILIES[told]
    return tuple(dict.fromkeys(size for sizes in _FAMILIES.values() for size in sizes))


def family(vocabulary: int) -> str:
    """One family that has as many words, for words about a size."""
    return next((name for name, sizes in _FAMILIES.items() if vocabulary in sizes), "")


def _told(model: str) -> Iterator[str]:
    """Families whose word stands in a name, however that is punctuated."""
    name = model.lower().replace("_", "-").replace("-3-", "-3.")
    return (word for word in _FAMILIES if word in name)
