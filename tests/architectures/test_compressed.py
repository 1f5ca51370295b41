"""DeepSeek V4 on a small config, weighed by hand."""

import pytest

from oomph.architectures.registry import geometry
from oomph.engines.vllm.weights.plain import size
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import total
from oomph.errors import UnreadableError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Compressed, Geometry, Layer

SMALL: dict[str, object] = {
    "architectures": ["DeepseekV4ForCausalLM"],
    "dtype": "bfloat16",
    "hidden_size": 256,
    "vocab_size": 1024,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "head_dim": 32,
    "qk_rope_head_dim": 16,
    "q_lora_rank": 64,
    "o_groups": 2,
    "o_lora_rank": 48,
    "sliding_window": 128,
    "compress_ratios": [0, 4, 128, 4, 0],
    "index_n_heads": 2,
    "index_head_dim": 16,
    "hc_mult": 4,
    "moe_intermediate_size": 128,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "num_hash_layers": 1,
    "topk_method": "noaux_tc",
    "num_nextn_predict_layers": 1,
}


def read(**changes: object) -> Geometry:
    return geometry(SMALL | changes)


def kept(layer: Layer) -> Compressed:
    (mixer,) = layer.mixers
    assert isinstance(mixer, Compressed)
    return mixer


def weight(layer: Layer, prefix: str) -> int:
    return sum(size(piece, Ranks(), Dtype.BF16) for piece in layer.weights if piece.name.startswith(prefix))


def test_each_layer_keeps_a_window_and_some_compress() -> None:
    found = [kept(layer) for layer in read().layers]

    assert [(each.window, each.ratio, each.indexer_dim) for each in found] == [
        (128, None, None),
        (128, 4, 16),
        (128, 128, None),
        (128, 4, 16),
    ]


def test_tokens_wait_uncompressed_until_their_vector_is_made() -> None:
    alone, fine, coarse, _ = (kept(layer) for layer in read().layers)

    assert alone.pending_tokens == 0
    assert (fine.pending_tokens, fine.pending(32)) == (2 * 4, 2 * 2 * 32)
    assert (coarse.pending_tokens, coarse.pending(32)) == (128, 2 * 32)


def test_a_compressor_weighs_what_adds_up_by_hand() -> None:
    _, fine, coarse, _ = read().layers

    assert weight(fine, "attn.compressor.") == 4 * 4 * 64 + 2 * 256 * 2 * 64 + 2 * 32
    assert weight(coarse, "attn.compressor.") == 4 * 128 * 32 + 2 * 256 * 2 * 32 + 2 * 32
    assert weight(fine, "attn.indexer.compressor.") == 4 * 4 * 32 + 2 * 256 * 2 * 32 + 2 * 16


def test_the_first_layers_route_by_a_table_of_words() -> None:
    first, second, *_ = read().layers

    assert weight(first, "ffn.gate.tid2eid") == 4 * 1024 * 2
    assert weight(first, "ffn.gate.e_score") == 0
    assert weight(second, "ffn.gate.e_score") == 4 * 8


def test_sinks_are_padded_to_64_heads_on_every_rank() -> None:
    sink = next(piece for piece in read().layers[0].weights if piece.name == "attn.attn_sink")

    assert [size(sink, Ranks(tensor=ranks), Dtype.BF16) for ranks in (1, 2, 8)] == [256, 256, 256]


def test_what_merges_the_streams_is_built_on_every_stage() -> None:
    found = read()
    halves = [total(found, Ranks(pipeline=2, stage=stage)) for stage in (0, 1)]
    merging = 4 * (4 * 4 * 256 + 4 + 1)

    assert sum(halves) - total(found, Ranks()) == merging


def test_a_guessing_layer_compresses_nothing() -> None:
    (guess,) = read().draft

    assert kept(guess).ratio is None
    assert {"e_proj", "h_proj", "hc_head_fn"} <= {piece.name for piece in guess.weights}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"compress_ratios": [0, 4]}, "compress_ratios"),
        ({"compress_ratios": [0, 4, 16, 4]}, "compress_ratios: 16"),
        ({"vision_n_layers": 2}, "vision_n_layers"),
        ({"hc_mult": None}, "hc_mult"),
        ({"num_hidden_layers": 5000}, "num_hidden_layers"),
    ],
)
def test_what_cannot_be_read_is_refused_by_field(changes: dict[str, object], field: str) -> None:
    with pytest.raises(UnreadableError, match=field):
        read(**changes)
