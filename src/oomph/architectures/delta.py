"""Gated delta nets between attention layers: Qwen3-Next, and Qwen3.5 and Qwen3.6 with and without experts.

Knows the language model. Does not know the towers for pictures that stand before some of them: `text` is what a file
that knows towers calls.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from oomph.architectures import hybrid, pieces
from oomph.architectures.config import Config
from oomph.architectures.state import attends
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Attention, Delta, Geometry, Layer
from oomph.ledger.weights import Divide, Matrix, Piece, Table, Vector, matrix

_WORDS: Final = {"linear_attention": "delta", "full_attention": "attention"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What tells one of these architectures from another."""

    kv_heads: int = 2  # what a missing num_key_value_heads means
    interleaved: bool = False  # the checkpoint holds queries, keys, values and gates of a head side by side
    head_everywhere: bool = False  # every stage of a pipeline builds the head
    sparse: Callable[[Config, int], list[bool]]  # which of the first so many layers have experts
    draft: str = (
        "mtp_num_hidden_layers"  # the field that counts the layers that guess ahead; they are one if it is silent
    )
    state_dtype: str | None = None  # the field that asks for a format of the recurrent state


def text(config: Config, build: Build, *, architecture: str, dtype: Dtype, model: str = "model") -> Geometry:
    """The language model; `model` is what its names begin with."""
    hidden, vocabulary = config.whole("hidden_size"), config.whole("vocab_size")
    depth = hybrid.count(config)
    kinds = list(zip(_kinds(config, depth), build.sparse(config, depth), strict=True))
    guessing = config.maybe(build.draft, least=0)
    ahead = _layer(config, build, "attention", sparse=build.sparse(config, 1)[0])
    tied = config.flag("tie_word_embeddings", default=False)
    after = pieces.closing(vocabulary, hidden, tied=tied, norm_name=f"{model}.norm")
    heads = tuple(piece for piece in after if isinstance(piece, Table)) if build.head_everywhere else ()
    return Geometry(
        family="delta",
        architecture=architecture,
        dtype=dtype,
        hidden=hidden,
        vocabulary=vocabulary,
        context_tokens=config.whole("max_position_embeddings", default=32768),
        layers=hybrid.layers(kinds, lambda kind: _layer(config, build, kind[0], sparse=kind[1])),
        everywhere=(*pieces.words(vocabulary, hidden, name=f"{model}.embed_tokens"), *heads),
        closing=tuple(piece for piece in after if piece not in heads),
        tied=tied,
        draft=(ahead,) * min(1 if guessing is None else guessing, hybrid.MOST),
        draft_extra=_draft_extra(hidden),
        prefix=f"{model}.layers",
    )


def mixer(config: Config, state_dtype: str | None = None) -> Delta:
    """What one delta layer keeps."""
    return Delta(
        key_heads=config.whole("linear_num_key_heads", default=16),
        value_heads=config.whole("linear_num_value_heads", default=32),
        key_dim=config.whole("linear_key_head_dim", default=128),
        value_dim=config.whole("linear_value_head_dim", default=128),
        kernel=config.whole("linear_conv_kernel_dim", default=4),
        state_dtype=config.format(state_dtype) if state_dtype else None,
    )


def _kinds(config: Config, depth: int) -> list[str]:
    """By name where they are listed; otherwise attention is every fourth layer, or what the interval says."""
    if "layer_types" in config:
        return hybrid.listed(config, "layer_types", depth, _WORDS)
    interval = config.whole("full_attention_interval", default=4)
    return ["delta" if index % interval else "attention" for index in range(1, depth + 1)]


def _layer(config: Config, build: Build, kind: str, *, sparse: bool) -> Layer:
    hidden = config.whole("hidden_size")
    feed = _experts(config, hidden) if sparse else pieces.gated(hidden, config.whole("intermediate_size"))
    norms = (*pieces.norm("input_layernorm", hidden), *pieces.norm("post_attention_layernorm", hidden))
    if kind == "delta":
        keeps = mixer(config, build.state_dtype)
        return Layer(mixers=(keeps,), weights=(*delta(keeps, hidden, build), *feed, *norms))
    attention = attends(config, head_dim=config.whole("head_dim", default=256), silent=build.kv_heads)
    return Layer(mixers=(attention,), weights=(*_attention(config, attention, hidden), *feed, *norms))


def _attention(config: Config, layer: Attention, hidden: int) -> tuple[Piece, ...]:
    found = pieces.attention(
        layer,
        hidden,
        bias=config.flag("qkv_bias", default=False),
        output_bias=False,
        gate=config.flag("attn_output_gate", default=True),
    )
    return (*found, *pieces.head_norms(layer))


