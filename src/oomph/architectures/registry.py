"""Which file reads which architecture; one that no file reads is refused by name, never guessed.

A file is imported when a model of its kind is read, because most of them never are.
"""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Final

from oomph.architectures.config import Config
from oomph.architectures.rotary import rotary
from oomph.architectures.sight import sight
from oomph.errors import UnknownArchitecture
from oomph.ledger.checkpoint import Checkpoint
from oomph.ledger.geometry import Geometry
from oomph.ledger.quantization import Quantization

FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "decilm": ("DeciLMForCausalLM",),
    "compressed": ("DeepseekV4ForCausalLM",),
    "convolution": (
        "Lfm2ForCausalLM",
        "Lfm2MoeForCausalLM",
    ),
    "delta": (
        "Qwen3NextForCausalLM",
        "Qwen3_5ForCausalLM",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForCausalLM",
        "Qwen3_5MoeForConditionalGeneration",
    ),
    "dense": (
        "ApertusForCausalLM",
        "ArceeForCausalLM",
        "Cohere2ForCausalLM",
        "CohereForCausalLM",
        "Exaone4ForCausalLM",
        "GemmaForCausalLM",
        "Glm4ForCausalLM",
        "GlmForCausalLM",
        "GraniteForCausalLM",
        "IQuestCoderForCausalLM",
        "InternLM3ForCausalLM",
        "LLaMAForCausalLM",
        "LlamaForCausalLM",
        "MiMoForCausalLM",
        "Ministral3ForCausalLM",
        "MistralForCausalLM",
        "Olmo2ForCausalLM",
        "Olmo3ForCausalLM",
        "Phi3ForCausalLM",
        "Qwen2ForCausalLM",
        "Qwen3ForCausalLM",
        "SeedOssForCausalLM",
        "SmolLM3ForCausalLM",
        "Starcoder2ForCausalLM",
        "TeleChat3ForCausalLM",
    ),
    "experts": (
        "Ernie4_5_MoeForCausalLM",
        "Glm4MoeForCausalLM",
        "GraniteMoeForCausalLM",
        "GraniteMoeSharedForCausalLM",
        "MiniMaxM2ForCausalLM",
        "MixtralForCausalLM",
        "OlmoeForCausalLM",
        "PhiMoEForCausalLM",
        "Qwen2MoeForCausalLM",
        "Qwen3MoeForCausalLM",
        "Qwen3OmniMoeForConditionalGeneration",
        "Qwen3VLMoeForConditionalGeneration",
    ),
    "experts_mixed": (
        "GptOssForCausalLM",
        "Llama4ForCausalLM",
        "Llama4ForConditionalGeneration",
        "MiMoV2FlashForCausalLM",
        "Step3p5ForCausalLM",
        "Step3p7ForConditionalGeneration",
    ),
    "gemma4": ("Gemma4ForCausalLM",),
    "kimi_k3": ("KimiK3ForConditionalGeneration",),
    "kimi_linear": ("KimiLinearForCausalLM",),
    "latent": (
        "DeepseekV2ForCausalLM",
        "DeepseekV3ForCausalLM",
        "KimiK25ForConditionalGeneration",
    ),
    "lightning": (
        "MiniMaxForCausalLM",
        "MiniMaxM1ForCausalLM",
        "MiniMaxText01ForCausalLM",
    ),
    "minimax_m3": (
        "MiniMaxM3SparseForCausalLM",
        "MiniMaxM3SparseForConditionalGeneration",
    ),
    "nemotron": ("NemotronHForCausalLM",),
    "nested": (
        "Gemma3ForConditionalGeneration",
        "Gemma4ForConditionalGeneration",
        "LlavaForConditionalGeneration",
        "Mistral3ForConditionalGeneration",
        "Phi3VForCausalLM",
        "Qwen2_5_VLForConditionalGeneration",
        "Qwen3VLForConditionalGeneration",
    ),
    "own_names": (
        "ExaoneForCausalLM",
        "FalconForCausalLM",
        "GPT2LMHeadModel",
        "InternLM2ForCausalLM",
        "PhiForCausalLM",
        "StableLmForCausalLM",
    ),
    "sparse": (
        "DeepseekV32ForCausalLM",
        "GlmMoeDsaForCausalLM",
    ),
    "state": (
        "FalconMambaForCausalLM",
        "JambaForCausalLM",
        "Mamba2ForCausalLM",
        "MambaForCausalLM",
    ),
    "state_hybrid": (
        "BambaForCausalLM",
        "FalconH1ForCausalLM",
        "GraniteMoeHybridForCausalLM",
    ),
    "windows": (
        "Gemma2ForCausalLM",
        "Gemma3ForCausalLM",
    ),
    "zamba": ("Zamba2ForCausalLM",),
}

