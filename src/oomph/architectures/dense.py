"""Llama and what is built like it, with windows in all layers, in some or in none.

Knows what tells these architectures apart; `decoder` builds them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from oomph.architectures import hybrid, pieces, reach
from oomph.architectures.config import Config
from oomph.architectures.decoder import (
    Build,
    Names,
    both,
    gated,
    head_norms,
    inward,
    llama_biases,
    mixer,
    read,
    square,
    text,
    wide_norms,
)
from oomph.ledger.geometry import Attention, Geometry, Layer
from oomph.ledger.weights import Divide, Piece, Vector, matrix

__all__ = ["ARCHITECTURES", "Build", "mixer", "read", "text"]


def mimo(config: Config) -> Geometry:
    """Qwen2 with layers that guess ahead: each a layer of the model, and what joins a word with a hidden state."""
    found = read(config, QWEN2)
    hidden = found.hidden
    joins: tuple[Piece, ...] = (
        *pieces.norm("token_layernorm", hidden),
        *pieces.norm("hidden_layernorm", hidden),
        matrix("input_proj", 2 * hidden, hidden, divide=Divide.NOT, plain=True),
        *pieces.norm("final_layernorm", hidden),
    )
    block = found.layers[-1]
    ahead = Layer(mixers=block.mixers, weights=(*block.weights, *joins))
    count = config.whole("num_nextn_predict_layers", default=0, least=0)
    if count > hybrid.MOST:
        raise config.refusal(
            name="num_nextn_predict_layers", why=f"{count} is more than the {hybrid.MOST} layers of a model"
        )
    return replace(found, draft=(ahead,) * count)


def _after(_config: Config) -> tuple[str, ...]:
    """Norms after the blocks, none before."""
    return ("post_attention_layernorm", "post_feedforward_layernorm")


def _cohere_norms(config: Config, attends: Attention) -> tuple[Piece, ...]:
    """Norms that each head has for itself, divided as the heads are."""
    if not config.flag("use_qk_norm", default=False):
        return ()
    width = attends.head_dim
    return (
        Vector(name="self_attn.q_norm.weight", size=attends.heads * width, divided=True),
        Vector(name="self_attn.k_norm.weight", size=attends.kv_heads * width, divided=True, heads=attends.kv_heads),
    )


def _sinks(config: Config, attends: Attention) -> tuple[Piece, ...]:
    """One number per head that takes part in the softmax, where a config lists kinds of layers."""
    if not config.flag("attention_sinks", default="layer_types" in config):
        return ()
    return (Vector(name="self_attn.sinks", size=attends.heads, divided=True),)


def _ungated(config: Config, hidden: int) -> tuple[Piece, ...]:
    bias = config.flag("mlp_bias", default=False)
    return pieces.plain(hidden, config.whole("intermediate_size"), up="mlp.up_proj", down="mlp.down_proj", bias=bias)


def _curved(config: Config, hidden: int) -> tuple[Piece, ...]:
    """Without a gate, and an activation that was learned."""
    return (
        *_ungated(config, hidden),
        Vector(name="mlp.act_fn.alpha_p", size=1),
        Vector(name="mlp.act_fn.alpha_n", size=1),
    )


def _fused_feed(config: Config, hidden: int) -> tuple[Piece, ...]:
    """With a gate that the checkpoint holds fused."""
    bias = config.flag("mlp_bias", default=False)
    return pieces.gated(hidden, config.whole("intermediate_size"), bias=bias, parts=())


def _starcoder(config: Config, hidden: int) -> tuple[Piece, ...]:
    bias = config.flag("use_bias", default=True)
    return pieces.plain(hidden, config.whole("intermediate_size"), up="mlp.c_fc", down="mlp.c_proj", bias=bias)


def _seed_biases(config: Config) -> tuple[bool, bool]:
    return config.flag("attention_bias", default=True), config.flag("attention_out_bias", default=False)


def _nopes(config: Config, depth: int) -> list[int | None]:
    """A window, where it is asked for, in the layers without positions: every fourth, unless listed (SmolLM3)."""
    if "layer_types" in config or not config.flag("use_sliding_window", default=False):
        return reach.listed(config, depth) if "layer_types" in config else reach.everything(config, depth)
    step = config.whole("no_rope_layer_interval", default=4)
    turns = config.items("no_rope_layers", int, default=[int((index + 1) % step != 0) for index in range(depth)])
    if len(turns) != depth:
        raise config.refusal(name="no_rope_layers", why=f"{len(turns)} layers are listed for {depth}")
    window = config.maybe("sliding_window")
    return [None if turn else window for turn in turns]


FUSED: Final = Names(parts=())
LLAMA: Final = Build(kind="llama", biases=llama_biases, feed=gated, reach=reach.listed)
MISTRAL: Final = replace(LLAMA, kind="mistral")
QWEN2: Final = Build(kind="qwen2", biases=lambda _config: (True, False), mixer=square, reach=reach.late)
QWEN3: Final = Build(kind="qwen3", biases=inward("attention_bias"), besides=head_norms, reach=reach.late)
OLMO2: Final = Build(kind="olmo2", biases=both("attention_bias"), besides=wide_norms, norms=_after, reach=reach.listed)
COHERE: Final = Build(
    kind="cohere", besides=_cohere_norms, norms=lambda _config: ("input_layernorm",), tied=True, uncut=True
)
GLM: Final = Build(kind="glm", biases=inward("attention_bias", default=True), feed=_fused_feed)
EXAONE4: Final = Build(
    kind="exaone4",
    biases=both("attention_bias", "bias"),
    besides=head_norms,
    feed=gated,
    norms=_after,
    reach=reach.every(4, field="sliding_window_pattern"),
)
BUILDS: Final[Mapping[str, Build]] = {
    "LlamaForCausalLM": LLAMA,
    "LLaMAForCausalLM": LLAMA,
    "InternLM3ForCausalLM": LLAMA,
    "IQuestCoderForCausalLM": LLAMA,
    "TeleChat3ForCausalLM": LLAMA,
    "MistralForCausalLM": MISTRAL,
    "Ministral3ForCausalLM": replace(MISTRAL, kind="ministral3"),
    "Qwen2ForCausalLM": QWEN2,
    "Qwen3ForCausalLM": QWEN3,
    "Phi3ForCausalLM": replace(LLAMA, kind="phi3", feed=_fused_feed, names=FUSED),
    "Olmo2ForCausalLM": OLMO2,
    "Olmo3ForCausalLM": replace(OLMO2, kind="olmo3", reach=reach.every(4)),
    "CohereForCausalLM": COHERE,
    "Cohere2ForCausalLM": replace(COHERE, kind="cohere2", mixer=square, reach=reach.every(4, more=1)),
    "GemmaForCausalLM": Build(kind="gemma", uncut=True),
    "GraniteForCausalLM": Build(
        kind="granite", biases=both("attention_bias", "bias"), besides=_sinks, feed=gated, reach=reach.listed
    ),
    "GlmForCausalLM": GLM,
    "Glm4ForCausalLM": replace(
        GLM,
        kind="glm4",
        norms=lambda _config: (
            "input_layernorm",
            "post_attention_layernorm",
            "post_self_attn_layernorm",
            "post_mlp_layernorm",
        ),
    ),
    "Exaone4ForCausalLM": EXAONE4,
    "Starcoder2ForCausalLM": Build(
        kind="starcoder2", biases=both("use_bias", default=True), feed=_starcoder, norm_bias=True
    ),
    "SeedOssForCausalLM": Build(kind="seed_oss", biases=_seed_biases, feed=gated),
    "SmolLM3ForCausalLM": Build(kind="smollm3", biases=both("attention_bias"), feed=gated, reach=_nopes),
    "ArceeForCausalLM": Build(kind="arcee", biases=both("attention_bias"), feed=_ungated),
    "ApertusForCausalLM": Build(
        kind="apertus",
        biases=both("attention_bias", "bias"),
        besides=head_norms,
        feed=_curved,
        norms=lambda _config: ("attention_layernorm", "feedforward_layernorm"),
        reach=reach.listed,
    ),
}

ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {
    **{name: partial(read, build=build) for name, build in BUILDS.items()},
    "MiMoForCausalLM": mimo,
}
