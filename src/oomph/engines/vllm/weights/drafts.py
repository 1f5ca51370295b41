"""What guesses ahead: layers of the model itself, a head that reads its states, or a smaller model.

Knows the model's own layers to the byte, and that words and head are the model's once the draft is loaded
(`v1/spec_decode/`). A head or a model that is only named is bounded by what such drafts are made of.
"""

import re
from typing import Final

from oomph.engines.vllm.speculation import Guesser, Speculation
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.tensors import Draft, Held, Scale, words
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry
from oomph.ledger.ledger import Basis
from oomph.ledger.weights import Table
from oomph.units import Bounds

# Maps of a head in squares of the hidden size: what joins a word with states, attention, and a feed-forward.
_LEAST, _USUAL, _MOST = 8, 18, 26
_OWN_WORDS: Final = 32_000  # words that a head of its own knows, usually
_BILLIONS: Final = re.compile(
    r"(?<![0-9.])(?P<number>[0-9]{1,3}(?:\.[0-9]{1,2})?)(?P<unit>[bm])(?![a-z0-9])", re.IGNORECASE
)
_UNITS: Final = {"b": 10**9, "m": 10**6}


def draft(geometry: Geometry, ranks: Ranks, guessing: Speculation, *, scale: Scale, dtype: Dtype) -> Draft | None:
    """On the last stage, where the flags ask for one that is loaded."""
    if not ranks.last:
        return None
    match guessing.guesser:
        case Guesser.OWN_LAYERS if geometry.draft:
            return _own(geometry, ranks, scale)
        case Guesser.HEAD:
            return _head(geometry, ranks, dtype)
        case Guesser.MODEL:
            return _model(ranks, guessing.model, scale, dtype)
        case _:
            return None


def _own(geometry: Geometry, ranks: Ranks, scale: Scale) -> Draft:
    """All but words and head, which it shares; a pipeline has its words on another stage, so they stay a copy."""
    named = any(piece.name.startswith("mtp.") for piece in geometry.draft_extra)
    below, begin = ("mtp.layers", 0) if named else (geometry.prefix, len(geometry.layers))
    found = sum((scale.layer(each, f"{below}.{index}") for index, each in enumerate(geometry.draft, begin)), Held())
    beside = (scale.piece(piece) for piece in geometry.draft_extra if not isinstance(piece, Table))
    size = sum(beside, found).size
    tables = words(geometry)
    copies = [scale.piece(table).size for table in (tables * 2 if geometry.tied else tables)]
    stays = copies[0] if ranks.pipeline > 1 and copies else 0
    return Draft(size=Bounds(size + stays), copies=sum(copies) - stays)


def _head(geometry: Geometry, ranks: Ranks, dtype: Dtype) -> Draft:
    square = geometry.hidden**2
    vocabulary = geometry.vocabulary * geometry.hidden
    least, likely = _LEAST * square, _USUAL * square + min(_OWN_WORDS, geometry.vocabulary) * geometry.hidden
    most = _MOST * square + 2 * vocabulary
    low, high, middle = (int(dtype.size(count // ranks.tensor)) for count in (least, most, likely))
    return Draft(
        size=Bounds(low, high, middle), copies=int(dtype.size(vocabulary // ranks.tensor)), basis=Basis.ASSUMED
    )


def _model(ranks: Ranks, name: str | None, scale: Scale, dtype: Dtype) -> Draft:
    """By the number of parameters that its name tells, in any format; without one, up to the model's own size."""
    told = _BILLIONS.search(name or "")
    if told is None:
        whole = (scale.around(towers=False) + scale.layers()).size
        return Draft(size=Bounds(0, whole, whole // 8), basis=Basis.ASSUMED)
    count = int(float(told["number"]) * _UNITS[told["unit"].lower()])
    usual = int(dtype.size(count)) // ranks.tensor
    return Draft(size=Bounds(usual // 4, usual * 3 // 2, usual * 21 // 20), basis=Basis.ASSUMED)
