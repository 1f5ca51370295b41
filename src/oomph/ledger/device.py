"""What a GPU offers: its memory, who else is on it, how it is cut.

Knows one device as the engine will see it. Does not ask any driver: `readers` do that.
"""

from dataclasses import dataclass
from enum import StrEnum

from oomph.units import Bounds, Bytes


class Cut(StrEnum):
    """How a card is shared out before the engine sees it."""

    WHOLE = "whole"
    MIG = "mig"
    MPS = "mps"
    HAMI = "hami"
    TIME_SLICED = "time-sliced"
    VGPU = "vgpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """The compute capability, as CUDA numbers it: 12.0 is a consumer Blackwell."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A process that already holds memory there."""

    pid: int
    name: str
    holds: Bytes | None  # None where the driver does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device, or one slice of one, as the engine will see it."""

    name: str
    total: Bytes
    free: Bounds | None = None  # None where nobody looked
    capability: Capability | None = None
    cut: Cut = Cut.WHOLE
    tenants: tuple[Tenant, ...] = ()
    really: Bytes | None = None  # what allocations can have, where that is less than the engine is told is free
    card: Bytes | None = None  # the whole card, as its library tells it; None where that is `total`
    bandwidth: Bytes | None = None  # of its memory, in a second; None where nobody says

    def __post_init__(self) -> None:
        if self.total <= 0:
            message = f"device {self.name!r} has no memory: {int(self.total)} B"
            raise ValueError(message)
        if self.free is not None and (self.free.low < 0 or self.free.high > self.total):
            message = f"device {self.name!r} has {self.total}, so {self.free} cannot be free"
            raise ValueError(message)

    @property
    def held(self) -> Bytes | None:
        """By tenants that were named, as far as the driver says; None where it does not say of one."""
        holdings = [tenant.holds for tenant in self.tenants]
        return None if None in holdings else Bytes(sum(size for size in holdings if size is not None))
