"""What people write of a machine beside a log: `2x RTX 3090 24GB under WSL2` → its devices and its platform.

Knows how cards are called and which words change the meaning of a message. A plan needs to be exact and takes only
names of the catalogue; an explanation takes what it gets. Asks no driver.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from oomph.diagnose.case import Platform
from oomph.errors import UnknownDevice
from oomph.ledger.catalogue import CATALOGUE, devices
from oomph.ledger.device import Device
from oomph.units import GIB, Bytes

_COUNT: Final = re.compile(r"\b(?P<before>[1-9][0-9]?) ?[x×]\s|\s[x×] ?(?P<after>[1-9][0-9]?)\b")
_SIZE: Final = re.compile(r"(?P<size>[0-9]{1,4}(?:\.[0-9]{1,2})?) ?GiB")
_PLATFORMS: Final = (
    (Platform.WSL2, re.compile(r"\bwsl", re.IGNORECASE)),
    (Platform.MIG, re.compile(r"\bmig\b", re.IGNORECASE)),
    (
        Platform.UNIFIED,
        re.compile(r"unified|\bgb10\b|dgx.spark|\bgh200\b|jetson|\borin\b|\bthor\b|strix.halo", re.IGNORECASE),
    ),
    (Platform.ROCM, re.compile(r"rocm|\bmi[23][0-9]{2}x?\b|radeon|\bgfx[0-9]|strix.halo", re.IGNORECASE)),
    (Platform.XPU, re.compile(r"\bxpu\b|intel arc|\barc pro\b", re.IGNORECASE)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """What could be made of it; nothing where nothing could."""

    devices: tuple[Device, ...] = ()
    platform: frozenset[Platform] = frozenset()


def read_hardware(written: str) -> Hardware:
    """As the catalogue names it, else by the words in it."""
    platform = frozenset(each for each, pattern in _PLATFORMS if pattern.search(written))
    try:
        return Hardware(devices=devices(written), platform=platform)
    except UnknownDevice:
        return Hardware(devices=_loosely(written), platform=platform)


def _loosely(written: str) -> tuple[Device, ...]:
    """A card of the catalogue, with the memory that is written beside it; or one of which only that is known."""
    found, size = _named(written), _SIZE.search(written)
    total = None if size is None else Bytes(round(float(size["size"]) * GIB))
    if not total:
        one = found
    elif found is not None:
        one = replace(found, total=total)
    else:
        one = Device(name=f"a device of {total}", total=total)
    count = _COUNT.search(written)
    many = 1 if count is None else int(count["before"] or count["after"])
    return () if one is None else (one,) * many


def _named(written: str) -> Device | None:
    """The card whose name stands in it; None where two do, or where its sizes are not told apart."""
    words = re.sub(r"[^a-z0-9]+", " ", written.lower())
    names = {key: key.replace("-", " ").removeprefix("rtx ") for key in CATALOGUE}
    found = [key for key, name in names.items() if re.search(rf"\b{name}\b", words)]
    longest = [key for key in found if not any(key != other and key in other for other in found)]
    return CATALOGUE[longest[0]] if len(longest) == 1 else None
