"""What one maker's library told of its cards, before it becomes a part of the probe."""

from dataclasses import dataclass
from typing import Final

from oomph.ledger.probe import Gpu
from oomph.units import TIB, Bytes

_BEYOND: Final = 1 << 20  # TiB; a size that is larger went below zero in somebody's subtraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """The cards of one maker, and what could not be read of them."""

    gpus: tuple[Gpu, ...] = ()
    driver: str | None = None
    cuda: str | None = None
    notes: tuple[str, ...] = ()


def sane(size: object) -> Bytes | None:
    """A size as a library gave it; None for what no card can have, such as -1 in 64 bits."""
    return Bytes(size) if isinstance(size, int) and 0 <= size < _BEYOND * TIB else None
