"""What the engine calls modules that a checkpoint calls otherwise.

Knows, for each architecture, the part of `hf_to_vllm_mapper` (model_executor/models) that renames modules rather than
tensors. An architecture that is not listed keeps its names.
"""

from collections.abc import Mapping
from typing import Final

# Every pair is tried in turn: a name that begins with the first begins with the second from then on.
_BEHIND: Final = (("model.language_model.", "language_model.model."), ("lm_head.", "language_model.lm_head."))
_VISION: Final = (("model.vision_tower.", "vision_tower."), ("model.multi_modal_projector.", "multi_modal_projector."))
_QWEN: Final = (("model.visual.", "visual."), *_BEHIND)
_REST: Final = (("model.", "language_model.model."),)
_GEMMA4: Final = (
    ("model.vision_tower", "vision_tower"),
    ("model.embed_vision", "embed_vision"),
    ("model.audio_tower.", "audio_tower."),
    ("model.embed_audio.", "embed_audio."),
    *_BEHIND,
    ("model", "language_model.model"),
)
_STEP: Final = (
    ("model.vision_model.", "vision_model."),
    ("model.vit_large_projector", "vit_large_projector"),
    ("model.language_model", "language_model.model"),
    *_REST,
    ("lm_head", "language_model.lm_head"),
)
_DEEPSEEK: Final = (
    ("layers.", "model.layers."),
    ("embed.", "model.embed."),
    ("norm.", "model.norm."),
    ("mtp.", "model.mtp."),
)
_INNER: Final = (("model.language_model.", "model."),)

PREFIXES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "DeepseekV4ForCausalLM": _DEEPSEEK,
    "Gemma3ForConditionalGeneration": (*_VISION, *_BEHIND),
    "Gemma4ForCausalLM": _INNER,
    "Gemma4ForConditionalGeneration": _GEMMA4,
    "KimiK25ForConditionalGeneration": (
        ("language_model.layers.", "language_model.model.layers."),
        ("mm_projector.proj.0", "mm_projector.linear_1"),
        ("mm_projector.proj.2", "mm_projector.linear_2"),
    ),
    "LlavaForConditionalGeneration": (*_VISION, *_BEHIND),
    "Mistral3ForConditionalGeneration": (*_VISION, *_BEHIND, *_REST),
    "NemotronHForCausalLM": (("backbone", "model"),),
    "NemotronHPuzzleForCausalLM": (("backbone", "model"),),
    "Phi3VForCausalLM": (
        ("model.vision_embed_tokens.wte", "embed_tokens"),
        ("model.vision_embed_tokens.", "vision_embed_tokens."),
        ("lm_head.", "language_model.lm_head."),
        *_REST,
    ),
    "Qwen2VLForConditionalGeneration": (*_QWEN, *_REST),
    "Qwen2_5_VLForConditionalGeneration": (*_QWEN, *_REST),
    "Qwen3VLForConditionalGeneration": _QWEN,
    "Qwen3VLMoeForConditionalGeneration": _QWEN,
    "Qwen3_5ForCausalLM": _INNER,
    "Qwen3_5MoeForCausalLM": _INNER,
    "Qwen3_5ForConditionalGeneration": _QWEN,
    "Qwen3_5MoeForConditionalGeneration": _QWEN,
    "Qwen3OmniMoeForConditionalGeneration": (
        ("thinker.lm_head.", "language_model.lm_head."),
        ("thinker.model.", "language_model.model."),
        ("thinker.", ""),
        *_REST,
        ("lm_head.", "language_model.lm_head."),
    ),
    "Step3p7ForConditionalGeneration": _STEP,
    "Step3p7FlashForCausalLM": _STEP,
}
# Likewise, but anywhere in the name, once, and before the beginnings.
PARTS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "GptOssForCausalLM": ((".self_attn.", ".attn."),),
    "Step3p5ForCausalLM": ((".share_expert.", ".moe.share_expert."),),
}


def renamed(name: str, architecture: str) -> str:
    """A name or pattern of the checkpoint as the engine's."""
    for old, new in PARTS.get(architecture, ()):
        name = name.replace(old, new, 1)
    for old, new in PREFIXES.get(architecture, ()):
        if name.startswith(old):
            name = new + name.removeprefix(old)
    return name
