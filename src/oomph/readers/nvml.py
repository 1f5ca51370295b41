"""NVIDIA's cards through NVML, by its own client `nvidia-ml-py`.

Knows which questions to ask, and why NVML may not start at all. Opens no CUDA context, and asks nothing that only root
may ask. Does not know what the answers mean.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Final

from oomph.ledger.probe import Gpu, Slice
from oomph.readers.cards import Cards, sane
from oomph.readers.nvml_card import Asked, named, said
from oomph.units import Bytes

_MOST: Final = 64  # cards, and slices of one; the largest machines have 16 and 7
_NOT_STARTED: Final = {
    "NVML_ERROR_LIBRARY_NOT_FOUND": "no libnvidia-ml.so.1 here: no driver is installed, or none is passed into this "
    "container (docker run --gpus all)",
    "NVML_ERROR_DRIVER_NOT_LOADED": "the driver is installed but not loaded",
    "NVML_ERROR_NO_PERMISSION": "this user may not open the driver's devices (/dev/nvidiactl)",
    "NVML_ERROR_LIB_RM_VERSION_MISMATCH": "the driver was updated under a running kernel module: restart the machine, "
    "or load the module again",
    "NVML_ERROR_UNKNOWN": "the driver does not answer; in a container that ran for long, its devices were taken away "
    "(start the container again)",
}
_VIRTUAL: Final = {1: "passthrough", 2: "vgpu", 3: "vgpu-host", 4: "vsga-host"}
_ATS: Final = 2  # NVML_DEVICE_ADDRESSING_MODE_ATS: the host addresses the card's memory as its own
_EXCLUSIVE: Final = 3  # NVML_COMPUTEMODE_EXCLUSIVE_PROCESS
_PROFILE: Final = re.compile(r"\bMIG\s+(?P<profile>\S+)")


def read_nvidia() -> Cards:
    """All cards that NVML shows; none and a note where there is no NVML to ask."""
    with started() as nvml:
        return Cards(notes=(f"NVIDIA: {nvml}",)) if isinstance(nvml, str) else _cards(nvml)


@contextmanager
def started() -> Iterator[ModuleType | str]:
    """NVML's client while it runs, or why it does not."""
    try:
        import pynvml  # type: ignore[import-untyped]  # noqa: PLC0415 - brings no types, and only a probe needs it
    except ImportError:
        yield "the Python package nvidia-ml-py is not installed"
        return
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as met:
        yield _not_started(pynvml, met)
        return
    try:
        yield pynvml
    finally:
        with suppress(pynvml.NVMLError):  # it is gone already, which is all that was wanted
            pynvml.nvmlShutdown()


def free_memory(nvml: ModuleType | str, *uuids: str) -> Bytes | None:
    """What it calls free at this moment on the card, or slice, that has one of these names."""
    if isinstance(nvml, str):
        return None
    for uuid in uuids:
        with suppress(nvml.NVMLError):
            return sane(nvml.nvmlDeviceGetMemoryInfo(nvml.nvmlDeviceGetHandleByUUID(uuid)).free)
    return None


def _not_started(nvml: ModuleType, met: Exception) -> str:
    code = getattr(met, "value", None)
    hint = next((hint for name, hint in _NOT_STARTED.items() if code == getattr(nvml, name, None)), None)
    return hint or f"NVML does not start: {said(met)}"


def _cards(nvml: ModuleType) -> Cards:
    notes: list[str] = []
    system = Asked(nvml=nvml, handle=None, notes=notes, where="NVIDIA")
    count = system.ask("nvmlDeviceGetCount", "the number of cards") or 0
    version = system.ask("nvmlSystemGetCudaDriverVersion_v2", "the version of CUDA")
    return Cards(
        gpus=tuple(_gpu(nvml, index, notes) for index in range(min(count, _MOST))),
        driver=named(system.ask("nvmlSystemGetDriverVersion", "the version of the driver")),
        cuda=None if version is None else f"{version // 1000}.{version % 1000 // 10}",
        notes=tuple(notes),
    )


def _gpu(nvml: ModuleType, index: int, notes: list[str]) -> Gpu:
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
    except nvml.NVMLError as met:
        notes.append(f"GPU {index}: {said(met)}")
        return Gpu(index=index, error=said(met), listed=False)
    card = Asked(nvml=nvml, handle=handle, notes=notes, where=f"GPU {index}")
    name, uuid, bus = card.name(), card.uuid(), card.bus()
    total, free, used, reserved = card.memory()
    mig = card.first("nvmlDeviceGetMigMode", "MIG") == 1
    processes = card.processes()
    return Gpu(
        index=index,
        uuid=uuid,
        bus=bus,
        name=name,
        total=total,
        free=free,
        used=used,
        reserved=reserved,
        capability=card.capability(),
        processes=processes or (),
        slices=tuple(_slices(card)) if mig else (),
        mig=mig,
        display=_display(card),
        ecc=card.truth("nvmlDeviceGetEccMode", "ECC"),
        virtual=_VIRTUAL.get(card.ask("nvmlDeviceGetVirtualizationMode", "virtualization")),
        exclusive=card.same("nvmlDeviceGetComputeMode", "the compute mode", _EXCLUSIVE),
        coherent=bool(card.same("nvmlDeviceGetAddressingMode", "the addressing mode", _ATS)),
        listed=processes is not None and card.error is None,
        error=card.error,
    )


def _display(card: Asked) -> bool | None:
    """Whether one is drawn on; a driver that cannot say this may say whether one is plugged in."""
    drawn = card.truth("nvmlDeviceGetDisplayActive", "the display")
    return card.truth("nvmlDeviceGetDisplayMode", "the display") if drawn is None else drawn


def _slices(card: Asked) -> Iterator[Slice]:
    """The MIG instances of a card that this process may see; their numbers may have holes."""
    for number in range(min(card.ask("nvmlDeviceGetMaxMigDeviceCount", "MIG") or 0, _MOST)):
        handle = card.ask("nvmlDeviceGetMigDeviceHandleByIndex", f"slice {number}", number)
        if handle is None:
            continue
        part = Asked(nvml=card.nvml, handle=handle, notes=card.notes, where=f"{card.where} slice {number}")
        total, free, used, reserved = part.memory()
        name = part.name()
        profile = None if name is None else _PROFILE.search(name)
        yield Slice(
            uuid=part.uuid(),
            name=name if profile is None else profile["profile"],
            total=total,
            free=free,
            used=used,
            reserved=reserved,
            processes=part.processes() or (),
        )
