"""How much of a device's memory is used at one moment."""

from dataclasses import dataclass

from oomph.units import Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One device of this machine at one time."""

    at: float  # seconds
    index: int
    name: str | None
    total: Bytes
    used: Bytes
