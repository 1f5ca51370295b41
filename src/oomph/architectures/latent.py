"""Latent attention: DeepSeek V2 and V3, and Kimi K2, whose layers keep one compressed vector per token.

Knows the language model and the layers that guess ahead. Does not know the towers for pictures that stand before Kimi
K2.5, nor indexers (`sparse.py`). With experts divided whole, tensor and data parallelism together, vLLM keeps shared
experts whole on every rank; the pieces say only how they are divided otherwise.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from oomph.architectures import hybrid, pieces
from oomph.architectures.config import Config
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry, Latent, Layer
from oomph.ledger.weights import Divide, Piece, Table, matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What tells one of these architectures from another."""

    means: Mapping[str, object]  # what a missing field means to the config's class
    family: str = "latent"
    indexes: Callable[[Config, int], bool] | None = (
        None  # which layers have an indexer of their own; None: there is none
    )
    indexer: Callable[[Config], tuple[Piece, ...]] | None = None  # what it is made of


def read(config: Config, build: Build) -> Geometry:
    """A model of text alone."""
    return text(config, build, architecture=config.items("architectures", str)[0], dtype=config.dtype())


def text(config: Config, build: Build, *, architecture: str, dtype: Dtype, model: str = "model") -> Geometry:
    """The language model; `model` is what its names begin with."""
    config = config.over(build.means)
    if build.indexes is None and "index_topk" in config:
        why = f"{architecture} is not known to have an indexer"
        raise config.refusal("index_topk", why)
    depth = hybrid.count(config)
    ahead = min(config.maybe("num_nextn_predict_layers", least=0) or 0, hybrid.MOST)
    kinds = [_kind(config, build, index) for index in range(depth)]
    guesses = [(True, _routes(config, index)) for index in range(depth, depth + ahead)]
    hidden, vocabulary = config.whole("hidden_size"), config.whole("vocab_size")
    head = Table(name="lm_head", rows=vocabulary, width=hidden)  # its own, whatever tie_word_embeddings says
    return Geometry(
        family=build.family,
        architecture=architecture,
        dtype=dtype,
        hidden=hidden,
        vocabulary=vocabulary,
        context_tokens=config.whole("max_position_embeddings"),
        layers=hybrid.layers(kinds, lambda kind: _layer(config, build, indexed=kind[0], routed=kind[1])),
        embedding=pieces.words(vocabulary, hidden, name=f"{model}.embed_tokens"),
        closing=(*pieces.norm(f"{model}.norm", hidden), head),
        draft=hybrid.layers(guesses, lambda kind: _guess(config, build, routed=kind[1])),
        prefix=f"{model}.layers",
    )


def attention(config: Config, keeps: Latent, *, name: str = "self_attn") -> tuple[Piece, ...]:
    """The maps down are kept whole by every rank; those up from the compressed vectors are divided by heads."""
    hidden, rank = config.whole("hidden_size"), config.maybe("q_lora_rank")
    nope, values = config.whole("qk_nope_head_dim", least=0), config.whole("v_head_dim")
    down = keeps.rank + keeps.rope_dim
    queries = keeps.heads * (nope + keeps.rope_dim)
    apart = (f"{name}.q_a_proj", f"{name}.kv_a_proj_with_mqa")
    if rank is None:
        into: tuple[Piece, ...] = (
            matrix(apart[1], hidden, down, divide=Divide.NOT),
            matrix(f"{name}.q_proj", hidden, queries, divide=Divide.OUTPUTS),
        )
    else:
        into = (
            matrix(f"{name}.fused_qkv_a_proj", hidden, rank, down, divide=Divide.NOT, sources=apart),
            *pieces.norm(f"{name}.q_a_layernorm", rank),
            matrix(f"{name}.q_b_proj", rank, queries, divide=Divide.OUTPUTS),
        )
    return (*into, *unfolded(keeps, hidden, nope=nope, values=values, name=name))


def unfolded(keeps: Latent, hidden: int, *, nope: int, values: int, name: str = "self_attn") -> tuple[Piece, ...]:
    """What becomes of the compressed vector: keys and values of all heads, and the map back."""
    return (
        *pieces.norm(f"{name}.kv_a_layernorm", keeps.rank),
        matrix(f"{name}.kv_b_proj", keeps.rank, keeps.heads * (nope + values), divide=Divide.OUTPUTS),
        matrix(f"{name}.o_proj", keeps.heads * values, hidden, divide=Divide.INPUTS),
    )


