"""Room for adapters (LoRA): two thin matrices beside every one that an adapter may change.

Knows `lora/layers/`. Which modules of a model may be changed differs between releases and classes: routers, words and
the head are the upper bound.
"""

from collections.abc import Iterator
from typing import Final

from oomph.engines.history import Release, Since
from oomph.engines.vllm.formulas.allocator import held
from oomph.engines.vllm.weights import ranks as on
from oomph.engines.vllm.weights.loading import Adapters
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.total import mine
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry, Latent, Layer
from oomph.ledger.weights import Divide, Experts, Matrix
from oomph.units import Bounds

# Whether experts may have adapters.
of_experts: Final = Since(
    {
        "0.6.0": False,  # lora/layers.py
        "0.11.1": True,  # lora/layers/fused_moe.py
    }
)


# Whether a matrix that the model holds under two names, as latent attention and shared experts are, gets room for both.
by_name: Final = Since(
    {
        "0.6.0": True,  # lora/models.py
        "0.22.0": False,  # lora/model_manager.py
    }
)

_WORDS: Final = frozenset(
    {
        "ApertusForCausalLM",
        "BambaForCausalLM",
        "Exaone4ForCausalLM",
        "ExaoneForCausalLM",
        "FalconH1ForCausalLM",
        "GraniteForCausalLM",
        "GraniteMoeForCausalLM",
        "GraniteMoeHybridForCausalLM",
        "GraniteMoeSharedForCausalLM",
        "JambaForCausalLM",
        "Lfm2ForCausalLM",
        "Lfm2MoeForCausalLM",
        "LlamaForCausalLM",
        "MixtralForCausalLM",
        "NemotronHForCausalLM",
        "PhiMoEForCausalLM",
    }
)
_QWEN3: Final = _WORDS | {"Qwen3ForCausalLM", "Qwen3MoeForCausalLM"}
_QWEN35: Final = _QWEN3 | {"Qwen3_5ForCausalLM", "Qwen3_5MoeForCausalLM"}

# The classes whose words and head may have adapters too.
of_words: Final[Since[frozenset[str]]] = Since(
    {
        "0.6.0": _WORDS,  # model_executor/models/llama.py
        "0.16.0": _QWEN3,  # model_executor/models/qwen3.py
        "0.30.0": _QWEN35,  # model_executor/models/qwen3_5.py
    }
)

# Words that every adapter may add.
more_words: Final = Since(
    {
        "0.6.0": 256,  # engine/arg_utils.py
        "0.12.0": 0,  # config/lora.py
    }
)


def room(geometry: Geometry, ranks: Ranks, asked: Adapters, *, dtype: Dtype, release: Release) -> Bounds:
    """What one rank allocates for all slots."""
    pieces = [piece for layer in mine(geometry, ranks)[1] for piece in layer.weights]
    sure: list[Matrix | Experts] = [piece for piece in pieces if isinstance(piece, Matrix) and not piece.plain]
    if of_experts.at(release):
        sure += [piece for piece in pieces if isinstance(piece, Experts)]
    routers = [piece for piece in pieces if isinstance(piece, Matrix) and piece.plain]
    kept = asked.dtype or dtype
    least, more = (sum(_held(each, ranks, asked, kept) for each in some) for some in (sure, routers))
    ends = _of_words(geometry, asked, kept, release)
    twice = _twice(geometry, ranks, asked, kept) if by_name.at(release) else 0
    usual = ends if geometry.architecture in of_words.at(release) else 0
    return Bounds(0 if asked.listed else least, least + more + ends + twice, least + more + usual)


def _twice(geometry: Geometry, ranks: Ranks, asked: Adapters, dtype: Dtype) -> int:
    """All matrices of layers with latent attention or shared experts; those under three names are few and small."""
    layers = (layer for layer in mine(geometry, ranks)[1] if _named_twice(layer))
    pieces = (piece for layer in layers for piece in layer.weights if isinstance(piece, Matrix) and not piece.plain)
    return 2 * sum(_held(piece, ranks, asked, dtype) for piece in pieces)


def _named_twice(layer: Layer) -> bool:
    latent = any(isinstance(mixer, Latent) for mixer in layer.mixers)
    return latent or any("shared_expert" in piece.name for piece in layer.weights)


def _of_words(geometry: Geometry, asked: Adapters, dtype: Dtype, release: Release) -> int:
    """For the words that come in and for the head, which has its own although it may be the same table."""
    added = more_words.at(release)
    each = ((geometry.vocabulary + added) * asked.rank, geometry.hidden * asked.rank, added * geometry.hidden)
    return 2 * sum(held(dtype.size(asked.slots * numbers)) for numbers in each if numbers)


def _held(piece: Matrix | Experts, ranks: Ranks, asked: Adapters, dtype: Dtype) -> int:
    tensors = _of_experts(piece, ranks, asked) if isinstance(piece, Experts) else _of_matrix(piece, ranks, asked)
    return sum(held(dtype.size(asked.slots * numbers)) for numbers in tensors)


def _of_matrix(piece: Matrix, ranks: Ranks, asked: Adapters) -> Iterator[int]:
    """For each matrix that is fused into it: one from all inputs to the rank, one from the rank to its outputs."""
    dividing = on.dividing(piece, ranks)
    inputs, outputs = on.on_rank(piece, dividing)
    apart = dividing if asked.divided else 1
    for part in outputs:
        yield inputs * asked.rank // (apart if piece.divide is Divide.OUTPUTS else 1)
        yield part * asked.rank // (apart if piece.divide is Divide.INPUTS else 1)


def _of_experts(piece: Experts, ranks: Ranks, asked: Adapters) -> Iterator[int]:
    """For every expert the same for its maps up (and gate) and down."""
    count, inner = on.experts_on_rank(piece, ranks)
    apart = ranks.tensor if asked.divided else 1
    for _ in range(2 if piece.gated else 1):
        yield count * asked.rank * piece.hidden // apart
        yield count * asked.rank * inner
    yield count * asked.rank * inner
    yield count * asked.rank * piece.hidden // apart
