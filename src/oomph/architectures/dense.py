"""Plain attention with a feed-forward in every layer: Llama and all that are built like it.

Knows the differences that change shapes: biases, norms of queries and keys, how many norms, gates, parallel blocks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from oomph.architectures import pieces
from oomph.architectures.config import Config
from oomph.ledger.geometry import Attention, Geometry, Layer
from oomph.ledger.weights import Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What tells one dense architecture from another."""

    bias: bool = False  # of queries, keys and values; a config may say otherwise
    output_bias: bool | None = None  # of the map back; None: as the others
    head_norms: bool = False
    wide_norms: bool = False  # norms of queries and keys over all heads at once
    norms: tuple[str, ...] = ("input_layernorm", "post_attention_layernorm")
    norm_bias: bool = False
    feed: Callable[[Config, int], tuple[Piece, ...]] | None = None  # None: gated
    tied: bool = False  # what a missing tie_word_embeddings means
    context_tokens: int = 2048  # what a missing max_position_embeddings means


def mixer(config: Config, *, window: int | None = None) -> Attention:
    """One layer's attention, with what missing fields mean everywhere."""
    heads = config.whole("num_attention_heads", "n_head")
    hidden = config.whole("hidden_size", "n_embd")
    return Attention(
        heads=heads,
        kv_heads=config.whole("num_key_value_heads", default=heads),
        head_dim=config.maybe("head_dim") or hidden // heads,
        window=window,
    )


def read(config: Config, build: Build) -> Geometry:
    """The geometry of a dense model."""
    hidden = config.whole("hidden_size")
    attends = mixer(config, window=_window(config))
    layer = Layer(mixers=(attends,), weights=(*_attention(config, attends, build), *_feed(config, hidden, build)))
    vocabulary = config.whole("vocab_size")
    tied = config.flag("tie_word_embeddings", default=build.tied)
    return Geometry(
        family="dense",
        architecture=config.items("architectures", str)[0],
        dtype=config.dtype(),
        hidden=hidden,
        vocabulary=vocabulary,
        context_tokens=config.whole("max_position_embeddings", default=build.context_tokens),
        layers=(layer,) * config.whole("num_hidden_layers"),
        embedding=pieces.words(vocabulary, hidden),
        closing=pieces.closing(vocabulary, hidden, tied=tied, norm_bias=build.norm_bias),
        tied=tied,
    )


def _window(config: Config) -> int | None:
    """A window that all layers share."""
    return config.maybe("sliding_window") if config.flag("use_sliding_window", default=True) else None


def _attention(config: Config, attends: Attention, build: Build) -> tuple[Piece, ...]:
    hidden = config.whole("hidden_size")
    bias = config.flag("attention_bias", "bias", "use_bias", "qkv_bias", default=build.bias)
    found = pieces.attention(attends, hidden, bias=bias, output_bias=build.output_bias)
    if build.head_norms:
        found += pieces.head_norms(attends)
    if build.wide_norms:
        found += pieces.norm("self_attn.q_norm", attends.heads * attends.head_dim)
        found += pieces.norm("self_attn.k_norm", attends.kv_heads * attends.head_dim)
    return found


def _feed(config: Config, hidden: int, build: Build) -> tuple[Piece, ...]:
    feed = build.feed or _gated
    norms = tuple(piece for name in build.norms for piece in pieces.norm(name, hidden, bias=build.norm_bias))
    return (*feed(config, hidden), *norms)


def _gated(config: Config, hidden: int) -> tuple[Piece, ...]:
    return pieces.gated(hidden, config.whole("intermediate_size"), bias=config.flag("mlp_bias", default=False))


LLAMA: Final = Build()
QWEN2: Final = Build(bias=True, output_bias=False, context_tokens=32768)
QWEN3: Final = Build(head_norms=True, output_bias=None, context_tokens=32768)

ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {
    "LlamaForCausalLM": lambda config: read(config, LLAMA),
    "MistralForCausalLM": lambda config: read(config, LLAMA),
    "Qwen2ForCausalLM": lambda config: read(config, QWEN2),
    "Qwen3ForCausalLM": lambda config: read(config, QWEN3),
}
