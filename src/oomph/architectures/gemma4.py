"""Gemma 4: windows in most layers, wider heads in the others, caches that late layers borrow, words for every layer.

Knows the text model, with and without experts. Does not know its towers: `text` is what a file that knows them calls.
"""

from collections.abc import Callable, Mapping
from typing import Final

from oomph.architectures import classes, decoder, hybrid, pieces, windows
from oomph.architectures.config import Config
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Geometry, Layer
from oomph.ledger.weights import Divide, Experts, Piece, Table, Vector, matrix

_WORDS: Final = {"sliding_attention": "sliding", "full_attention": "full"}
_STEP: Final = 6  # every so-manieth layer looks at everything, where the config lists no kinds


def text(
    config: Config, *, architecture: str, dtype: Dtype, model: str = "model", tied: bool | None = None
) -> Geometry:
    """The text model; `model` is what its names begin with, `tied` what a config around it says of the head."""
    config = config.over(classes.defaults("gemma4_text"))
    if "per_layer_config" in config:
        raise config.refusal(name="per_layer_config", why="layers that are described one by one are not read yet")
    hidden, vocabulary = config.whole("hidden_size"), config.whole("vocab_size")
    kinds = _kinds(config, hybrid.count(config))
    tied = config.flag("tie_word_embeddings", default=True) if tied is None else tied
    closing = pieces.closing(vocabulary, hidden, tied=tied, norm_name=f"{model}.norm")
    return Geometry(
        family="gemma4",
        architecture=architecture,
        dtype=dtype,
        hidden=hidden,
        vocabulary=vocabulary,
        context_tokens=config.whole("max_position_embeddings"),
        layers=hybrid.layers(_sharing(config, kinds), lambda kind: _layer(config, *kind)),
        embedding=(*pieces.words(vocabulary, hidden, name=f"{model}.embed_tokens"), *_by_layer(config, model)),
        closing=closing,
        tied=tied,
        uncut=True,
        prefix=f"{model}.layers",
    )


def alone(config: Config) -> Geometry:
    """A model of text alone."""
    for name in ("hidden_size", "num_hidden_layers"):
        config.whole(name)
    return text(config, architecture=config.items("architectures", str)[0], dtype=config.dtype())


def _kinds(config: Config, depth: int) -> list[str]:
    """The last layer looks at everything, whatever the config lists."""
    if "layer_types" in config:
        kinds = hybrid.listed(config, "layer_types", depth, _WORDS)
    else:
        kinds = ["sliding" if (index + 1) % _STEP else "full" for index in range(depth)]
    return [*kinds[:-1], "full"]


def _sharing(config: Config, kinds: list[str]) -> list[tuple[str, int | None]]:
    """Each kind, and the layer whose cache a late one reads: the last before them all of the same kind."""
    late = config.whole("num_kv_shared_layers", default=0, least=0)
    if late >= len(kinds):
        raise config.refusal(name="num_kv_shared_layers", why=f"{late} of {len(kinds)} layers leave none to share with")
    own = kinds[: len(kinds) - late]
    missing = set(kinds) - set(own)
    if missing:
        raise config.refusal(
            name="num_kv_shared_layers", why=f"no layer of the kind {missing.pop()!r} is left to share with"
        )
    last = {kind: index for index, kind in enumerate(own)}
    return [(kind, None if index < len(own) else last[kind]) for index, kind in enumerate(kinds)]


def _mixer(config: Config, kind: str) -> Attention:
    kv_heads = config.whole("num_key_value_heads")
    if kind == "sliding":
        window = config.maybe("sliding_window")
        if window is not None and config.raw("use_bidirectional_attention") == "all":
            window = window // 2 + 1  # half of it lies ahead
        return decoder.attends(config, kv_heads=kv_heads, head_dim=config.whole("head_dim"), window=window)
    if config.flag("attention_k_eq_v", default=False):  # keys serve as values, and there are fewer of them
        kv_heads = config.whole("num_global_key_value_heads", default=kv_heads)
    wide = config.whole("global_head_dim", default=512)
    return decoder.attends(config, kv_heads=kv_heads, head_dim=wide, window=None)


def _layer(config: Config, kind: str, shares: int | None) -> Layer:
    hidden = config.whole("hidden_size")
    attends = _mixer(config, kind)
    wide = shares is not None and config.flag("use_double_wide_mlp", default=False)
    return Layer(
        mixers=(attends,),
        weights=(
            *_attention(config, attends, own=shares is None),
            *pieces.gated(hidden, config.whole("intermediate_size") * (2 if wide else 1)),
            *(piece for name in windows.SANDWICH for piece in pieces.norm(name, hidden)),
            *_experts(config, hidden),
            *_own_words(config, hidden),
        ),
        shares=shares,
    )


def _attention(config: Config, attends: Attention, *, own: bool) -> tuple[Piece, ...]:
    """A layer that borrows its cache makes queries alone."""
    hidden, bias = config.whole("hidden_size"), config.flag("attention_bias", default=False)
    into, back = pieces.attention(attends, hidden, bias=bias)
    if own:
        return into, back, *pieces.head_norms(attends)
    width = attends.heads * attends.head_dim
    queries = matrix("self_attn.q_proj", hidden, width, divide=Divide.OUTPUTS, bias=bias)
    return queries, back, *pieces.norm("self_attn.q_norm", attends.head_dim)


def _experts(config: Config, hidden: int) -> tuple[Piece, ...]:
    """Experts beside the feed-forward, with norms of their own."""
    if "num_experts" not in config:
        return ()
    count = config.whole("num_experts")
    norms = ("post_feedforward_layernorm_1", "post_feedforward_layernorm_2", "pre_feedforward_layernorm_2")
    inner = config.whole("moe_intermediate_size", "expert_intermediate_size")
    return (
        Vector(name="router.scale", size=hidden),
        Vector(name="router.per_expert_scale", size=count),
        matrix("router.proj", hidden, count, divide=Divide.NOT, plain=True),
        Experts(name="experts", count=count, hidden=hidden, inner=inner),
        *(piece for name in norms for piece in pieces.norm(name, hidden)),
    )


def _own_width(config: Config) -> int:
    """Of the words that every layer has for itself; 0 for none."""
    return config.maybe("hidden_size_per_layer_input") or 0


def _own_words(config: Config, hidden: int) -> tuple[Piece, ...]:
    width = _own_width(config)
    if not width:
        return ()
    return (
        matrix("per_layer_input_gate", hidden, width, divide=Divide.NOT),
        matrix("per_layer_projection", width, hidden, divide=Divide.NOT),
        *pieces.norm("post_per_layer_input_norm", hidden),
    )


def _by_layer(config: Config, model: str) -> tuple[Piece, ...]:
    """One table for the words of all layers, and the map that makes the like of them from the first state."""
    width = _own_width(config)
    if not width:
        return ()
    hidden, all_layers = config.whole("hidden_size"), width * hybrid.count(config)
    rows = config.whole("vocab_size_per_layer_input")
    return (
        Table(name=f"{model}.embed_tokens_per_layer", rows=rows, width=all_layers),
        matrix(f"{model}.per_layer_model_projection", hidden, all_layers, divide=Divide.OUTPUTS),
        *pieces.norm(f"{model}.per_layer_projection_norm", width),
    )


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {"Gemma4ForCausalLM": alone}
