"""What decides between kernels that keep the same weights in different bytes."""

from dataclasses import dataclass
from typing import Final

from oomph.engines.history import Release, Since
from oomph.ledger.device import Capability

HOPPER: Final = Capability(major=9, minor=0)

# Whether Triton's kernels for experts of four bits are part of the engine.
with_triton: Final = Since(
    {
        "0.6.0": False,  # model_executor/layers/fused_moe/layer.py
        "0.12.0": True,  # utils/import_utils.py
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What decides between kernels: the device, and whether they are all installed."""

    capability: Capability = HOPPER
    bare: bool = False  # without FlashInfer, Humming, DeepGEMM and Triton's kernels, which the engine's images bring
    triton: bool = True  # with Triton's kernels for experts of four bits


def kit(capability: Capability | None, release: Release) -> Kit:
    """What the images of a release bring to a device."""
    return Kit(capability=capability or HOPPER, triton=with_triton.at(release))
