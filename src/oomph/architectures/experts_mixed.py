"""Routed experts in models whose layers attend differently: windows, chunks, sinks, head counts by layer.

Knows GPT-OSS, Llama 4, Step 3.5 (and the text model of Step 3.7) and MiMo V2 Flash. Does not know towers for pictures,
nor the padding that a kernel wants of quantized experts.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oomph.architectures import expert_classes as classes
from oomph.architectures import pieces, routed
from oomph.architectures.config import Config
from oomph.architectures.routed import Reader, by_layer
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Layer
from oomph.ledger.weights import Divide, Matrix, Piece, Vector, matrix

_DIGITS: Final = 4  # of a layer's number


def gpt_oss(config: Config) -> Geometry:
    """GPT-OSS: every second layer slides, all have sinks, and all maps have biases."""
    config = config.over(classes.GPT_OSS)
    # Its class lists every second layer as full where the config does not, and then no window is common.
    sliding = _gpt_oss_layer(config, config.maybe("sliding_window"))
    full = _gpt_oss_layer(config, routed.common_window(config) if "layer_types" in config else None)
    layers = tuple(full if index % 2 else sliding for index in range(routed.depth(config)))
    return routed.assembled(config, layers, words="model.embedding", uncut=True)


def _gpt_oss_layer(config: Config, window: int | None) -> Layer:
    hidden = config.whole("hidden_size")
    attends = routed.mixer(config, window=window)
    into, back = pieces.attention(attends, hidden, name="attn", bias=True)
    experts = pieces.routed(
        hidden,
        config.whole("intermediate_size"),
        config.whole("num_local_experts", "num_experts", default=128),
        gate="router",
        bias=True,
    )
    weights = (
        Vector(name="attn.sinks", size=attends.heads, divided=True),
        replace(into, sources=tuple(f"self_attn.{part}_proj" for part in "qkv")),
        replace(back, sources=("self_attn.o_proj",)),
        *experts,
        *routed.norms(hidden),
    )
    return Layer(mixers=(attends,), weights=weights)


def llama4(config: Config) -> Geometry:
    """The text model of Llama 4: layers with positions attend in chunks, and every n-th layer routes."""
    config = config.over(classes.LLAMA4)
    count = routed.depth(config)
    step = config.whole("interleave_moe_layer_step", least=0)
    every = config.whole("no_rope_layer_interval")
    # An empty list counts as none.
    silent = not config.items("no_rope_layers", int, default=[])
    placed = [(index + 1) % every for index in range(count)] if silent else by_layer(config, "no_rope_layers", int)
    pattern = [(placed[index] != 0, step > 0 and (index + 1) % step == 0) for index in range(count)]
    kinds = {kind: _llama4_layer(config, chunked=kind[0], sparse=kind[1]) for kind in set(pattern)}
    tied = config.flag("tie_word_embeddings", default=False)
    return routed.assembled(config, tuple(kinds[kind] for kind in pattern), tied=tied)


def _llama4_layer(config: Config, *, chunked: bool, sparse: bool) -> Layer:
    hidden = config.whole("hidden_size")
    attends = replace(routed.mixer(config), chunk=config.maybe("attention_chunk_size") if chunked else None)
    weights = (*pieces.attention(attends, hidden), *_llama4_feed(config, hidden, sparse=sparse), *routed.norms(hidden))
    return Layer(mixers=(attends,), weights=weights)


def _llama4_feed(config: Config, hidden: int, *, sparse: bool) -> tuple[Piece, ...]:
    if not sparse:
        return pieces.gated(hidden, config.whole("intermediate_size_mlp"), name="feed_forward")
    inner = config.whole("intermediate_size")
    experts = pieces.routed(hidden, inner, config.whole("num_local_experts"), name="feed_forward", gate="router")
    shared = pieces.gated(hidden, inner, name="feed_forward.shared_expert")
    return (*experts, *(replace(each, with_tokens=True) for each in shared if isinstance(each, Matrix)))


def step3p5(config: Config) -> Geometry:
    """Step 3.5: sliding layers may have more heads, and which layers route is a list in words."""
    config = config.over(classes.STEP3P5)
    count = routed.depth(config)
    drafts = config.whole("num_nextn_predict_layers", least=0)
    sliding, sparse = _step_sliding(config, count), _step_sparse(config, count)
    pattern = [(index in sliding, index in sparse) for index in range(count)]
    kinds = {kind: _step_layer(config, slides=kind[0], sparse=kind[1]) for kind in set(pattern)}
    found = routed.assembled(config, tuple(kinds[kind] for kind in pattern))
    if _step_kinds(config):  # vLLM cuts the list before the layers that guess ahead, and then cannot build them
        return found
    guess = _step_layer(config, slides=count % 2 == 0, sparse=count in sparse)
    return routed.drafting(found, guess, drafts)


def step3p7(config: Config) -> Geometry:
    """The text model of Step 3.7: Step 3.5 in the words of vLLM's class; other words for the same are refused."""
    for name in ("num_attention_groups", "moe_num_experts", "share_expert_dim"):
        config.whole(name)
    return step3p5(config)


def _step_kinds(config: Config) -> list[str]:
    return config.items("layer_types", str, default=[])


def _step_sliding(config: Config, count: int) -> set[int]:
    if not _step_kinds(config):
        return set(range(0, count, 2))
    kinds = by_layer(config, "layer_types", str)
    return {index for index in range(count) if kinds[index] == "sliding_attention"}


