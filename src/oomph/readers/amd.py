"""AMD's cards through its own client `amdsmi` where that can be imported, else through what the kernel tells of them.

Knows that the client comes with ROCm and not with us, that importing it may fail in many ways and prints, and which
cards are processors that share the host's memory. Asks nothing where the kernel has no AMD driver.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from oomph.ledger.probe import Gpu, Maker, Process
from oomph.readers.bounded import read_small
from oomph.readers.cards import Cards, sane
from oomph.readers.printable import printable
from oomph.units import Bytes

_MOST: Final = 64  # cards
_SHARING: Final = frozenset({"gfx90c", "gfx1035", "gfx1036", "gfx1103", "gfx1150", "gfx1151", "gfx1152"})
_AMD: Final = "0x1002"  # its number as a maker of PCI devices


def read_amd(root: Path) -> Cards:
    """All cards of AMD; none, and no note, on a machine without."""
    if not any((root / sign).exists() for sign in ("sys/module/amdgpu", "dev/kfd")):
        return Cards()
    with _started() as smi:
        if not isinstance(smi, str):
            return _cards(smi)
        gpus = tuple(_from_kernel(root))
        return Cards(gpus=gpus, notes=(f"AMD: {smi}; who is on its cards is not known",) if gpus else ())


@contextmanager
def _started() -> Iterator[ModuleType | str]:
    """The client while it runs, or why it does not."""
    try:
        with redirect_stdout(StringIO()):
            import amdsmi  # type: ignore[import-not-found]  # noqa: PLC0415 - comes with ROCm, not with us
    except (ImportError, OSError, KeyError, AttributeError):
        yield "amdsmi cannot be imported"
        return
    try:
        amdsmi.amdsmi_init()
    except amdsmi.AmdSmiException as met:
        yield f"amdsmi does not start: {printable(str(met))}"
        return
    try:
        yield amdsmi
    finally:
        with suppress(amdsmi.AmdSmiException):
            amdsmi.amdsmi_shut_down()


def _cards(smi: ModuleType) -> Cards:
    notes: list[str] = []
    handles = _ask(smi, notes, "AMD: its cards", smi.amdsmi_get_processor_handles) or []
    gpus = tuple(_gpu(smi, notes, index, handle) for index, handle in enumerate(handles[:_MOST]))
    return Cards(gpus=gpus, notes=tuple(notes))


def _gpu(smi: ModuleType, notes: list[str], index: int, handle: object) -> Gpu:
    def ask(about: str, function: str, *words: object) -> Any:  # noqa: ANN401 - the library brings no types
        return _ask(smi, notes, f"AMD GPU {index}: {about}", getattr(smi, function), handle, *words)

    made = ask("its name", "amdsmi_get_gpu_asic_info") or {}
    total = sane(ask("memory", "amdsmi_get_gpu_memory_total", smi.AmdSmiMemoryType.VRAM))
    used = sane(ask("memory", "amdsmi_get_gpu_memory_usage", smi.AmdSmiMemoryType.VRAM))
    listed = ask("its processes", "amdsmi_get_gpu_process_list")
    bus, uuid = ask("its place", "amdsmi_get_gpu_device_bdf"), ask("its UUID", "amdsmi_get_gpu_device_uuid")
    return Gpu(
        index=index,
        uuid=printable(uuid) if uuid else None,
        bus=printable(bus).lower() if bus else None,
        name=printable(made.get("market_name", "")) or None,
        maker=Maker.AMD,
        total=total,
        free=_free(total, used),
        used=used,
        processes=tuple(_process(each) for each in listed or () if isinstance(each, dict)),
        listed=listed is not None,
        unified=made.get("target_graphics_version") in _SHARING,
        error=None if total is not None else "its memory cannot be read",
    )


def _ask(
    smi: ModuleType,
    notes: list[str],
    about: str,
    function: Callable[..., Any],
    *words: object,
) -> Any:  # noqa: ANN401 - the library brings no types
    try:
        return function(*words)
    except (smi.AmdSmiException, UnicodeDecodeError) as met:
        notes.append(f"{about}: {printable(str(met))}")
        return None


def _process(each: dict[str, Any]) -> Process:
    return Process(
        pid=each["pid"],
        name=printable(str(each.get("name", ""))) or None,
        holds=sane(each.get("memory_usage", {}).get("vram_mem")),
    )


def _free(total: Bytes | None, used: Bytes | None) -> Bytes | None:
    return None if total is None or used is None else Bytes(max(total - used, 0))


def _from_kernel(root: Path) -> Iterator[Gpu]:
    """What the driver shows below /sys, which every user may read."""
    found = 0
    for number in range(_MOST):
        folder = root / f"sys/class/drm/card{number}/device"
        if (read_small(folder / "vendor", 64) or "").strip() != _AMD:
            continue
        total, used = (_size(folder / f"mem_info_vram_{part}") for part in ("total", "used"))
        yield Gpu(
            index=found,
            name=printable(read_small(folder / "product_name", 256) or "") or None,
            maker=Maker.AMD,
            total=total,
            free=_free(total, used),
            used=used,
            listed=False,
        )
        found += 1


def _size(path: Path) -> Bytes | None:
    text = (read_small(path, 64) or "").strip()
    return sane(int(text)) if text.isascii() and text.isdecimal() else None
