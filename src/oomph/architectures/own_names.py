"""Decoders that name their fields or their parts in their own way: GPT-2, Phi, Falcon, InternLM2, EXAONE 3, StableLM.

Knows what tells these architectures apart; `decoder` builds them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from oomph.architectures import pieces, reach
from oomph.architectures.config import Config
from oomph.architectures.decoder import Build, Names, attends, both, gated_bare, inward, read, square
from oomph.ledger.geometry import Attention, Geometry
from oomph.ledger.weights import Piece, Vector

_GPT_FIELDS: Final = {
    "hidden_size": "n_embd",
    "num_hidden_layers": "n_layer",
    "num_attention_heads": "n_head",
    "num_key_value_heads": "n_head_kv",
    "intermediate_size": "n_inner",
    "max_position_embeddings": "n_positions",
}


def _called(config: Config, fields: Mapping[str, str]) -> Config:
    """The same config, which calls these fields by other names."""
    return config.over({ours: config.raw(theirs) for ours, theirs in fields.items() if theirs in config})


def gpt2(config: Config) -> Geometry:
    """GPT-2, which learned a vector for each position."""
    found = read(_called(config, _GPT_FIELDS), GPT2, model="transformer")
    positions = Vector(name="transformer.wpe.weight", size=found.context_tokens * found.hidden)
    return replace(found, embedding=(*found.embedding, positions))


def phi(config: Config) -> Geometry:
    """Phi 1 to 2, under either set of names."""
    return read(_called(config, _GPT_FIELDS), PHI)


def exaone(config: Config) -> Geometry:
    """EXAONE 3."""
    return read(_called(config, {"num_hidden_layers": "num_layers"}), EXAONE, model="transformer")


def _wide(config: Config, hidden: int) -> int:
    return config.maybe("intermediate_size") or 4 * hidden


def _gpt2_feed(config: Config, hidden: int) -> tuple[Piece, ...]:
    return pieces.plain(hidden, _wide(config, hidden), up="mlp.c_fc", down="mlp.c_proj", bias=True)


def _phi_feed(config: Config, hidden: int) -> tuple[Piece, ...]:
    return pieces.plain(hidden, _wide(config, hidden), up="mlp.fc1", down="mlp.fc2", bias=True)


def _phi_norms(config: Config, mixes: Attention) -> tuple[Piece, ...]:
    if not config.flag("qk_layernorm", default=False):
        return ()
    return (
        *pieces.norm("self_attn.q_layernorm", mixes.head_dim, bias=True),
        *pieces.norm("self_attn.k_layernorm", mixes.head_dim, bias=True),
    )


def _falcon_mixer(config: Config, window: int | None) -> Attention:
    heads = config.whole("num_attention_heads")
    alone = 1 if config.flag("multi_query", default=True) else heads
    grouped = config.flag("new_decoder_architecture", default=False)
    kv_heads = config.whole("num_kv_heads", default=heads) if grouped else alone
    return attends(config, kv_heads=kv_heads, window=window)


def _falcon_feed(config: Config, hidden: int) -> tuple[Piece, ...]:
    bias = config.flag("bias", default=False)
    return pieces.plain(hidden, 4 * hidden, up="mlp.dense_h_to_4h", down="mlp.dense_4h_to_h", bias=bias)


def _falcon_norms(config: Config) -> tuple[str, ...]:
    if not config.flag("parallel_attn", default=True):
        return ("post_attention_layernorm", "input_layernorm")
    grouped = config.flag("new_decoder_architecture", default=False)
    two = config.whole("num_ln_in_parallel_attn", default=2 if grouped else 1) == 2  # noqa: PLR2004 - its own word
    return ("ln_attn", "ln_mlp") if two else ("input_layernorm",)


def _intern_feed(config: Config, hidden: int) -> tuple[Piece, ...]:
    return pieces.gated(hidden, config.whole("intermediate_size"), name="feed_forward", parts=("w1", "w3"), down="w2")


def _exaone_feed(config: Config, hidden: int) -> tuple[Piece, ...]:
    inner, bias = config.whole("intermediate_size"), config.flag("mlp_bias", default=False)
    return pieces.gated(hidden, inner, bias=bias, parts=("c_fc_0", "c_fc_1"), down="c_proj")


GPT2: Final = Build(
    kind="gpt2",
    uncut=True,
    biases=lambda _config: (True, True),
    mixer=square,
    feed=_gpt2_feed,
    norms=lambda _config: ("ln_1", "ln_2"),
    norm_bias=True,
    names=Names(attention="attn", fused="c_attn", parts=(), output="c_proj", layers="h", words="wte", norm="ln_f"),
)
PHI: Final = Build(
    kind="phi",
    biases=lambda _config: (True, True),
    besides=_phi_norms,
    feed=_phi_feed,
    norms=lambda _config: ("input_layernorm",),
    norm_bias=True,
    reach=reach.listed,
    names=Names(output="dense", norm="final_layernorm"),
)
FALCON: Final = Build(
    kind="falcon",
    uncut=True,
    biases=both("bias"),
    mixer=_falcon_mixer,
    feed=_falcon_feed,
    norms=_falcon_norms,
    norm_bias=True,
    reach=reach.everything,
    names=Names(
        attention="self_attention",
        fused="query_key_value",
        parts=(),
        output="dense",
        layers="h",
        words="word_embeddings",
        norm="ln_f",
    ),
)
INTERN: Final = Build(
    kind="internlm2",
    uncut=True,
    mixer=square,
    feed=_intern_feed,
    norms=lambda _config: ("attention_norm", "ffn_norm"),
    names=Names(attention="attention", fused="wqkv", parts=(), output="wo", words="tok_embeddings", head="output"),
)
EXAONE: Final = Build(
    kind="exaone",
    biases=both("attention_bias", "bias"),
    feed=_exaone_feed,
    norms=lambda _config: ("ln_1", "ln_2"),
    names=Names(attention="attn.attention", output="out_proj", layers="h", words="wte", norm="ln_f"),
)
STABLE: Final = Build(
    kind="stablelm", biases=inward("use_qkv_bias"), mixer=square, feed=gated_bare, norm_bias=True, uncut=True
)

ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {
    "GPT2LMHeadModel": gpt2,
    "PhiForCausalLM": phi,
    "ExaoneForCausalLM": exaone,
    "FalconForCausalLM": partial(read, build=FALCON, model="transformer"),
    "InternLM2ForCausalLM": partial(read, build=INTERN),
    "StableLmForCausalLM": partial(read, build=STABLE),
}
