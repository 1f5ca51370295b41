"""Devices by name, with the memory that the driver reports, which is less than the box says.

Where several totals were seen for one device, the smallest stands here: a promise made on it holds on the others.
"""

import re
from typing import Final

from oomph.errors import UnknownDevice
from oomph.ledger.device import Capability, Device
from oomph.units import GIB, Bytes

_LEAST: Final = GIB  # below this it is a number from a name, not a size
_LONGEST: Final = 60  # characters of a device's name


def _device(key: str, name: str, reported: float, capability: tuple[int, int]) -> tuple[str, Device]:
    major, minor = capability
    total = Bytes(round(reported * GIB))
    return key, Device(name=name, total=total, capability=Capability(major=major, minor=minor))


# Totals: what CUDA reported in public start-up logs and issue threads, in GiB.
CATALOGUE: Final = dict(
    (
        _device("t4", "Tesla T4", 14.56, (7, 5)),
        _device("rtx-2080-ti-22gb", "NVIDIA GeForce RTX 2080 Ti", 21.67, (7, 5)),
        _device("a10", "NVIDIA A10", 22.09, (8, 6)),
        _device("a40", "NVIDIA A40", 44.35, (8, 6)),
        _device("rtx-a2000-12gb", "NVIDIA RTX A2000 12GB", 11.53, (8, 6)),
        _device("rtx-3090", "NVIDIA GeForce RTX 3090", 23.57, (8, 6)),
        _device("a100-40gb", "NVIDIA A100-SXM4-40GB", 39.38, (8, 0)),
        _device("a100-80gb", "NVIDIA A100-SXM4-80GB", 79.15, (8, 0)),
        _device("a800-80gb", "NVIDIA A800-SXM4-80GB", 79.33, (8, 0)),
        _device("l4", "NVIDIA L4", 22.05, (8, 9)),
        _device("rtx-4080", "NVIDIA GeForce RTX 4080", 15.99, (8, 9)),
        _device("rtx-4090", "NVIDIA GeForce RTX 4090", 23.63, (8, 9)),
        _device("l40s", "NVIDIA L40S", 44.39, (8, 9)),
        _device("h100-80gb", "NVIDIA H100 80GB HBM3", 79.18, (9, 0)),
        _device("h100-nvl", "NVIDIA H100 NVL", 93.0, (9, 0)),
        _device("h20-3e", "NVIDIA H20-3e", 139.72, (9, 0)),
        _device("h200", "NVIDIA H200", 139.81, (9, 0)),
        _device("b200", "NVIDIA B200", 178.35, (10, 0)),
        _device("rtx-5080", "NVIDIA GeForce RTX 5080", 15.47, (12, 0)),
        _device("rtx-5090", "NVIDIA GeForce RTX 5090", 31.35, (12, 0)),
        _device("rtx-5090-laptop", "NVIDIA GeForce RTX 5090 Laptop GPU", 22.36, (12, 0)),
        _device("rtx-pro-4500", "NVIDIA RTX PRO 4500 Blackwell Server Edition", 31.38, (12, 0)),
        _device("rtx-pro-6000", "NVIDIA RTX PRO 6000 Blackwell", 94.97, (12, 0)),
        _device("gb10", "NVIDIA GB10", 121.63, (12, 1)),
    )
)

# Without a space before it, the x must touch its number: "rtx 5090" is a name.
_WRITTEN: Final = re.compile(r"(?P<name>.+?)(?:(?:\s+[x×*]\s*|[x×*])(?P<count>[1-9][0-9]{0,2}))?")


def devices(written: str) -> tuple[Device, ...]:
    """The devices that are written so: `rtx-5090`, `a100-80gb x4`, or a size such as `24GiB`."""
    split = _WRITTEN.fullmatch(written.strip().lower()) if len(written) <= _LONGEST else None
    if split is None:
        message = f"not a device: {written[:_LONGEST]!r} (write rtx-5090, a100-80gb x4 or 24GiB)"
        raise UnknownDevice(message)
    return (_one(re.sub(r"[\s_]+", "-", split["name"].strip())),) * int(split["count"] or 1)


def _one(name: str) -> Device:
    if name in CATALOGUE:
        return CATALOGUE[name]
    if name[0].isdigit():
        return _unnamed(name)
    begun = [known for known in CATALOGUE if known.startswith(name)]
    from difflib import get_close_matches  # noqa: PLC0415 - only a slip needs it

    near = begun or get_close_matches(name, CATALOGUE, n=1, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(CATALOGUE)}"
    message = f"no device {name!r} in the catalogue: {hint} (or write its memory: 24GiB)"
    raise UnknownDevice(message)


def _unnamed(size: str) -> Device:
    try:
        total = Bytes.parse(size.replace("ib", "iB").translate(str.maketrans("kmgt", "KMGT")))
        if total < _LEAST:
            message = f"no GPU has {total}: write its memory as 24GiB, or its name, such as rtx-{size}"
            raise UnknownDevice(message)
        return Device(name=f"a device of {total}", total=total)
    except ValueError as wrong:
        raise UnknownDevice(str(wrong)) from None
