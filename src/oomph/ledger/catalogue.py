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
_MAKERS: Final = re.compile(r"^(?:(?:nvidia|amd|geforce|tesla|radeon|instinct)[-\s]+)+")
_LETTERS: Final = re.compile(r"[^a-z0-9]+")


def _device(
    key: str, name: str, reported: float, capability: tuple[int, int] | None, bandwidth: int | None
) -> tuple[str, Device]:
    return key, Device(
        name=name,
        total=Bytes(round(reported * GIB)),
        capability=None if capability is None else Capability(major=capability[0], minor=capability[1]),
        bandwidth=None if bandwidth is None else Bytes(bandwidth * 10**9),
    )


# Totals: what CUDA reported in public start-up logs and issue threads, in GiB; a line that names its source is one of
# which few speak. Bandwidth: of the maker's data sheet, in GB/s; where a name has several, the
# highest: it bounds how fast a step can be.
CATALOGUE: Final = dict(
    (
        _device("t4", "Tesla T4", 14.56, (7, 5), 320),
        _device("v100-32gb", "Tesla V100-SXM2-32GB", 31.74, (7, 0), 900),  # liucongg/ChatGLM-Finetuning#73
        _device("rtx-2080-ti-22gb", "NVIDIA GeForce RTX 2080 Ti", 21.67, (7, 5), 616),
        _device("a10", "NVIDIA A10", 22.09, (8, 6), 600),
        _device("a10g", "NVIDIA A10G", 21.99, (8, 6), 600),  # vllm-project/vllm#8073
        _device("a40", "NVIDIA A40", 44.35, (8, 6), 696),
        _device("rtx-a2000-12gb", "NVIDIA RTX A2000 12GB", 11.53, (8, 6), 288),
        _device("rtx-a5000", "NVIDIA RTX A5000", 23.56, (8, 6), 768),  # LMCache/LMCache#3430
        _device("rtx-a6000", "NVIDIA RTX A6000", 47.53, (8, 6), 768),  # allenai/open-instruct#163
        _device("rtx-3060", "NVIDIA GeForce RTX 3060", 11.63, (8, 6), 360),  # vllm-project/vllm#27934
        _device("rtx-3090", "NVIDIA GeForce RTX 3090", 23.57, (8, 6), 936),
        _device("a100-40gb", "NVIDIA A100-SXM4-40GB", 39.38, (8, 0), 1555),
        _device("a100-80gb", "NVIDIA A100-SXM4-80GB", 79.15, (8, 0), 2039),
        _device("a800-80gb", "NVIDIA A800-SXM4-80GB", 79.33, (8, 0), 2039),
        _device("l4", "NVIDIA L4", 22.05, (8, 9), 300),
        _device("rtx-4080", "NVIDIA GeForce RTX 4080", 15.99, (8, 9), 716),
        _device("rtx-4090", "NVIDIA GeForce RTX 4090", 23.63, (8, 9), 1008),
        _device("l40s", "NVIDIA L40S", 44.39, (8, 9), 864),
        _device("h100-80gb", "NVIDIA H100 80GB HBM3", 79.18, (9, 0), 3350),
        _device("h100-nvl", "NVIDIA H100 NVL", 93.0, (9, 0), 3900),
        _device("h20-3e", "NVIDIA H20-3e", 139.72, (9, 0), 4800),
        _device("h200", "NVIDIA H200", 139.81, (9, 0), 4800),
        _device("b200", "NVIDIA B200", 178.35, (10, 0), 8000),
        _device("gb200", "NVIDIA GB200", 184.0, (10, 0), 8000),  # NVIDIA/srt-slurm#172
        # As the RTX 5080: both have 16303 MiB for nvidia-smi (vllm-project/vllm#34076).
        _device("rtx-5070-ti", "NVIDIA GeForce RTX 5070 Ti", 15.47, (12, 0), 896),
        _device("rtx-5080", "NVIDIA GeForce RTX 5080", 15.47, (12, 0), 960),
        _device("rtx-5090", "NVIDIA GeForce RTX 5090", 31.35, (12, 0), 1792),
        # As the RTX 5090: both have 32607 MiB for nvidia-smi (vllm-project/vllm#34076).
        _device("rtx-5090-d", "NVIDIA GeForce RTX 5090 D", 31.35, (12, 0), 1792),
        _device("rtx-5090-laptop", "NVIDIA GeForce RTX 5090 Laptop GPU", 22.36, (12, 0), 896),
        _device("rtx-pro-4500", "NVIDIA RTX PRO 4500 Blackwell Server Edition", 31.38, (12, 0), None),
        _device("rtx-pro-6000", "NVIDIA RTX PRO 6000 Blackwell", 94.97, (12, 0), 1792),
        _device("gb10", "NVIDIA GB10", 121.63, (12, 1), 273),
        _device("mi300x", "AMD Instinct MI300X", 191.98, None, 5300),  # vllm-project/vllm#53961
        _device("rx-9070-xt", "AMD Radeon RX 9070 XT", 15.92, None, 640),  # apollo-mg/Project-Apollo
        _device("strix-halo", "AMD Strix Halo", 127.0, None, 256),  # lemonade-sdk/vllm-rocm#5
    )
)

