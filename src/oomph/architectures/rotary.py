"""How a model turns heads by position, from the fields of its config: how wide, how far, and in how many ways.

Knows one way for all layers, one for each kind of layer, and the architectures that differ. What it does not
understand it reads as nothing special, since vLLM refuses it by itself and a table is a small part of the weights.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from oomph.architectures.config import Config
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Compressed, Geometry, Latent
from oomph.ledger.rotary import Rotary, Stretch

Fields: TypeAlias = Mapping[str, object]
Reads: TypeAlias = Callable[[Fields, Geometry], Iterable[Rotary]]

# No layer of these is turned: positions are learned, or a state has them already.
WITHOUT: Final = frozenset(
    {
        "FalconMambaForCausalLM",
        "GPT2LMHeadModel",
        "JambaForCausalLM",
        "KimiK3ForConditionalGeneration",
        "KimiLinearForCausalLM",
        "Mamba2ForCausalLM",
        "MambaForCausalLM",
        "NemotronHForCausalLM",
    }
)
_STRETCHES: Final = {
    "deepseek_llama_scaling": Stretch.YARN,
    "deepseek_yarn": Stretch.YARN,
    "dynamic": Stretch.DYNAMIC,
    "linear": Stretch.LINEAR,
    "llama3": Stretch.LLAMA,
    "longrope": Stretch.LONG,
    "ntk": Stretch.NTK,
    "su": Stretch.LONG,
    "yarn": Stretch.YARN,
}
# What share of a head is turned where the config is silent: the default of its class.
_SHARES: Final = {
    "BambaForCausalLM": 0.5,
    "Glm4ForCausalLM": 0.5,
    "Glm4MoeForCausalLM": 0.5,
    "GlmForCausalLM": 0.5,
    "PhiForCausalLM": 0.5,
    "Qwen3NextForCausalLM": 0.25,
    "StableLmForCausalLM": 0.25,
    "Qwen3_5ForCausalLM": 0.25,
    "Qwen3_5ForConditionalGeneration": 0.25,
    "Qwen3_5MoeForCausalLM": 0.25,
    "Qwen3_5MoeForConditionalGeneration": 0.25,
}
_KINDS: Final = {"sliding_attention": True, "full_attention": False}  # whether layers of the kind have a window
# Positions have several axes whether the config says it or leaves it to its class.
_WITH_AXES: Final = frozenset(
    {
        "Qwen2_5_VLForConditionalGeneration",
        "Qwen3OmniMoeForConditionalGeneration",
        "Qwen3VLForConditionalGeneration",
        "Qwen3VLMoeForConditionalGeneration",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForConditionalGeneration",
    }
)
_MOST: Final = 1e6  # times; what is more is no context


def rotary(name: str, config: Config, found: Geometry) -> tuple[Rotary, ...]:
    """Every way in which layers of this architecture are turned; none where none is."""
    return () if name in WITHOUT else tuple(_BY_NAME.get(name, _usual)(_text(config.fields), found))


def _usual(text: Fields, found: Geometry) -> Iterator[Rotary]:
    """One for each width of a head; where the config tells kinds of layers apart, one for each that differs."""
    said = _said(text)
    kinds: list[tuple[Fields, bool | None]] = [
        (params, windowed) for kind, windowed in _KINDS.items() if isinstance(params := said.get(kind), Mapping)
    ]
    seen: list[tuple[int, Fields]] = []
    for params, windowed in kinds or [(said, None)]:
        for width in _widths(found, windowed=windowed):
            if (width, params) not in seen:
                seen.append((width, params))
                yield _one(text, params, width, found)


def _apart(text: Fields, found: Geometry) -> Iterator[Rotary]:
    """One for layers without a window, and one with a base of its own for those with one (Gemma 3, MiMo V2)."""
    said = _said(text)
    nested = any(kind in said for kind in _KINDS)
    sliding, full = (said.get(kind, {}) if nested else other for kind, other in zip(_KINDS, ({}, said), strict=True))
    for params, windowed in ((full, False), (sliding, True)):
        if isinstance(params, Mapping):
            yield from (_one(text, params, width, found) for width in _widths(found, windowed=windowed))


def _sparse(text: Fields, found: Geometry) -> Iterator[Rotary]:
    """That of the attention, and the indexer's own unless both turn neighbouring numbers together."""
    ways = tuple(_usual(text, found))
    yield from ways * (1 if text.get("indexer_rope_interleave") is True else 2)


def _compressed(text: Fields, found: Geometry) -> Iterator[Rotary]:
    """One for layers that compress, which is stretched, and one for those that only have a window; in 32 bits."""
    mixers = [mixer for layer in found.layers for mixer in layer.mixers if isinstance(mixer, Compressed)]
    for compresses in dict.fromkeys(mixer.ratio is not None for mixer in mixers):
        one = _one(text, _said(text) if compresses else {}, mixers[0].rope_dim, found)
        yield replace(one, dtype=Dtype.F32)


