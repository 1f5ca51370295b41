"""The parts of what one rank holds once it is loaded, and what it holds besides for a moment.

Knows in which order a model, its adapters and its draft are loaded, and which of them need room that they give back.
Remembers what it has computed: many plans ask about the same weights.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.formulas.allocator import held
from oomph.engines.vllm.heads import refuse_uneven
from oomph.engines.vllm.weights import offload, online
from oomph.engines.vllm.weights.kit import kit
from oomph.engines.vllm.weights.loading import Loading, served_in
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.engines.vllm.weights.tables import tables
from oomph.engines.vllm.weights.tensors import Draft, Held, Scale
from oomph.ledger.device import Capability
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Geometry
from oomph.ledger.ledger import Basis
from oomph.ledger.quantization import Format, Quantization
from oomph.ledger.same import Same
from oomph.ledger.weights import Experts
from oomph.units import GIB, Bounds, largest

NOTHING: Final = Bounds(0)
_SHARD: Final = 5 * GIB  # a file of a checkpoint, as most are cut
_WIDE_SCALES: Final = (
    0.7  # of bitsandbytes' scales stay in 32 bits, by public logs; the others are quantized themselves
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One rank, and how its weights are loaded."""

    geometry: Same[Geometry]
    stored: Same[Quantization | None]
    asked: Loading
    capability: Capability | None
    release: Release
    ranks: Ranks

    @property
    def kept(self) -> Quantization | None:
        """How the engine keeps the checkpoint."""
        return online.made(self.asked.format, self.stored.it)

    @property
    def dtype(self) -> Dtype:
        """Of what is not quantized."""
        return served_in(self.geometry.it, self.asked, self.capability)

    def scale(self, kept: Quantization | None) -> Scale:
        """What weighs the pieces of this rank, if they are kept so."""
        there = kit(self.capability, self.release)
        return Scale(self.geometry.it, self.ranks, dtype=self.dtype, quantization=kept, kit=there)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What one rank holds."""

    model: Bounds  # its parameters
    positions: int  # the tables for them
    guesses: Bounds  # a draft
    adapted: Bounds  # room for adapters
    balanced: Bounds  # a layer of experts more, through which they are moved
    moved: Bounds  # parameters that are with the host instead
    transient: Bounds  # on top of what stays, for a moment
    basis: Basis

    @property
    def size(self) -> Bounds:
        """What stays on the device."""
        return self.model + self.positions + self.guesses + self.adapted + self.balanced - self.moved


@lru_cache(maxsize=512)
def parts(case: Case) -> Parts:
    """All of them."""
    asked, geometry, scale = case.asked, case.geometry.it, case.scale(case.kept)
    refuse_uneven(geometry, case.ranks.tensor)
    online.refuse_gone(case.kept, case.release)
    layers = scale.layers()
    own = scale.around(towers=asked.towers) + layers
    draft, adapted = _draft(case, scale), _adapted(case)
    found = Parts(
        model=_model(case, own),
        positions=sum(map(held, tables(geometry, case.dtype, case.release))),
        guesses=draft.size,
        adapted=adapted,
        balanced=_buffer(geometry, scale) if asked.balanced else NOTHING,
        moved=offload.moved(asked.offloaded, layers, repacked=case.kept is not None),
        transient=Bounds(draft.copies),
        basis=draft.basis,
    )
    return replace(found, transient=largest(found.transient, _before(case, own, later=found.guesses + adapted)))


def _draft(case: Case, scale: Scale) -> Draft:
    asked = case.asked.guessing
    if not asked.tokens:
        return Draft(NOTHING)
    module = import_module("oomph.engines.vllm.weights.drafts")  # most models are served without one
    found: Draft | None = module.draft(case.geometry.it, case.ranks, asked, scale=scale, dtype=case.dtype)
    return found or Draft(NOTHING)


def _adapted(case: Case) -> Bounds:
    asked = case.asked.adapters
    if asked is None:
        return NOTHING
    module = import_module("oomph.engines.vllm.weights.adapters")  # likewise
    found: Bounds = module.room(case.geometry.it, case.ranks, asked, dtype=case.dtype, release=case.release)
    return found


def _model(case: Case, own: Held) -> Bounds:
    """Its parameters; those of bitsandbytes have scales of which some are quantized themselves."""
    kept = case.kept
    if kept is None or kept.scheme is None or kept.scheme.format is not Format.NF4:
        return Bounds(own.size)
    small = replace(kept, scheme=replace(kept.scheme, scale=Dtype.U8))
    scale = case.scale(small)
    least = (scale.around(towers=case.asked.towers) + scale.layers()).size
    return Bounds(least, own.size, least + int(_WIDE_SCALES * (own.size - least)))


def _before(case: Case, own: Held, *, later: Bounds) -> Bounds:
    """What the model itself needs for a moment before drafts and adapters are there, above all that stays."""
    needs = Bounds(0, own.repacked)
    if online.converts(case.asked.format, case.stored.it):
        needs = largest(needs, _converting(case, own))
    if case.asked.reader == "fastsafetensors":  # files are laid on the device before their tensors are copied
        needs += Bounds(0, min(_SHARD, own.size))
    return Bounds(max(0, needs.low - later.high), max(0, needs.high - later.low))


def _converting(case: Case, own: Held) -> Bounds:
    """In 16 bits: a matrix after the other, or in older releases the whole model before any is quantized."""
    scale = case.scale(None)
    plain = scale.around(towers=case.asked.towers) + scale.layers()
    if online.whole_first.at(case.release) and case.asked.format != "bitsandbytes":
        return Bounds(max(0, plain.size - own.size), max(0, plain.size - own.size) + own.repacked)
    return Bounds(0, 2 * plain.largest)


def _buffer(geometry: Geometry, scale: Scale) -> Bounds:
    """The experts of one layer (`distributed/eplb/eplb_state.py`), in releases that keep a place for them."""
    experts = [piece for layer in geometry.layers for piece in layer.weights if isinstance(piece, Experts)]
    return Bounds(0, scale.piece(experts[0]).size) if experts else NOTHING
