"""Towers for pictures and video: what a multimodal model is made of besides its text model.

Knows the encoders and projectors by architecture, and which of their maps may be divided. Does not know what they need
while they run. A tower that is not known here is refused by name: its bytes would be missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from oomph.architectures.config import Config
from oomph.architectures.pieces import norm
from oomph.ledger.weights import Divide, Piece, Vector, matrix

_DEEPEST: Final = 1024  # layers of a tower

_EMPTY: Final = Config({}, "config.json: vision_config")


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """A stack of equal layers that look at patches."""

    name: str  # of one layer, before its number
    hidden: int
    inner: int
    depth: int
    qkv: str
    back: str
    norms: tuple[str, ...]
    up: str
    down: str
    bias: bool = True
    norm_bias: bool = True
    gated: bool = False
    divided: bool = True
    wide: int | None = None  # of queries, where it is not the model's
    heads: int | None = None  # where ranks that cannot divide so many keep the whole tower
    numbered: bool = False  # checkpoints are known that name single layers as not quantized
    extra: tuple[Piece, ...] = ()  # in every layer


def layers(encoder: Encoder) -> tuple[Piece, ...]:
    """Every layer: by its number where quantizations name one; else the pieces are shared, and only count."""
    if not encoder.numbered:
        return tuple(_layer(encoder, encoder.name)) * encoder.depth
    return tuple(piece for index in range(encoder.depth) for piece in _layer(encoder, f"{encoder.name}.{index}"))


def _layer(encoder: Encoder, name: str) -> Iterator[Piece]:
    outputs, inputs = (Divide.OUTPUTS, Divide.INPUTS) if encoder.divided else (Divide.NOT, Divide.NOT)
    hidden, ups, bias = encoder.hidden, (encoder.inner,) * (2 if encoder.gated else 1), encoder.bias
    wide = encoder.wide or hidden
    fused = _sources(f"{name}.{encoder.qkv}")
    maps = (
        matrix(f"{name}.{encoder.qkv}", hidden, wide, wide, wide, divide=outputs, bias=bias, sources=fused),
        matrix(f"{name}.{encoder.back}", wide, hidden, divide=inputs, bias=bias),
        matrix(f"{name}.{encoder.up}", hidden, *ups, divide=outputs, bias=bias),
        matrix(f"{name}.{encoder.down}", encoder.inner, hidden, divide=inputs, bias=bias),
    )
    yield from (replace(each, heads=encoder.heads) for each in maps) if encoder.heads is not None else maps
    for each in encoder.norms:
        yield from norm(f"{name}.{each}", hidden, bias=encoder.norm_bias)
    yield from encoder.extra


def _sources(name: str) -> tuple[str, ...]:
    """What a checkpoint calls the three that are fused, where it holds them apart."""
    before, fused, _ = name.rpartition("qkv_proj")
    return tuple(f"{before}{part}_proj" for part in "qkv") if fused else ()


def linear(
    name: str, inputs: int, outputs: int, divide: Divide = Divide.NOT, *, bias: bool = True
) -> tuple[Piece, ...]:
    """One map, whole on every rank unless told otherwise; one of patches is a convolution, which is never quantized."""
    return (matrix(name, inputs, outputs, divide=divide, bias=bias, plain=name.endswith("patch_embed.proj")),)


def numbers(name: str, *extents: int) -> tuple[Piece, ...]:
    """Numbers that are no map, kept whole."""
    size = 1
    for extent in extents:
        size *= extent
    return (Vector(name=name, size=size),)


def depth_of(config: Config, *names: str, default: int) -> int:
    """How many layers a tower has; bounded, because each is a piece of its own."""
    depth = config.whole(*names, default=default)
    if depth > _DEEPEST:
        raise config.refusal(names[0], f"a tower of {depth} layers is deeper than any")
    return depth


def vision(config: Config, name: str = "vision_config") -> Config:
    """The config of the tower; an empty one where the class's defaults stand."""
    return config.sub(name) if name in config else _EMPTY


def qwen3(config: Config) -> tuple[Piece, ...]:
    """Qwen 3 VL and Qwen 3.5: an encoder, a merger, and mergers for what deeper text layers see."""
    seen = vision(config)
    hidden, merge = seen.whole("hidden_size", default=1152), seen.whole("spatial_merge_size", default=2)
    wide, out = hidden * merge**2, seen.whole("out_hidden_size", default=3584)
    deep = len(seen.items("deepstack_visual_indexes", int, default=[]))
    patch = seen.whole("patch_size", default=16) ** 2 * seen.whole("temporal_patch_size", default=2)

    def merger(name: str, normed: int) -> tuple[Piece, ...]:
        return (
            *norm(f"{name}.norm", normed, bias=True),
            *linear(f"{name}.linear_fc1", wide, wide, Divide.OUTPUTS),
            *linear(f"{name}.linear_fc2", wide, out, Divide.INPUTS),
        )

    return (
        *linear("visual.patch_embed.proj", seen.whole("in_channels", default=3) * patch, hidden),
        *numbers("visual.pos_embed.weight", seen.whole("num_position_embeddings", default=2304), hidden),
        *merger("visual.merger", hidden),
        *merger("visual.deepstack_merger_list", wide) * deep,
        *layers(
            Encoder(
                name="visual.blocks",
                hidden=hidden,
                inner=seen.whole("intermediate_size", default=4304),
                depth=depth_of(seen, "depth", default=27),
                qkv="attn.qkv",
                back="attn.proj",
                norms=("norm1", "norm2"),
                up="mlp.linear_fc1",
                down="mlp.linear_fc2",
            )
        ),
    )


