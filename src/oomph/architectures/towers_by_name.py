"""More towers: those that are kept whole on every rank, or built in a way of their own.

Knows Gemma 4, Llama 4 and Kimi. Which architecture has which tower stands at the end, for all of them.
"""

from collections.abc import Callable, Mapping
from typing import Final

from oomph.architectures import towers
from oomph.architectures.config import Config
from oomph.architectures.pieces import norm
from oomph.architectures.towers import Encoder, depth_of, layers, linear, numbers, vision
from oomph.ledger.weights import Divide, Piece


def gemma4(config: Config) -> tuple[Piece, ...]:
    """Gemma 4: an encoder with a gate, whole on every rank, and a projection."""
    if "audio_config" in config:
        field = "audio_config"
        raise config.refusal(field, "the tower for sound of Gemma 4 is not known yet")
    seen, text = vision(config), config.sub("text_config")
    hidden, patch = seen.whole("hidden_size", default=768), seen.whole("patch_size", default=16)
    head = seen.whole("head_dim", default=64)
    name = "vision_tower.encoder.layers"
    return (
        *numbers(
            "vision_tower.patch_embedder.position_embedding_table",
            2,
            seen.whole("position_embedding_size", default=10240),
            hidden,
        ),
        *linear("vision_tower.patch_embedder.input_proj", 3 * patch**2, hidden, bias=False),
        *layers(
            Encoder(
                name=name,
                hidden=hidden,
                inner=seen.whole("intermediate_size", default=3072),
                depth=depth_of(seen, "num_hidden_layers", default=16),
                qkv="self_attn.qkv_proj",
                back="self_attn.o_proj",
                norms=(
                    "input_layernorm",
                    "post_attention_layernorm",
                    "pre_feedforward_layernorm",
                    "post_feedforward_layernorm",
                ),
                up="mlp.gate_up_proj",
                down="mlp.down_proj",
                bias=False,
                norm_bias=False,
                gated=True,
                divided=False,
                extra=(*norm(f"{name}.self_attn.q_norm", head), *norm(f"{name}.self_attn.k_norm", head)),
            )
        ),
        *linear("embed_vision.embedding_projection", hidden, text.whole("hidden_size"), bias=False),
    )


