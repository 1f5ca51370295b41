"""Bytes of weights in the model's own format.

Knows what each piece takes on one rank when nothing is quantized.
"""

from oomph.engines.vllm.weights import ranks as on
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.ledger.dtype import Dtype
from oomph.ledger.weights import Experts, Matrix, Piece, Table, Vector
from oomph.units import Bytes


def elements(piece: Piece, ranks: Ranks) -> int:
    """Numbers that one rank keeps of a piece."""
    match piece:
        case Matrix():
            inputs, outputs = on.on_rank(piece, on.dividing(piece, ranks))
            return inputs * sum(outputs) + on.bias_on_rank(piece, outputs)
        case Table():
            rows = on.rows_on_rank(piece, ranks.tensor)
            return rows * piece.width + (rows if piece.bias else 0)
        case Vector():
            return on.size_on_rank(piece, ranks.tensor)
        case Experts():
            count, inner = on.experts_on_rank(piece, ranks)
            up = inner * (2 if piece.gated else 1)
            maps = up * piece.hidden + piece.hidden * inner
            return count * (maps + (up + piece.hidden if piece.bias else 0))


def size(piece: Piece, ranks: Ranks, dtype: Dtype) -> Bytes:
    """Bytes that one rank allocates for a piece."""
    own = piece.dtype if isinstance(piece, Matrix | Vector | Table) and piece.dtype is not None else dtype
    return own.size(elements(piece, ranks))