def qwen25(config: Config) -> tuple[Piece, ...]:
    """Qwen 2.5 VL: an encoder with a gate, and a merger."""
    seen = vision(config)
    hidden, merge = seen.whole("hidden_size", default=1280), seen.whole("spatial_merge_size", default=2)
    wide, out = hidden * merge**2, seen.whole("out_hidden_size", default=3584)
    patch = seen.whole("patch_size", default=14) ** 2 * seen.whole("temporal_patch_size", default=2)
    return (
        *linear(
            "visual.patch_embed.proj", seen.whole("in_channels", "in_chans", default=3) * patch, hidden, bias=False
        ),
        *norm("visual.merger.ln_q", hidden),
        *linear("visual.merger.mlp.0", wide, wide, Divide.OUTPUTS),
        *linear("visual.merger.mlp.2", wide, out, Divide.INPUTS),
        *layers(
            Encoder(
                name="visual.blocks",
                hidden=hidden,
                inner=seen.whole("intermediate_size", default=3420),
                depth=depth_of(seen, "depth", default=32),
                qkv="attn.qkv",
                back="attn.proj",
                norms=("norm1", "norm2"),
                up="mlp.gate_up_proj",
                down="mlp.down_proj",
                norm_bias=False,
                gated=True,
            )
        ),
    )


def _siglip_or_clip(seen: Config, *, hidden: int, depth: int) -> tuple[Piece, ...]:
    name = "vision_tower.vision_model.encoder.layers"
    return layers(
        Encoder(
            name=name,
            hidden=hidden,
            inner=seen.whole("intermediate_size", default=4304),
            depth=depth,
            qkv="self_attn.qkv_proj",
            back="self_attn.out_proj",
            norms=("layer_norm1", "layer_norm2"),
            up="mlp.fc1",
            down="mlp.fc2",
        )
    )


def gemma3(config: Config) -> tuple[Piece, ...]:
    """Gemma 3: SigLIP and a projection kept whole on every rank."""
    seen, text = vision(config), config.sub("text_config")
    hidden, patch = seen.whole("hidden_size", default=1152), seen.whole("patch_size", default=14)
    patches = (seen.whole("image_size", default=896) // patch) ** 2
    top = "vision_tower.vision_model"
    return (
        *linear(f"{top}.embeddings.patch_embedding", seen.whole("num_channels", default=3) * patch**2, hidden),
        *numbers(f"{top}.embeddings.position_embedding.weight", patches, hidden),
        *_siglip_or_clip(seen, hidden=hidden, depth=depth_of(seen, "num_hidden_layers", default=27)),
        *norm(f"{top}.post_layernorm", hidden, bias=True),
        *numbers("multi_modal_projector.mm_input_projection_weight", hidden, text.whole("hidden_size", default=2304)),
        *norm("multi_modal_projector.mm_soft_emb_norm", hidden),
    )


def llava(config: Config) -> tuple[Piece, ...]:
    """Llava: CLIP up to the layer whose output is used, and two maps."""
    seen, text = vision(config), config.sub("text_config")
    hidden, patch = seen.whole("hidden_size", default=768), seen.whole("patch_size", default=32)
    width = text.whole("hidden_size", default=4096)
    patches = (seen.whole("image_size", default=224) // patch) ** 2
    deep = depth_of(seen, "num_hidden_layers", default=12)
    used = config.raw("vision_feature_layer")
    used = -2 if used is None else used
    if not isinstance(used, int) or not -deep <= used <= deep:
        field = "vision_feature_layer"
        raise config.refusal(field, f"one layer of {deep} was expected, not {used!r:.40}")
    bias = config.flag("multimodal_projector_bias", default=True)
    top = "vision_tower.vision_model"
    return (
        *numbers(f"{top}.embeddings.class_embedding", hidden),
        *linear(f"{top}.embeddings.patch_embedding", 3 * patch**2, hidden, bias=False),
        *numbers(f"{top}.embeddings.position_embedding.weight", patches + 1, hidden),
        *norm(f"{top}.pre_layrnorm", hidden, bias=True),
        *_siglip_or_clip(seen, hidden=hidden, depth=deep + used + 1 if used < 0 else used),
        *linear("multi_modal_projector.linear_1", hidden, width, Divide.OUTPUTS, bias=bias),
        *linear("multi_modal_projector.linear_2", width, width, Divide.INPUTS, bias=bias),
    )


def mistral3(config: Config) -> tuple[Piece, ...]:
    """Mistral 3: Pixtral, a merger of patches and two maps."""
    seen, text = vision(config), config.sub("text_config")
    hidden, patch = seen.whole("hidden_size", default=1024), seen.whole("patch_size", default=16)
    width, merge = text.whole("hidden_size"), config.whole("spatial_merge_size", default=2)
    bias = config.flag("multimodal_projector_bias", default=False)
    return (
        *linear("vision_tower.patch_conv", seen.whole("num_channels", default=3) * patch**2, hidden, bias=False),
        *norm("vision_tower.ln_pre", hidden),
        *layers(
            Encoder(
                name="vision_tower.transformer.layers",
                hidden=hidden,
                inner=seen.whole("intermediate_size", default=4096),
                depth=depth_of(seen, "num_hidden_layers", default=24),
                qkv="attention.qkv_proj",
                back="attention.o_proj",
                norms=("attention_norm", "ffn_norm"),
                up="feed_forward.gate_up_proj",
                down="feed_forward.down_proj",
                bias=False,
                norm_bias=False,
                gated=True,
            )
        ),
        *norm("multi_modal_projector.norm", hidden),
        *linear("multi_modal_projector.patch_merger.merging_layer", hidden * merge**2, hidden, bias=False),
        *linear("multi_modal_projector.linear_1", hidden, width, Divide.OUTPUTS, bias=bias),
        *linear("multi_modal_projector.linear_2", width, width, Divide.INPUTS, bias=bias),
    )