def _step_sparse(config: Config, count: int) -> set[int]:
    """All layers but the first, where `moe_layers_enum` is silent."""
    name = "moe_layers_enum"
    if name not in config:
        return set(range(1, count))
    words = [word.strip() for word in config.text(name).split(",")]
    if not all(word.isdecimal() and len(word) <= _DIGITS for word in words):
        raise config.refusal(name, "numbers of layers between commas were expected")
    return {int(word) for word in words}


def _step_layer(config: Config, *, slides: bool, sparse: bool) -> Layer:
    hidden = config.whole("hidden_size")
    attends = _step_mixer(config, slides=slides)
    gate = matrix("self_attn.g_proj", hidden, attends.heads, divide=Divide.OUTPUTS)
    bias = config.flag("attention_bias", default=False)
    weights = (
        *pieces.attention(attends, hidden, bias=bias, output_bias=False),
        *pieces.head_norms(attends),
        *((gate,) if config.flag("use_head_wise_attn_gate", default=False) else ()),
        *(_step_experts(config) if sparse else pieces.gated(hidden, config.whole("intermediate_size"))),
        *routed.norms(hidden),
    )
    return Layer(mixers=(attends,), weights=weights)


def _step_mixer(config: Config, *, slides: bool) -> Attention:
    """The other setting belongs to the layers of the type that it names, mostly the sliding ones."""
    own = config
    if "attention_other_setting" in config and _step_kinds(config):
        other = config.sub("attention_other_setting")
        if other.text("attention_type") == ("sliding_attention" if slides else "full_attention"):
            own = other.over(config.fields)
    heads, kv_heads = routed.grouped(own, kv_heads="num_attention_groups")
    return Attention(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=routed.width(config, heads, own=own.maybe("head_dim")),
        window=config.maybe("sliding_window") if slides else None,
    )


def _step_experts(config: Config) -> tuple[Piece, ...]:
    hidden, inner = config.whole("hidden_size"), config.whole("moe_intermediate_size")
    shared = config.whole("share_expert_dim", default=inner * config.whole("moe_top_k"))
    experts = pieces.routed(
        hidden, inner, config.whole("moe_num_experts"), name="moe", gate_dtype=Dtype.F32, correction="router_bias"
    )
    return (*experts, *pieces.gated(hidden, shared, name="moe.share_expert"))


def mimo_v2(config: Config) -> Geometry:
    """MiMo V2: sliding layers have heads and sinks of their own; values are narrower than keys."""
    slides = [kind == 1 for kind in by_layer(config, "hybrid_layer_pattern", int)]
    sparse = [kind != 0 for kind in by_layer(config, "moe_layer_freq", int)]
    pattern = list(zip(slides, sparse, strict=True))
    kinds = {kind: _mimo_layer(config, slides=kind[0], sparse=kind[1]) for kind in set(pattern)}
    found = routed.assembled(config, tuple(kinds[kind] for kind in pattern))
    # However many layers the checkpoint has that guess ahead, vLLM builds the first (models/mimo_v2_mtp.py).
    guess = _mimo_layer(config, slides=True, sparse=False, guesses=True)
    return routed.drafting(found, guess, 1, own_head=False, last="final_layernorm")


def _mimo_layer(config: Config, *, slides: bool, sparse: bool, guesses: bool = False) -> Layer:
    hidden = config.whole("hidden_size")
    attends = _mimo_mixer(config, slides=slides)
    into, back = pieces.attention(attends, hidden, bias=config.flag("attention_bias", default=False), output_bias=False)
    sinks = Vector(name="self_attn.attention_sink_bias", size=attends.heads, divided=True)
    has_sinks = slides and config.flag("add_swa_attention_sink_bias", default=False)
    weights = (
        into,
        replace(back, plain=guesses),  # the map back is never quantized in a layer that guesses ahead
        *((sinks,) if has_sinks else ()),
        *(_mimo_experts(config) if sparse else pieces.gated(hidden, config.whole("intermediate_size"))),
        *routed.norms(hidden),
    )
    return Layer(mixers=(attends,), weights=weights)


def _mimo_mixer(config: Config, *, slides: bool) -> Attention:
    swa = "swa_" if slides else ""
    heads, kv_heads = routed.grouped(config, f"{swa}num_attention_heads", f"{swa}num_key_value_heads")
    return Attention(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=config.whole(f"{swa}head_dim"),
        value_dim=config.maybe(f"{swa}v_head_dim"),
        window=config.whole("sliding_window_size") if slides else None,
    )


def _mimo_experts(config: Config) -> tuple[Piece, ...]:
    return pieces.routed(
        config.whole("hidden_size"),
        config.whole("moe_intermediate_size"),
        config.whole("n_routed_experts"),
        gate_dtype=config.format("moe_router_dtype") or Dtype.F32,
        correction="gate.e_score_correction_bias",
    )


ARCHITECTURES: Final[Mapping[str, Reader]] = {
    "GptOssForCausalLM": gpt_oss,
    "Llama4ForCausalLM": llama4,
    "Llama4ForConditionalGeneration": routed.wrapped(llama4, "text_config"),
    "Step3p5ForCausalLM": step3p5,
    "Step3p7ForConditionalGeneration": routed.wrapped(step3p7, "text_config"),
    "MiMoV2FlashForCausalLM": mimo_v2,
}
