"""The devices that a log speaks of.

Knows names as drivers print them and totals as engines print them. Does not know how many there are where nothing says.
"""

import re
from typing import Final

from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Device
from oomph.ledger.observation import Observation, Quantity
from oomph.ledger.settings import Flags

_NEAR: Final = 0.004  # of a total: as far as two drivers differ about one device
_PARALLEL: Final = ("tensor_parallel_size", "pipeline_parallel_size")
_MOST: Final = 1_024


def devices_of(observation: Observation, flags: Flags) -> tuple[Device, ...]:
    """As many as one engine uses; none where the log names none."""
    found = _named(observation.device) or _sized(observation)
    return () if found is None else (found,) * _count(observation, flags)


def _named(name: str | None) -> Device | None:
    wanted = _letters(name or "")
    return next((device for device in CATALOGUE.values() if wanted and _letters(device.name) == wanted), None)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.lower().removeprefix("nvidia"))


def _sized(observation: Observation) -> Device | None:
    """Where just one device of that size is known, that one; else one without a name."""
    sizes = (*observation.sizes(Quantity.DEVICE_TOTAL), *observation.sizes(Quantity.TOTAL))
    if not sizes or sizes[0].likely <= 0:
        return None
    total = sizes[0].likely
    near = [each for each in CATALOGUE.values() if abs(each.total - total) <= _NEAR * total]
    return near[0] if len(near) == 1 else Device(name=f"a device of {total}", total=total)


def _count(observation: Observation, flags: Flags) -> int:
    count = 1
    for name in _PARALLEL:
        written = observation.config.get(name, "")
        count *= flags.positive(name) or (int(written) if written.isdecimal() and 0 < int(written) <= _MOST else 1)
    return min(count, _MOST)