# Without a space before it, the x must touch its number: "rtx 5090" is a name. So is "rtx5090".
_WRITTEN: Final = re.compile(r"(?P<name>.+?)(?:(?:\s+[x×*]\s*|(?<!rt)(?<!gt)(?<!\br)[x×*])(?P<count>[0-9]{1,9}))?")
_MOST: Final = 999  # of one kind


def devices(written: str) -> tuple[Device, ...]:
    """What is written so, in the order of ranks: `rtx-5090`, `a100-80gb x4`, `24GiB`, or `rtx-3090 x2 + rtx-4090`."""
    return tuple(device for alike in re.split("[,+]", written) for device in _alike(alike))


def _alike(written: str) -> tuple[Device, ...]:
    """One kind of them."""
    split = _WRITTEN.fullmatch(written.strip().lower()) if len(written) <= _LONGEST else None
    if split is None:
        message = f"not a device: {written.strip()[:_LONGEST]!r} (write rtx-5090, a100-80gb x4 or 24GiB)"
        raise UnknownDevice(message)
    name, count = split["name"].strip(), int(split["count"] or 1)
    if not 1 <= count <= _MOST:
        message = f"{count} GPUs: write a count from 1 to {_MOST}, such as {name} x2"
        raise UnknownDevice(message)
    return (_one(re.sub(r"[\s_]+", "-", name)),) * count


def _one(name: str) -> Device:
    if name in CATALOGUE:
        return CATALOGUE[name]
    if (key := _called(name)) is not None:
        return CATALOGUE[key]
    if name[0].isdigit():
        return _unnamed(name)
    begun = [known for known in CATALOGUE if known.startswith(name)]
    from difflib import get_close_matches  # noqa: PLC0415 - only a slip needs it

    near = begun or get_close_matches(name, CATALOGUE, n=1, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(CATALOGUE)}"
    message = f"no device {name!r} in the catalogue: {hint} (or write its memory: 24GiB)"
    raise UnknownDevice(message)


def _called(name: str) -> str | None:
    """The key of a name as people or drivers write it: `4090`, `RTX4090`, `NVIDIA GeForce RTX 4090`."""
    short = _MAKERS.sub("", name)
    wanted = _LETTERS.sub("", short)
    for key, device in CATALOGUE.items():
        if wanted in {_LETTERS.sub("", key), _LETTERS.sub("", key.removeprefix("rtx-"))}:
            return key
        if wanted == _LETTERS.sub("", _MAKERS.sub("", device.name.lower())):
            return key
    return None


def _unnamed(size: str) -> Device:
    try:
        total = Bytes.parse(size.replace("ib", "iB").translate(str.maketrans("kmgt", "KMGT")))
        if total < _LEAST:
            near = [known for known in CATALOGUE if size in known.split("-")]
            hint = f", or its name, such as {near[0]}" if near else ""
            message = f"no GPU has {total}: write its memory as 24GiB{hint}"
            raise UnknownDevice(message)
        return Device(name=f"a device of {total}", total=total)
    except ValueError as wrong:
        raise UnknownDevice(str(wrong)) from None