def llama4(config: Config) -> tuple[Piece, ...]:
    """Llama 4: an encoder, an adapter and a projection."""
    seen, text = vision(config), config.sub("text_config")
    hidden, inner = seen.whole("hidden_size", default=768), seen.whole("intermediate_size", default=5632)
    patch = seen.whole("patch_size", default=14)
    patches = (seen.whole("image_size", default=448) // patch) ** 2
    adapted = seen.whole("projector_input_dim", default=4096)
    out = seen.whole("vision_output_dim", default=7680)
    between = inner
    return (
        *numbers("vision_model.class_embedding", hidden),
        *numbers("vision_model.positional_embedding_vlm", patches + 1, hidden),
        *linear("vision_model.patch_embedding.linear", 3 * patch**2, hidden, Divide.OUTPUTS, bias=False),
        *norm("vision_model.layernorm_pre", hidden, bias=True),
        *norm("vision_model.layernorm_post", hidden, bias=True),
        *layers(
            Encoder(
                name="vision_model.model.layers",
                numbered=True,
                hidden=hidden,
                inner=inner,
                depth=depth_of(seen, "num_hidden_layers", default=34),
                qkv="self_attn.qkv_proj",
                back="self_attn.o_proj",
                norms=("input_layernorm", "post_attention_layernorm"),
                up="mlp.fc1",
                down="mlp.fc2",
            )
        ),
        *linear("vision_model.vision_adapter.mlp.fc1", between, adapted, Divide.OUTPUTS, bias=False),
        *linear("vision_model.vision_adapter.mlp.fc2", adapted, adapted, Divide.INPUTS, bias=False),
        *linear("multi_modal_projector.linear_1", out, text.whole("hidden_size"), Divide.OUTPUTS, bias=False),
    )


def kimi(config: Config) -> tuple[Piece, ...]:
    """Kimi K2.5: MoonViT, and a projector kept whole on every rank."""
    seen, text = vision(config), config.sub("text_config")
    hidden, patch = seen.whole("vt_hidden_size", "hidden_size", default=1152), seen.whole("patch_size", default=14)
    merged = hidden
    for extent in seen.items("merge_kernel_size", int, default=[2, 2]):
        merged *= extent
    grid = (seen.whole("init_pos_emb_height", default=64), seen.whole("init_pos_emb_width", default=64))
    return (
        *linear("vision_tower.patch_embed.proj", 3 * patch**2, hidden),
        *numbers("vision_tower.patch_embed.pos_emb.weight", *grid, hidden),
        *layers(
            Encoder(
                name="vision_tower.encoder.blocks",
                hidden=hidden,
                inner=seen.whole("vt_intermediate_size", "intermediate_size", default=4304),
                depth=depth_of(seen, "vt_num_hidden_layers", "num_hidden_layers", default=27),
                qkv="wqkv",
                back="wo",
                norms=("norm0", "norm1"),
                up="mlp.fc0",
                down="mlp.fc1",
            )
        ),
        *norm("vision_tower.encoder.final_layernorm", hidden, bias=True),
        *norm("mm_projector.pre_norm", hidden, bias=True),
        *linear("mm_projector.linear_1", merged, merged),
        *linear("mm_projector.linear_2", merged, text.whole("hidden_size")),
    )


def kimi_k3(config: Config) -> tuple[Piece, ...]:
    """Kimi K3: the same without biases, with wider queries, and normed behind the projector."""
    seen, text = vision(config), config.sub("text_config")
    hidden, patch = seen.whole("vt_hidden_size", default=1024), seen.whole("patch_size", default=14)
    merged = hidden
    for extent in seen.items("merge_kernel_size", int, default=[2, 2]):
        merged *= extent
    grid = (seen.whole("init_pos_emb_height", default=64), seen.whole("init_pos_emb_width", default=64))
    encoder = Encoder(
        name="vision_tower.encoder.blocks",
        hidden=hidden,
        inner=seen.whole("vt_intermediate_size", default=4096),
        depth=depth_of(seen, "vt_num_hidden_layers", default=27),
        qkv="wqkv",
        back="wo",
        norms=("norm0", "norm1"),
        up="mlp.fc0",
        down="mlp.fc1",
        bias=False,
        norm_bias=False,
        wide=seen.whole("qkv_hidden_size", default=hidden),
        heads=seen.whole("vt_num_attention_heads", default=12),
    )
    return (
        *linear("vision_tower.patch_embed.proj", 3 * patch**2, hidden, bias=False),
        *numbers("vision_tower.patch_embed.pos_emb.weight", *grid, hidden),
        *layers(encoder),
        *norm("vision_tower.encoder.final_layernorm", hidden),
        *linear("mm_projector.linear_1", merged, merged, bias=False),
        *linear("mm_projector.linear_2", merged, text.whole("hidden_size"), bias=False),
        *norm("mm_projector.post_norm", text.whole("hidden_size")),
    )


TOWERS: Final[Mapping[str, Callable[[Config], tuple[Piece, ...]]]] = {
    "Qwen2_5_VLForConditionalGeneration": towers.qwen25,
    "Qwen3VLForConditionalGeneration": towers.qwen3,
    "Qwen3VLMoeForConditionalGeneration": towers.qwen3,
    "Qwen3_5ForConditionalGeneration": towers.qwen3,
    "Qwen3_5MoeForConditionalGeneration": towers.qwen3,
    "Gemma3ForConditionalGeneration": towers.gemma3,
    "Gemma4ForConditionalGeneration": gemma4,
    "LlavaForConditionalGeneration": towers.llava,
    "Mistral3ForConditionalGeneration": towers.mistral3,
    "Llama4ForConditionalGeneration": llama4,
    "KimiK25ForConditionalGeneration": kimi,
    "KimiK3ForConditionalGeneration": kimi_k3,
}
