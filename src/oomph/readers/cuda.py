"""The CUDA driver itself, asked inside a context: `python -m oomph.readers.cuda` prints what it said, as JSON.

Knows the driver's own functions. A context takes memory of the card, and a card that is hung or broken may hang or
break whoever opens one: so this runs as a process of its own, which `readers.context` starts, awaits and may give up.
Sees the cards that `CUDA_VISIBLE_DEVICES` and what is preloaded let it see, as an engine would.
"""

import ctypes
import json
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Final

from oomph.readers.nvml import free_memory, started

_LIBRARY: Final = "libcuda.so.1"
_INTEGRATED: Final = 18  # CU_DEVICE_ATTRIBUTE_INTEGRATED
_VIRTUAL_MEMORY: Final = 102  # CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
_CAPABILITY: Final = (75, 76)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
_MOST: Final = 64  # cards


class _Refused(Exception):  # noqa: N818 - reads as what happened
    """The driver said no, in its own words."""


@dataclass(frozen=True, slots=True)
class _Driver:
    library: ctypes.CDLL

    def call(self, function: str, *words: object) -> None:
        """One call; what it returns is success or a refusal."""
        code = getattr(self.library, function)(*words)
        if code:
            message = f"{function}: {self._name(code)}"
            raise _Refused(message)

    def _name(self, code: int) -> str:
        said = ctypes.c_char_p()
        known = self.library.cuGetErrorName(code, ctypes.byref(said)) == 0 and said.value
        return known.decode(errors="replace") if known else f"error {code}"

    def number(self, function: str, kind: type[ctypes.c_int | ctypes.c_size_t], *words: object) -> int:
        """The answer to a question about one number."""
        answer = kind()
        self.call(function, ctypes.byref(answer), *words)
        return int(answer.value)


def asked() -> dict[str, object]:
    """Every card that CUDA shows, and why there is none or one says nothing."""
    try:
        driver = _Driver(ctypes.CDLL(_LIBRARY))
        driver.call("cuInit", 0)
        count = driver.number("cuDeviceGetCount", ctypes.c_int)
    except (OSError, AttributeError) as met:
        return {"error": f"no {_LIBRARY} that can be used: {met}", "cards": []}
    except _Refused as met:
        return {"error": str(met), "cards": []}
    with started() as nvml:
        return {"error": None, "cards": [_card(driver, index, nvml) for index in range(min(count, _MOST))]}


def _card(driver: _Driver, index: int, nvml: ModuleType | str) -> dict[str, object]:
    begun = time.perf_counter()
    card: dict[str, object] = {"index": index}
    try:
        device = driver.number("cuDeviceGet", ctypes.c_int, index)
        card |= _told(driver, device)
        names = [f"{kind}-{card['uuid']}" for kind in ("GPU", "MIG")]
        card |= _inside(driver, device, lambda: free_memory(nvml, *names))
    except (_Refused, AttributeError) as met:  # an attribute that is missing is a function of a newer driver
        card["error"] = str(met)
    return card | {"seconds": round(time.perf_counter() - begun, 3)}


def _told(driver: _Driver, device: int) -> dict[str, object]:
    """What needs no context."""
    name, raw = ctypes.create_string_buffer(256), ctypes.create_string_buffer(16)
    driver.call("cuDeviceGetName", name, len(name), device)
    driver.call("cuDeviceGetUuid_v2", raw, device)
    integrated, virtual_memory, major, minor = (
        driver.number("cuDeviceGetAttribute", ctypes.c_int, attribute, device)
        for attribute in (_INTEGRATED, _VIRTUAL_MEMORY, *_CAPABILITY)
    )
    return {
        "name": name.value.decode(errors="replace"),
        "uuid": str(uuid.UUID(bytes=raw.raw)),
        "capability": f"{major}.{minor}",
        "integrated": bool(integrated),
        "virtual_memory": bool(virtual_memory),
        "device_total": driver.number("cuDeviceTotalMem_v2", ctypes.c_size_t, device),
    }


def _inside(driver: _Driver, device: int, free_outside: Callable[[], int | None]) -> dict[str, object]:
    """What is free and there in all, with our context open; and what that took."""
    context = ctypes.c_void_p()
    before = free_outside()
    driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    try:
        driver.call("cuCtxPushCurrent_v2", context)
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        driver.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        after = free_outside()
        driver.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
    finally:
        driver.library.cuDevicePrimaryCtxRelease_v2(device)
    cost = None if before is None or after is None else max(before - after, 0)
    return {"free": free.value, "total": total.value, "cost": cost}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asked()) + "\n")