def delta(keeps: Delta, hidden: int, build: Build, *, name: str = "linear_attn") -> tuple[Piece, ...]:
    """Two maps in, a short convolution, decays per head, and the map back."""
    keys, values = keeps.key_heads * keeps.key_dim, keeps.value_heads * keeps.value_dim
    return (
        matrix(f"{name}.conv1d", keeps.kernel, keys, keys, values, divide=Divide.OUTPUTS, plain=True),
        *_maps(keeps, hidden, build, name),
        Vector(name=f"{name}.dt_bias", size=keeps.value_heads, divided=True),
        Vector(name=f"{name}.A_log", size=keeps.value_heads, divided=True, dtype=Dtype.F32),
        *pieces.norm(f"{name}.norm", keeps.value_dim),
        matrix(f"{name}.out_proj", values, hidden, divide=Divide.INPUTS),
    )


def _maps(keeps: Delta, hidden: int, build: Build, name: str) -> tuple[Matrix, Matrix]:
    """Of queries, keys, values and gates; and of the two numbers per head that decide what is written and forgotten."""
    keys, values, heads = keeps.key_heads * keeps.key_dim, keeps.value_heads * keeps.value_dim, keeps.value_heads
    if build.interleaved:
        return (
            matrix(f"{name}.in_proj_qkvz", hidden, 2 * keys + 2 * values, divide=Divide.OUTPUTS),
            matrix(f"{name}.in_proj_ba", hidden, 2 * heads, divide=Divide.OUTPUTS),
        )
    apart = tuple(f"{name}.in_proj_{part}" for part in ("qkv", "z", "b", "a"))
    return (
        matrix(f"{name}.in_proj_qkvz", hidden, keys, keys, values, values, divide=Divide.OUTPUTS, sources=apart[:2]),
        matrix(f"{name}.in_proj_ba", hidden, heads, heads, divide=Divide.OUTPUTS, sources=apart[2:]),
    )


def _experts(config: Config, hidden: int) -> tuple[Piece, ...]:
    """Routed experts, and one that every token takes, behind a gate of its own."""
    shared = config.maybe("shared_expert_intermediate_size", least=0)
    return (
        *pieces.routed(hidden, config.whole("moe_intermediate_size", default=512), config.whole("num_experts")),
        matrix("mlp.shared_expert_gate", hidden, 1, divide=Divide.NOT, plain=True),
        *(pieces.gated(hidden, 512 if shared is None else shared, name="mlp.shared_expert") if shared != 0 else ()),
    )


def _draft_extra(hidden: int) -> tuple[Piece, ...]:
    """What joins a guessed word with the hidden state; words and head are the main model's."""
    return (
        matrix("mtp.fc", 2 * hidden, hidden, divide=Divide.OUTPUTS),
        *pieces.norm("mtp.norm", hidden),
        *pieces.norm("mtp.pre_fc_norm_hidden", hidden),
        *pieces.norm("mtp.pre_fc_norm_embedding", hidden),
    )


def _by_step(config: Config, depth: int) -> list[bool]:
    """Experts in every so-manieth layer, except those that are listed as dense."""
    dense = set(config.items("mlp_only_layers", int, default=[]))
    step = config.whole("decoder_sparse_step", default=1)
    some = config.whole("num_experts", default=512, least=0) > 0
    return [some and index not in dense and (index + 1) % step == 0 for index in range(depth)]


NEXT: Final = Build(interleaved=True, head_everywhere=True, sparse=_by_step, draft="num_nextn_predict_layers")
DENSE: Final = Build(kv_heads=4, sparse=lambda _config, depth: [False] * depth, state_dtype="mamba_ssm_dtype")
SPARSE: Final = Build(sparse=lambda _config, depth: [True] * depth, state_dtype="mamba_ssm_dtype")


def alone(config: Config, build: Build) -> Geometry:
    """A model of text alone."""
    return text(config, build, architecture=config.items("architectures", str)[0], dtype=config.dtype())


def behind_towers(config: Config, build: Build) -> Geometry:
    """The language model of one that also sees; without its towers."""
    inner = config.sub("text_config")
    return text(
        inner,
        build,
        architecture=config.items("architectures", str)[0],
        dtype=config.dtype(default=inner.dtype()),
        model="language_model.model",
    )


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {
    "Qwen3NextForCausalLM": lambda config: alone(config, NEXT),
    "Qwen3_5ForCausalLM": lambda config: alone(config, DENSE),
    "Qwen3_5MoeForCausalLM": lambda config: alone(config, SPARSE),
    "Qwen3_5ForConditionalGeneration": lambda config: behind_towers(config, DENSE),
    "Qwen3_5MoeForConditionalGeneration": lambda config: behind_towers(config, SPARSE),
}