# Architectures with a tower besides their text model.
TOWERS: Final = frozenset(
    {
        "Gemma3ForConditionalGeneration",
        "Gemma4ForConditionalGeneration",
        "KimiK25ForConditionalGeneration",
        "KimiK3ForConditionalGeneration",
        "Llama4ForConditionalGeneration",
        "LlavaForConditionalGeneration",
        "Mistral3ForConditionalGeneration",
        "Qwen2_5_VLForConditionalGeneration",
        "Qwen3VLForConditionalGeneration",
        "Qwen3VLMoeForConditionalGeneration",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForConditionalGeneration",
    }
)

_FILE_OF: Final = {name: file for file, names in FILES.items() for name in names}


def geometry(fields: Mapping[str, object], where: str = "config.json") -> Geometry:
    """What the model of this config is."""
    config = Config(fields, where)
    named = config.items("architectures", str)
    for name in named:
        if name in _FILE_OF:
            return _read(name, config)
    message = (
        f"{where}: architectures: {', '.join(named)[:80] or 'none'} is not among the {len(_FILE_OF)} "
        f"architectures that are known (add a file to oomph/architectures, or plan with a similar model)"
    )
    raise UnknownArchitecture(message)


def quantization(
    fields: Mapping[str, object],
    companion: Mapping[str, object] | None = None,
    checkpoint: Checkpoint | None = None,
    where: str = "config.json",
) -> Quantization | None:
    """How the checkpoint of this config is stored, where it is not in the model's own format.

    `companion` is the `hf_quant_config.json` beside it; a checkpoint tells what some configs leave out.
    """
    inner = fields.get("text_config")
    said = (fields, inner) if isinstance(inner, dict) else (fields,)
    if companion is None and not any(name in each for each in said for name in _STORED):
        return None
    found: Quantization | None = import_module("oomph.architectures.stored.quantization").quantization(
        fields, companion, where
    )
    if found is None or checkpoint is None:
        return found
    seen: Quantization = import_module("oomph.architectures.stored.words").seen(found, checkpoint)
    return seen


_STORED: Final = ("quantization_config", "compression_config")


def _read(name: str, config: Config) -> Geometry:
    read = import_module(f"oomph.architectures.{_FILE_OF[name]}").ARCHITECTURES[name]
    found: Geometry = read(config)
    found = replace(found, chosen=_chosen(config), sight=sight(config), rotary=rotary(name, config, found))
    if (usual := _usual_tokens(config)) is not None:
        found = replace(found, usual_tokens=usual)
    if name not in TOWERS:
        return found
    towers = import_module("oomph.architectures.towers_by_name").TOWERS[name](config)
    return replace(found, towers=found.towers + towers)


_CHOSEN: Final = ("num_experts_per_tok", "experts_per_token", "top_k_experts", "num_experts_per_token", "moe_top_k")


def _chosen(config: Config) -> int | None:
    """Experts that one token goes through, wherever the config says it."""
    nested = (config.raw(name) for name in ("text_config", "llm_config", "thinker_config"))
    for fields in (*nested, config.fields):
        said = [fields[name] for name in _CHOSEN if name in fields] if isinstance(fields, Mapping) else []
        if said and isinstance(said[0], int) and said[0] > 0:
            return said[0]
    return None


def _usual_tokens(config: Config) -> int | None:
    """The context from which a longer one was stretched by LongRoPE; None where none was."""
    for name in ("rope_parameters", "rope_scaling"):
        said = config.raw(name)
        if isinstance(said, dict) and "longrope" in (said.get("rope_type"), said.get("type")):
            return config.maybe("original_max_position_embeddings")
    return None
