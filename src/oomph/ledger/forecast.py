"""The whole answer about one start-up: what was asked, what was resolved, and every gate with its verdict.

Knows how gates make one verdict. Does not know which engine it speaks of.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from oomph.ledger.device import Device
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.ledger.geometry import Geometry
from oomph.ledger.kv import GraphProfile, KvPool
from oomph.ledger.ledger import Basis, Ledger
from oomph.ledger.settings import Settings
from oomph.units import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What will happen on the way up."""

    engine: str
    release: str
    basis: Basis  # how well the release is known
    model: str | None
    device: Device  # the one that decides
    count: int
    devices: tuple[Device, ...] = ()  # all of them, by rank; empty where they are as many like `device`
    settings: Settings
    gates: tuple[Gate, ...]
    skipped: Mapping[Step, str] = field(default_factory=dict)  # gates that are not met on this way up, and why
    rank: int = 0  # the one that decides, where there are several
    ledger: Ledger = field(default_factory=Ledger)  # what is on the device once it serves
    geometry: Geometry | None = None
    parameters: int | None = None  # of the whole model
    kv: KvPool | None = None  # at the likely size of the pool
    pool: Bounds | None = None  # bytes for keys, values and states
    graph_profile: GraphProfile | None = None
    warnings: tuple[str, ...] = ()

    @property
    def stopped_at(self) -> Gate | None:
        """The gate that stops the engine: the first that surely overflows, else the first that is not sure to fit."""
        for verdict in (Verdict.OVERFLOWS, Verdict.UNSURE):
            for gate in self.gates:
                if gate.verdict is verdict:
                    return gate
        return None

    @property
    def verdict(self) -> Verdict:
        """Sure to fit only where every step was forecast; one gate is enough to be sure that it does not."""
        if (stopped := self.stopped_at) is not None:
            return stopped.verdict
        return Verdict.UNSURE if self.not_forecast else Verdict.FITS

    @property
    def not_forecast(self) -> tuple[Step, ...]:
        """Steps of which nothing is said yet."""
        said = {gate.step for gate in self.gates} | set(self.skipped)
        return tuple(step for step in Step if step not in said)
