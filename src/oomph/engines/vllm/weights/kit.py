"""What decides between kernels that keep the same weights in different bytes."""

from dataclasses import dataclass
from typing import Final

from oomph.ledger.device import Capability

HOPPER: Final = Capability(major=9, minor=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What decides between kernels: the device, and whether they are all installed."""

    capability: Capability = HOPPER
    bare: bool = False  # without FlashInfer, Humming, DeepGEMM and Triton's kernels, which the engine's images bring
