"""Text models behind towers for pictures: Gemma 3 and 4, Mistral 3, Llava, Phi 3 Vision, Qwen VL.

Knows where such a config keeps its text model, and that the outer config says whether the head is tied. Does not know
towers: each reader hands back the text model alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from oomph.architectures import decoder, dense, gemma4, pieces, windows
from oomph.architectures.config import Config
from oomph.ledger.geometry import Geometry

_MODEL: Final = "language_model.model"
_BY_TYPE: Final = {"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "ministral3": "Ministral3ForCausalLM"}


def gemma3(config: Config) -> Geometry:
    """Its text model."""
    return _behind(config, windows.GEMMA3, tied=_tied(config, default=True))


def gemma4s(config: Config) -> Geometry:
    """Its text model."""
    inner = config.sub("text_config")
    return gemma4.text(
        inner,
        architecture=config.items("architectures", str)[0],
        dtype=config.dtype(default=inner.dtype()),
        model=_MODEL,
        tied=_tied(config, default=True),
    )


def mistral3(config: Config) -> Geometry:
    """Its text model. The class ties the head unless told otherwise; a checkpoint that has one overrules both."""
    return _behind(config, _build(config), tied=_tied(config, default=True))


def llava(config: Config) -> Geometry:
    """Its text model; either config may tie the head."""
    tied = _tied(config, default=False) or _tied(config.sub("text_config"), default=False)
    return _behind(config, _build(config), tied=tied)


def phi3v(config: Config) -> Geometry:
    """Its text model, whose fields are not nested, and whose words the tower keeps once more."""
    found = decoder.read(config, replace(dense.BUILDS["Phi3ForCausalLM"], kind="phi3"), model=_MODEL)
    beside = pieces.words(found.vocabulary, found.hidden, name="embed_tokens")
    return replace(found, towers=beside)


def qwen3vl(config: Config) -> Geometry:
    """Its text model; either config may tie the head."""
    tied = _tied(config, default=False) or _tied(config.sub("text_config"), default=False)
    return _behind(config, dense.BUILDS["Qwen3ForCausalLM"], tied=tied)


def qwen25vl(config: Config) -> Geometry:
    """Its text model, whose fields older configs do not nest."""
    if "text_config" not in config:
        return decoder.read(config, dense.BUILDS["Qwen2ForCausalLM"], model=_MODEL)
    return _behind(config, dense.BUILDS["Qwen2ForCausalLM"], tied=_tied(config, default=False))


def _behind(config: Config, build: decoder.Build, *, tied: bool) -> Geometry:
    inner = config.sub("text_config")
    return decoder.text(
        inner,
        build,
        architecture=config.items("architectures", str)[0],
        dtype=config.dtype(default=inner.dtype()),
        model=_MODEL,
        tied=tied,
    )


def _build(config: Config) -> decoder.Build:
    """Of the text model, by the architecture that it names or by its type."""
    inner = config.sub("text_config")
    kind = inner.text("model_type", default="llama")
    named = inner.items("architectures", str, default=[_BY_TYPE.get(kind, "")])
    for name in named:
        if name in dense.BUILDS:
            return dense.BUILDS[name]
    raise inner.refusal(name="model_type", why=f"{kind!r:.40} is no text model that is known behind these towers")


def _tied(config: Config, *, default: bool) -> bool:
    return config.flag("tie_word_embeddings", default=default)


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {
    "Gemma3ForConditionalGeneration": gemma3,
    "Gemma4ForConditionalGeneration": gemma4s,
    "Mistral3ForConditionalGeneration": mistral3,
    "LlavaForConditionalGeneration": llava,
    "Phi3VForCausalLM": phi3v,
    "Qwen2_5_VLForConditionalGeneration": qwen25vl,
    "Qwen3VLForConditionalGeneration": qwen3vl,
}
