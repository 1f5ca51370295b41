"""Attention over compressed tokens: DeepSeek V4.

Knows its three kinds of layers (a window alone; every 4 tokens compressed, and picked by an indexer; every 128
compressed), the streams that run beside each other through the layers, and the layers that guess ahead. Does not know
the variant that sees pictures. Sinks are padded as FlashMLA wants them; where vLLM takes FlashInfer instead (compute
capability 12) they may be shorter, and with weights in blocks of FP8 it rounds shared experts up to whole blocks.
"""

from collections.abc import Callable, Mapping
from typing import Final

from oomph.architectures import hybrid, pieces
from oomph.architectures.config import Config
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Compressed, Geometry, Layer
from oomph.ledger.weights import Divide, Piece, Table, Vector, matrix

_OVERLAP: Final = {4: 2, 128: 1}  # the ratios that vLLM compresses by, and how many runs one vector is made from
_PICKED: Final = 4  # the ratio whose layers have an indexer
_SINKS: Final = 64  # models/deepseek_v4/nvidia/flashmla.py


def read(config: Config) -> Geometry:
    """The geometry of a DeepSeek V4."""
    if config.maybe("vision_n_layers", least=0):
        why = "the variant that sees is not known"
        raise config.refusal("vision_n_layers", why)
    hidden, vocabulary = config.whole("hidden_size"), config.whole("vocab_size")
    depth, ahead = hybrid.count(config), config.maybe("num_nextn_predict_layers", least=0) or 0
    hashed = config.whole("num_hash_layers", least=0)
    kinds = [(ratio, index < hashed) for index, ratio in enumerate(_ratios(config, depth))]
    return Geometry(
        family="compressed",
        architecture=config.items("architectures", str)[0],
        dtype=config.dtype(),
        hidden=hidden,
        vocabulary=vocabulary,
        context_tokens=config.whole("max_position_embeddings", default=1048576),
        layers=hybrid.layers(kinds, lambda kind: _layer(config, kind[0], hashed=kind[1])),
        embedding=pieces.words(vocabulary, hidden),
        closing=(*pieces.norm("model.norm", hidden), Table(name="lm_head", rows=vocabulary, width=hidden)),
        everywhere=_merging(config, "model."),
        draft=(_guess(config),) * min(ahead, hybrid.MOST),
    )


def _ratios(config: Config, depth: int) -> list[int | None]:
    """How many tokens each layer makes one of; None where it compresses nothing."""
    name = "compress_ratios"
    written = config.items(name, int)
    if len(written) < depth:
        raise config.refusal(name, f"{len(written)} ratios are listed for {depth} layers")
    unknown = sorted({ratio for ratio in written[:depth] if ratio > 1} - set(_OVERLAP))
    if unknown:
        raise config.refusal(name, f"{unknown[0]} is no ratio that vLLM compresses by")
    return [ratio if ratio > 1 else None for ratio in written[:depth]]


def _layer(config: Config, ratio: int | None, *, hashed: bool = False) -> Layer:
    keeps = Compressed(
        heads=config.whole("num_attention_heads"),
        head_dim=config.whole("head_dim"),
        rope_dim=config.whole("qk_rope_head_dim"),
        window=config.whole("sliding_window"),
        ratio=ratio,
        overlap=1 if ratio is None else _OVERLAP[ratio],
        indexer_dim=config.whole("index_head_dim") if ratio == _PICKED else None,
    )
    hidden = config.whole("hidden_size")
    weights = (
        *_streams(config),
        *_attention(config, keeps, hidden),
        *_compressing(keeps, hidden),
        *_indexer(config, keeps, hidden),
        *_experts(config, hidden, hashed=hashed),
        *pieces.norm("attn_norm", hidden),
        *pieces.norm("ffn_norm", hidden),
    )
    return Layer(mixers=(keeps,), weights=weights)


def _guess(config: Config) -> Layer:
    """A layer that guesses ahead: compresses nothing, and joins a word with every stream. Words and head are shared."""
    hidden, like = config.whole("hidden_size"), _layer(config, None)
    joins = (
        *pieces.norm("enorm", hidden),
        *pieces.norm("hnorm", hidden),
        matrix("e_proj", hidden, hidden, divide=Divide.NOT),
        matrix("h_proj", hidden, hidden, divide=Divide.NOT),
        *_merging(config, ""),
        *pieces.norm("shared_head.norm", hidden),
    )
    return Layer(mixers=like.mixers, weights=(*joins, *like.weights))


