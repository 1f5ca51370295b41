"""What a log implies without saying it: weights that were loaded, since the engine came past loading them.

Knows that a config may be at hand of another format than what was loaded, and what then follows from the moment at
which memory ran out. Does not know how weights are computed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.trials import at
from oomph.engines.vllm.levers.checkpoint import four_bits
from oomph.engines.vllm.levers.startup import Startup
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Step
from oomph.ledger.ledger import Account, Basis, Entry
from oomph.ledger.observation import Quantity
from oomph.ledger.observed import Seen
from oomph.units import Bounds, Bytes

_TENTH: Final = 10  # of a checkpoint in four bits: as much it may be off, by its groups and by what is left whole
_BESIDE: Final = frozenset({Account.DRIVER, Account.ACTIVATIONS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Implied:
    """What must have been loaded, and what is then left for what is outside of PyTorch."""

    weights: Entry
    outside: Seen


def implied(case: Case, startup: Startup) -> Implied | None:
    """What was loaded, where the config cannot be what was; None where nothing speaks against it."""
    held = _held(case)
    if held is None or case.size(Quantity.WEIGHTS) is not None or case.phase in {Phase.LOAD, Phase.HOST, None}:
        return None
    now = startup.forecast()
    computed = now.ledger.of(Account.WEIGHTS)
    if computed is None or computed.low <= held.high:
        return None
    stored = None if startup.model is None else startup.model.quantization
    fewer = four_bits(startup) if stored is None else None
    words = f"the config would make {computed.likely}, but it came past loading with {held.likely} in use"
    return Implied(
        weights=Entry(
            account=Account.WEIGHTS,
            size=_between(case, now, held, fewer),
            basis=Basis.ASSUMED,
            because=words if fewer is None else f"{words}; in 4 bits it is about {fewer}",
        ),
        outside=Seen(size=Bounds(_beside(now, Account.DRIVER)), because="as usual: what was in use leaves no more"),
    )


def _between(case: Case, now: Forecast, held: Bounds, fewer: Bytes | None) -> Bounds:
    """What was in use, less what is beside the weights; of several that it may be, those near to four bits."""
    most = Bytes(max(0, held.high - _beside(now, *_BESIDE)))
    if fewer is None or fewer - fewer // _TENTH > most:
        return Bounds(0, most, most)
    off = fewer // _TENTH
    near = [each for each in _possible(case, now, most) if abs(each - fewer) <= off]
    if not near:
        return Bounds(fewer - off, min(fewer + off, most), min(fewer, most))
    return Bounds(min(near), max(near), min(near, key=lambda each: abs(each - fewer)))


def _possible(case: Case, now: Forecast, most: Bytes) -> Iterator[int]:
    """Without the tensors of a throw-away pool, of which nobody knows how many were there."""
    tried, profile = case.size(Quantity.TRIED), now.graph_profile
    pooled = case.phase is Phase.GRAPH_PROFILE and profile is not None and tried is not None
    tensor = int(profile.tensor) if pooled and profile is not None and int(profile.tensor) in (tried or ()) else 0
    yield from range(most, 0, -tensor) if tensor else (most,)


def _beside(now: Forecast, *accounts: Account) -> int:
    """What is likely there besides weights and pools."""
    gate = at(now, Step.GRAPH_PROFILE) or at(now, Step.LOAD)
    stays = () if gate is None else gate.ledger
    return sum(entry.size.likely for entry in stays if entry.account in accounts)


def _held(case: Case) -> Bounds | None:
    """On the device when it ran out: weights are not more than that."""
    own = case.size(Quantity.IN_USE)
    total, free = case.size(Quantity.DEVICE_TOTAL), case.size(Quantity.DEVICE_FREE)
    return own if own is not None or total is None or free is None else total - free