def _by_layer(text: Fields, found: Geometry) -> Iterator[Rotary]:
    """One for every base and share that the config lists by layer; only listed kinds are stretched (Step 3.5)."""
    stretched, said = text.get("yarn_only_types"), _said(text)
    names = ("rope_theta", "partial_rotary_factors", "layer_types")
    seen: list[object] = []
    for index, layer in enumerate(found.layers):
        base, share, kind = (_at(text.get(name), index) for name in names)
        lengthened = not isinstance(stretched, list) or kind in stretched
        params = {**(said if lengthened else {}), **({} if share is None else {"partial_rotary_factor": share})}
        for width in _widths(replace(found, layers=(layer,))):
            if (base, width, params) not in seen:
                seen.append((base, width, params))
                yield _one(text, params, width, found)


def _in_32_bits(text: Fields, found: Geometry) -> Iterator[Rotary]:
    yield from (replace(one, dtype=Dtype.F32) for one in _usual(text, found))


def _where(field: str, wanted: object, *, default: object) -> Reads:
    """Only where a field asks for it."""
    return lambda text, found: _usual(text, found) if text.get(field, default) == wanted else ()


def _one(text: Fields, params: Fields, width: int, found: Geometry) -> Rotary:
    kind = str(params.get("rope_type", params.get("type", "default")))
    stretch = _STRETCHES.get(kind, Stretch.NOT)
    original = params.get("original_max_position_embeddings", text.get("original_max_position_embeddings"))
    return Rotary(
        width=_turned(text, params, width, found, whole=kind == "proportional"),
        tokens=found.context_tokens,
        stretch=stretch,
        factor=_number(params.get("factor"), 1.0, most=_MOST) if stretch is not Stretch.NOT else 1.0,
        original=original if isinstance(original, int) and not isinstance(original, bool) and original > 0 else None,
        axes="mrope_section" in params or found.architecture in _WITH_AXES,
    )


def _turned(text: Fields, params: Fields, width: int, found: Geometry, *, whole: bool) -> int:
    """Numbers of a head of this width that are turned."""
    if whole:
        return width
    said = text.get("rotary_dim")
    usual = said / width if isinstance(said, int) and 0 < said <= width else _SHARES.get(found.architecture, 1.0)
    named = (each.get(name) for each in (params, text) for name in ("partial_rotary_factor", "rotary_pct"))
    share = next((_number(each, usual, most=1.0) for each in named if each is not None), usual)
    return max(1, int(width * share))


def _widths(found: Geometry, *, windowed: bool | None = None) -> tuple[int, ...]:
    """Of all heads, or of those of layers with a window, or without one."""
    once = {id(layer): layer for layer in found.layers}.values()
    mixers = [mixer for layer in once for mixer in layer.mixers if isinstance(mixer, Attention | Latent)]
    wanted = [each for each in mixers if windowed is None or (getattr(each, "window", None) is not None) is windowed]
    return tuple(dict.fromkeys(each.head_dim if isinstance(each, Attention) else each.rope_dim for each in wanted))


def _said(text: Fields) -> Fields:
    """What the config says of positions, under either name."""
    for name in ("rope_parameters", "rope_scaling"):
        said = text.get(name)
        if isinstance(said, Mapping) and said:
            return said
    return {}


def _text(fields: Fields) -> Fields:
    """The fields of the text model."""
    for name in ("thinker_config", "text_config", "llm_config"):
        inner = fields.get(name)
        if isinstance(inner, Mapping):
            return _text(inner)
    return fields


def _number(value: object, default: float, *, most: float) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= most
    return float(value) if good and isinstance(value, int | float) else default


def _at(value: object, index: int) -> object:
    """Of a layer, where there is one for each; else of all."""
    if not isinstance(value, list):
        return value
    return value[index] if index < len(value) else None


_BY_NAME: Final[Mapping[str, Reads]] = {
    "DeepseekV32ForCausalLM": _sparse,
    "DeepseekV4ForCausalLM": _compressed,
    "FalconForCausalLM": _where("alibi", wanted=False, default=False),
    "Gemma3ForCausalLM": _apart,
    "Gemma3ForConditionalGeneration": _apart,
    "GlmMoeDsaForCausalLM": _sparse,
    "GptOssForCausalLM": _in_32_bits,
    "GraniteMoeHybridForCausalLM": _where("position_embedding_type", wanted="rope", default=None),
    "MiMoV2FlashForCausalLM": _apart,
    "Step3p5ForCausalLM": _by_layer,
    "Step3p7ForConditionalGeneration": _by_layer,
    "Zamba2ForCausalLM": _where("use_mem_rope", wanted=True, default=False),
}