def _attention(config: Config, keeps: Compressed, hidden: int) -> tuple[Piece, ...]:
    """Queries through a map down; one vector that is key and value; and a map back in groups of heads."""
    rank, groups, back = (config.whole(each) for each in ("q_lora_rank", "o_groups", "o_lora_rank"))
    width = keeps.heads * keeps.head_dim
    apart = ("attn.wq_a", "attn.wkv")
    return (
        Vector(name="attn.attn_sink", size=keeps.heads, divided=True, dtype=Dtype.F32, multiple=_SINKS),
        matrix("attn.fused_wqa_wkv", hidden, rank, keeps.head_dim, divide=Divide.NOT, sources=apart),
        *pieces.norm("attn.q_norm", rank),
        matrix("attn.wq_b", rank, width, divide=Divide.OUTPUTS),
        *pieces.norm("attn.kv_norm", keeps.head_dim),
        matrix("attn.wo_a", width // groups, groups * back, divide=Divide.OUTPUTS),
        matrix("attn.wo_b", groups * back, hidden, divide=Divide.INPUTS),
    )


def _compressing(keeps: Compressed, hidden: int) -> tuple[Piece, ...]:
    return () if keeps.ratio is None else compressor("attn.compressor", keeps, keeps.ratio, keeps.head_dim, hidden)


def compressor(name: str, keeps: Compressed, ratio: int, dim: int, hidden: int) -> tuple[Piece, ...]:
    """What makes one vector of several tokens: a value and a score of each, and a bias by its place."""
    width = keeps.overlap * dim
    apart = (f"{name}.wkv", f"{name}.wgate")
    return (
        Vector(name=f"{name}.ape", size=ratio * width, dtype=Dtype.F32),
        matrix(f"{name}.fused_wkv_wgate", hidden, width, width, divide=Divide.NOT, plain=True, sources=apart),
        *pieces.norm(f"{name}.norm", dim),
    )


def _indexer(config: Config, keeps: Compressed, hidden: int) -> tuple[Piece, ...]:
    """Kept whole by every rank, with a compressor of its own for its keys."""
    if keeps.indexer_dim is None or keeps.ratio is None:
        return ()
    name, heads, dim = "attn.indexer", config.whole("index_n_heads"), keeps.indexer_dim
    return (
        matrix(f"{name}.wq_b", config.whole("q_lora_rank"), heads * dim, divide=Divide.NOT),
        matrix(f"{name}.weights_proj", hidden, heads, divide=Divide.NOT, plain=True),
        *compressor(f"{name}.compressor", keeps, keeps.ratio, dim, hidden),
    )


def _experts(config: Config, hidden: int, *, hashed: bool) -> tuple[Piece, ...]:
    """Routed by a score, or in the first layers by a table that gives each word its experts."""
    inner, count = config.whole("moe_intermediate_size"), config.whole("n_routed_experts")
    shared, corrects = config.maybe("n_shared_experts"), config.raw("topk_method") == "noaux_tc" and not hashed
    routed = pieces.routed(
        hidden, inner, count, name="ffn", correction="gate.e_score_correction_bias" if corrects else None
    )
    given = config.whole("vocab_size") * config.whole("num_experts_per_tok")
    table = (Vector(name="ffn.gate.tid2eid", size=given, dtype=Dtype.I32),) if hashed else ()
    return (*routed, *table, *(_shared(hidden, inner * shared) if shared else ()))


def _shared(hidden: int, inner: int, *, name: str = "ffn.shared_experts") -> tuple[Piece, ...]:
    apart = (f"{name}.w1", f"{name}.w3")
    return (
        matrix(f"{name}.gate_up_proj", hidden, inner, inner, divide=Divide.OUTPUTS, sources=apart),
        matrix(f"{name}.down_proj", inner, hidden, divide=Divide.INPUTS, sources=(f"{name}.w2",)),
    )


def _streams(config: Config) -> tuple[Piece, ...]:
    """How the streams are mixed before and after each half of a layer (hyper-connections)."""
    streams = config.whole("hc_mult")
    mixes = (2 + streams) * streams
    sizes = {"fn": mixes * streams * config.whole("hidden_size"), "base": mixes, "scale": 3}
    return tuple(
        Vector(name=f"hc_{half}_{part}", size=size, dtype=Dtype.F32)
        for half in ("attn", "ffn")
        for part, size in sizes.items()
    )


def _merging(config: Config, name: str) -> tuple[Piece, ...]:
    """How the streams become one again before the head; vLLM builds it on every stage of a pipeline."""
    streams = config.whole("hc_mult")
    sizes = {"fn": streams * streams * config.whole("hidden_size"), "base": streams, "scale": 1}
    return tuple(Vector(name=f"{name}hc_head_{part}", size=size, dtype=Dtype.F32) for part, size in sizes.items())


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {"DeepseekV4ForCausalLM": read}
