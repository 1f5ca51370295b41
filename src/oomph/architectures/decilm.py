"""Llama whose layers were pruned one by one: DeciLM, as in Llama Nemotron Super and Ultra.

Knows the list of blocks: attention with groups of its own size or none, a feed-forward of its own width or none. A
block that was replaced by a linear map is refused: vLLM builds none.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from oomph.architectures import decoder, dense, hybrid, pieces
from oomph.architectures.config import Config
from oomph.ledger.geometry import Geometry, Layer

_STEP: Final = 256  # widths are rounded up to it


def read(config: Config) -> Geometry:
    """The geometry of a pruned Llama."""
    depth = hybrid.count(config)
    found = decoder.read(config, replace(dense.LLAMA, feed=lambda _config, _hidden: ()))  # each block says its own
    blocks = config.items("block_configs", dict)
    if len(blocks) != depth:
        raise config.refusal(name="block_configs", why=f"{len(blocks)} blocks are listed for {depth} layers")
    kinds = [_kind(Config(block, f"{config.where}: block_configs"), found.hidden) for block in blocks]
    return replace(found, layers=hybrid.layers(kinds, lambda kind: _layer(config, *kind)))


def _kind(block: Config, hidden: int) -> tuple[int | None, int | None]:
    """Queries that share a key, and width of the feed-forward; None where the block has no such part."""
    attention, feed = block.sub("attention"), block.sub("ffn")
    for part in (attention, feed):
        if part.flag("replace_with_linear", default=False):
            raise part.refusal(name="replace_with_linear", why="vLLM builds no linear map in place of a block")
    shared = None if attention.flag("no_op", default=False) else attention.whole("n_heads_in_group")
    return shared, None if feed.flag("no_op", default=False) else _inner(feed, hidden)


def _inner(feed: Config, hidden: int) -> int:
    if "ffn_mult" not in feed:
        return feed.whole("intermediate_size")
    times = feed.number("ffn_mult")
    if not 0 < times <= hybrid.MOST:
        raise feed.refusal(name="ffn_mult", why=f"{times} is not between 0 and {hybrid.MOST}")
    return -(-int(2 * times * hidden / 3) // _STEP) * _STEP  # model_executor/models/nemotron_nas.py


def _layer(config: Config, shared: int | None, inner: int | None) -> Layer:
    attention, feed = _attention(config, shared), _feed(config, inner)
    return Layer(mixers=attention.mixers, weights=(*attention.weights, *feed.weights))


def _attention(config: Config, shared: int | None) -> Layer:
    """The first half of a layer."""
    if shared is None:
        return Layer(mixers=())
    hidden, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
    if heads % shared:
        raise config.refusal(name="block_configs", why=f"{heads} heads do not make groups of {shared}")
    attends = decoder.attends(
        config, kv_heads=heads // shared, head_dim=config.maybe("head_dim"), window=config.maybe("sliding_window")
    )
    into, back = decoder.llama_biases(config)
    maps = pieces.attention(attends, hidden, bias=into, output_bias=back)
    return Layer(mixers=(attends,), weights=(*maps, *pieces.norm("input_layernorm", hidden)))


def _feed(config: Config, inner: int | None) -> Layer:
    """The second half of a layer."""
    if inner is None:
        return Layer(mixers=())
    hidden = config.whole("hidden_size")
    maps = pieces.gated(hidden, inner, bias=config.flag("mlp_bias", default=False))
    return Layer(mixers=(), weights=(*maps, *pieces.norm("post_attention_layernorm", hidden)))


ARCHITECTURES: Final[Mapping[str, Callable[[Config], Geometry]]] = {"DeciLMForCausalLM": read}
