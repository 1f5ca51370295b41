"""What a checkpoint's headers say that one rank would load, to hold against what its config says.

Knows which tensors vLLM passes over: drafts, rope caches, a head that is the table of words again. Does not know how
a format is repacked: for that the config decides.
"""

import re
from typing import Final

from oomph.engines.vllm.weights.ranks import VOCABULARY_PADDING
from oomph.ledger.checkpoint import Checkpoint, Tensor
from oomph.ledger.geometry import Geometry
from oomph.units import Bytes

_PASSED_OVER: Final = re.compile(r"(?:^|\.)(?:mtp\.|rotary_emb\.inv_freq|rotary_emb\.(?:cos|sin)_cached)")
_LAYER: Final = re.compile(r"(?:^|\.)layers\.(?P<index>[0-9]{1,5})\.")
_WORDS: Final = re.compile(r"(?:^|\.)(?:embed_tokens|lm_head|word_embeddings|wte)\.weight$")


def held(checkpoint: Checkpoint, geometry: Geometry) -> Bytes:
    """Bytes of one rank that has the whole model, if everything is kept as it is stored."""
    return Bytes(sum(_padded(tensor) for tensor in checkpoint if _loaded(tensor, geometry)))


def _loaded(tensor: Tensor, geometry: Geometry) -> bool:
    if _PASSED_OVER.search(tensor.name):
        return False
    if geometry.tied and tensor.name.endswith("lm_head.weight"):
        return False
    layer = _LAYER.search(tensor.name)
    beyond = layer is not None and int(layer["index"]) >= len(geometry.layers)  # layers that only guess ahead
    return not (beyond and geometry.draft and "vis" not in tensor.name)


def _padded(tensor: Tensor) -> int:
    """A table of words is padded to whole 64 rows."""
    if not _WORDS.search(tensor.name) or not tensor.shape:
        return tensor.size
    rows = tensor.shape[0]
    padded = -(-rows // VOCABULARY_PADDING) * VOCABULARY_PADDING
    return tensor.size // rows * padded if rows else 0