def joining(hidden: int) -> tuple[Piece, ...]:
    """What a guessing layer has besides: it joins a word with the hidden state. Words and head are the main model's."""
    return (
        *pieces.norm("enorm", hidden),
        *pieces.norm("hnorm", hidden),
        matrix("eh_proj", 2 * hidden, hidden, divide=Divide.NOT, plain=True),
        *pieces.norm("shared_head.norm", hidden),
    )


def _kind(config: Config, build: Build, index: int) -> tuple[bool, bool]:
    """Whether a layer has an indexer, and whether it routes."""
    return build.indexes is not None and build.indexes(config, index), _routes(config, index)


def _routes(config: Config, index: int) -> bool:
    """The first layers are dense, and of the others every so-manieth has experts."""
    first = config.whole("first_k_dense_replace", least=0)
    step = config.whole("moe_layer_freq", default=1)
    return config.maybe("n_routed_experts") is not None and index >= first and index % step == 0


def _layer(config: Config, build: Build, *, indexed: bool, routed: bool) -> Layer:
    hidden = config.whole("hidden_size")
    keeps = Latent(
        heads=config.whole("num_attention_heads"),
        rank=config.whole("kv_lora_rank"),
        rope_dim=config.whole("qk_rope_head_dim"),
        indexer_dim=config.whole("index_head_dim") if indexed else None,
    )
    picks = build.indexer(config) if indexed and build.indexer is not None else ()
    feed = _experts(config, hidden) if routed else pieces.gated(hidden, config.whole("intermediate_size"))
    norms = (*pieces.norm("input_layernorm", hidden), *pieces.norm("post_attention_layernorm", hidden))
    return Layer(mixers=(keeps,), weights=(*attention(config, keeps), *picks, *feed, *norms))


def _guess(config: Config, build: Build, *, routed: bool) -> Layer:
    """A layer that guesses ahead: like the others, and with an indexer of its own wherever there are indexers."""
    like = _layer(config, build, indexed=build.indexes is not None, routed=routed)
    return Layer(mixers=like.mixers, weights=(*joining(config.whole("hidden_size")), *like.weights))


def _experts(config: Config, hidden: int) -> tuple[Piece, ...]:
    """Routed experts, and those that every token takes, fused into one."""
    inner, shared = config.whole("moe_intermediate_size"), config.maybe("n_shared_experts")
    corrects = config.raw("topk_method") == "noaux_tc"
    return (
        *pieces.routed(
            hidden,
            inner,
            config.whole("n_routed_experts"),
            correction="gate.e_score_correction_bias" if corrects else None,
        ),
        *(pieces.gated(hidden, inner * shared, name="mlp.shared_experts") if shared else ()),
    )


V2_MEANS: Final = {  # transformers: DeepseekV2Config
    "vocab_size": 102400,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "moe_intermediate_size": 1407,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "n_shared_experts": 2,
    "n_routed_experts": 64,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "first_k_dense_replace": 0,
    "topk_method": "greedy",
    "max_position_embeddings": 2048,
}
V3_MEANS: Final = V2_MEANS | {  # transformers: DeepseekV3Config, which vLLM also takes for V3.2 and Kimi K2
    "vocab_size": 129280,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "n_shared_experts": 1,
    "n_routed_experts": 256,
    "first_k_dense_replace": 3,
    "topk_method": None,
    "max_position_embeddings": 4096,
    "num_nextn_predict_layers": 1,
}

V2: Final = Build(means=V2_MEANS)
V3: Final = Build(means=V3_MEANS)


def behind_towers(config: Config) -> Geometry:
    """The language model of Kimi K2.5; without its tower."""
    inner = config.sub("text_config")
    return text(
        inner,
        V3,
        architecture=config.items("architectures", str)[0],
        dtype=config.dtype(default=inner.dtype()),
        model="language_model.model",
    )


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {
    "DeepseekV2ForCausalLM": lambda config: read(config, V2),
    "DeepseekV3ForCausalLM": lambda config: read(config, V3),
    "KimiK25ForConditionalGeneration": behind_towers,
}
