"""What the weights take on one rank as the engine's log counts them, and what loading takes besides.

vLLM prints how much more is allocated after a model was loaded than before: its parameters as PyTorch's allocator
holds them, tables for positions, drafts, and room for adapters. What is only bounded says so by its basis.
"""

from collections.abc import Iterator
from functools import lru_cache

from oomph.engines.history import Release
from oomph.engines.vllm.model import Model
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.weights import online
from oomph.engines.vllm.weights.loading import loading
from oomph.engines.vllm.weights.parts import NOTHING, Case, Parts, parts
from oomph.engines.vllm.weights.ranks import Ranks
from oomph.ledger.device import Capability
from oomph.ledger.ledger import Account, Basis, Entry, weakest
from oomph.ledger.same import Same
from oomph.ledger.settings import Flags
from oomph.units import Bounds, Bytes


def resident(model: Model, flags: Flags, capability: Capability | None, release: Release, *, ranks: Ranks) -> Entry:
    """What one rank holds once everything is loaded."""
    return _entry(_case(model, flags, capability, release, ranks))


@lru_cache(maxsize=512)
def _entry(case: Case) -> Entry:
    found = parts(case)
    known = online.known(case.asked.format, case.stored.it)
    return Entry(
        account=Account.WEIGHTS,
        size=found.size,
        basis=weakest(found.basis, HISTORY.basis(case.release), Basis.COMPUTED if known else Basis.ASSUMED),
        because="; ".join(_words(case, found)),
    )


def load_peak(model: Model, flags: Flags, capability: Capability | None, release: Release, *, ranks: Ranks) -> Bounds:
    """What is on the rank besides, for a moment while it is loaded."""
    return parts(_case(model, flags, capability, release, ranks)).transient


def _case(model: Model, flags: Flags, capability: Capability | None, release: Release, ranks: Ranks) -> Case:
    return Case(
        geometry=Same(model.geometry),
        stored=Same(model.quantization),
        asked=loading(flags),
        capability=capability,
        release=release,
        ranks=ranks,
    )


def _words(case: Case, found: Parts) -> Iterator[str]:
    """Every part with its size."""
    ranks, kept, room = case.ranks, case.kept, case.asked.adapters
    where = "one rank" if ranks.tensor == 1 else f"one of {ranks.tensor} ranks"
    where += f" of stage {ranks.stage + 1} of {ranks.pipeline}" if ranks.pipeline > 1 else ""
    stored = f", {'made' if kept is not case.stored.it else 'stored as'} {kept.method}," if kept is not None else ""
    yield f"parameters of {case.geometry.it.architecture}{stored} on {where}: {found.model}"
    if found.positions:
        yield f"tables for positions: {Bytes(found.positions)}"
    if found.guesses != NOTHING:
        yield f"{case.asked.guessing.guesser} that guess ahead: {found.guesses}"
    if room is not None:
        yield f"room for {room.slots} adapters of rank {room.rank}: {found.adapted}"
    if found.balanced != NOTHING:
        yield f"room to move experts: {found.balanced}"
    if found.moved != NOTHING:
        yield f"less what stays with the host: {found.moved}"
