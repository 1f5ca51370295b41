"""A question about a start-up, resolved: what every part of its forecast is made from."""

from dataclasses import dataclass

from oomph.engines.history import Release
from oomph.engines.vllm.measured.calibration import Calibration
from oomph.ledger.device import Device
from oomph.ledger.observed import Observed
from oomph.ledger.settings import Flags, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The question, resolved."""

    flags: Flags
    settings: Settings
    devices: tuple[Device, ...]
    release: Release
    observed: Observed
    calibration: Calibration
