"""What a step allocates for a moment: the tensors between a layer's matrices, the experts' workspaces, logits.

Knows which tensors are alive at once, by the shapes of the matrices around them. Does not know what compiled code keeps
longer or shorter than that: `measured` has the factors by which real start-ups differ.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from oomph.engines.vllm.weights.ranks import Ranks, dividing, on_rank
from oomph.ledger.geometry import Geometry, Latent, Layer
from oomph.ledger.same import Same
from oomph.ledger.weights import Divide, Experts, Matrix, Piece
from oomph.units import Bytes

_ITEM: Final = 2  # bytes: what layers pass on is in 16 bits, whatever the weights are stored in
_STREAMS: Final = 4  # tensors as wide as the model that live beside a block: its input, its output, residual, norm


def forward(geometry: Geometry, ranks: Ranks, *, tokens: int, chunk_tokens: int | None = None) -> Bytes:
    """The most that one layer holds at once for a step of so many tokens, on one rank."""
    width, routed = _widest(Same(geometry), ranks.tensor)
    at_once = tokens if chunk_tokens is None else min(tokens, chunk_tokens)
    streams = _STREAMS * geometry.hidden * tokens
    return Bytes(_ITEM * (streams + max(width * tokens, routed * at_once)))


def picture(geometry: Geometry, ranks: Ranks, *, pictures: int) -> Bytes:
    """The most that the tower holds at once for so many of the largest pictures."""
    if geometry.sight is None or not geometry.towers:
        return Bytes(0)
    patches = geometry.sight.patches * pictures
    return Bytes(_ITEM * patches * _tower(Same(geometry), ranks.tensor))


def seen(geometry: Geometry, *, tokens: int) -> Bytes:
    """What the tower has made of pictures, kept until the words around them are read."""
    return Bytes(tokens * geometry.hidden * _ITEM)


def latent_workspace(geometry: Geometry, ranks: Ranks, *, context_tokens: int, sequences: int, block: int) -> Bytes:
    """Keys and values that a long prefill unfolds from their latent form (v1/attention/backends/mla/common.py)."""
    mixers = [mixer for layer in geometry.layers[:4] for mixer in layer.mixers if isinstance(mixer, Latent)]
    if not mixers:
        return Bytes(0)
    tokens = max(min(max(8 * context_tokens, 4 * sequences * block), 65_536), sequences * block)
    unfolded = _latent_outputs(geometry.layers[0]) // ranks.tensor
    return Bytes(tokens * unfolded * _ITEM)


@lru_cache(maxsize=256)
def _widest(geometry: Same[Geometry], ranks: int) -> tuple[int, int]:
    """Elements per token: of the widest block of plain matrices, and of the experts."""
    layers = {id(layer): layer for layer in (*geometry.it.layers, *geometry.it.draft)}.values()
    plain = max((_live(layer.weights, ranks) for layer in layers), default=0)
    chosen = geometry.it.chosen or 1
    routed = max((_routed(piece, chosen, ranks) for layer in layers for piece in layer.weights), default=0)
    return plain, routed


def _live(pieces: Iterable[Piece], ranks: int) -> int:
    """Outputs of a block's first matrices, and the inputs of its last, which are alive together."""
    blocks: dict[str, int] = defaultdict(int)
    for piece in pieces:
        if isinstance(piece, Matrix):
            inputs, outputs = on_rank(piece, dividing(piece, Ranks(tensor=ranks)))
            blocks[piece.name.partition(".")[0]] += inputs if piece.divide is Divide.INPUTS else sum(outputs)
    return max(blocks.values(), default=0)


def _routed(piece: Piece, chosen: int, ranks: int) -> int:
    """Two workspaces with a row for every expert of every token (fused_moe/fused_moe.py)."""
    if not isinstance(piece, Experts):
        return 0
    inner = -(-piece.inner // ranks)
    return chosen * (max((2 if piece.gated else 1) * inner, piece.hidden) + inner)


@lru_cache(maxsize=64)
def _tower(geometry: Same[Geometry], ranks: int) -> int:
    """Elements per patch: the widest matrix with what goes in and out, beside the streams of an uncompiled layer."""
    matrices = [piece for piece in geometry.it.towers if isinstance(piece, Matrix) and "merger" not in piece.name]
    widths = [sum(outputs) + inputs for each in matrices for inputs, outputs in (on_rank(each, 1),)]
    hidden = min((each.inputs for each in matrices), default=0)
    del ranks  # towers are divided only where their heads allow it; the likely case is that they are not
    return max(widths, default=0) + _STREAMS * hidden


def _latent_outputs(layer: Layer) -> int:
    """Keys without positions and values of all heads: what the matrix after the latent vector gives."""
    wide = [piece for piece in layer.weights if isinstance(piece, Matrix) and "kv_b" in piece.name]
    return max((piece.outputs for piece in wide), default=0)
