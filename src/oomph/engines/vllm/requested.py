"""What the engine may use of a device: the start check compares it, and the pool is what it leaves."""

import math

from oomph.engines.history import Release
from oomph.engines.vllm import facts
from oomph.units import Bytes


def budget(total: int, *, share: float, release: Release) -> Bytes:
    """So much of the total, in whole bytes."""
    return Bytes(math.ceil(facts.requested.at(release)(total=total, share=share)))
