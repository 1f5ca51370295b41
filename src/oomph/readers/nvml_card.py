"""One card while NVML is asked about it: every question may fail on its own.

Knows which failures mean nothing (no such thing on this card, or in this driver), which mean that the card is gone, and
that a client or driver may be older than the question. What is worth knowing of a failure becomes a note.
"""

import re
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from oomph.ledger.device import Capability
from oomph.ledger.probe import Process
from oomph.readers.cards import sane
from oomph.readers.printable import printable
from oomph.units import Bytes

_MOST: Final = 1024  # processes of one card
_WITHOUT_MEANING: Final = (  # says only that the card or driver has no such thing
    "NVML_ERROR_NOT_SUPPORTED",
    "NVML_ERROR_NOT_FOUND",
    "NVML_ERROR_FUNCTION_NOT_FOUND",
    "NVML_ERROR_INVALID_ARGUMENT",
    "NVML_ERROR_ARGUMENT_VERSION_MISMATCH",
)
_GONE: Final = (  # after one of these the card answers nothing more
    "NVML_ERROR_GPU_IS_LOST",
    "NVML_ERROR_RESET_REQUIRED",
    "NVML_ERROR_UNINITIALIZED",
    "NVML_ERROR_DRIVER_NOT_LOADED",
)
_BUS: Final = re.compile(r"[0-9a-fA-F]{0,4}(?P<bus>[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F])")


@dataclass(slots=True)
class Asked:
    """One card, or the system, while it is asked; once it is lost it is asked nothing more."""

    nvml: ModuleType
    handle: object  # None for the system
    notes: list[str]
    where: str
    error: str | None = None  # why it is asked nothing more
    failure: str | None = None  # the last one that meant something

    def ask(self, question: str, about: str, *words: object) -> Any:  # noqa: ANN401 - the library brings no types
        """The answer; None where there is none, with a note where that is a surprise."""
        function = getattr(self.nvml, question, None)
        if function is None or self.error is not None:
            return None
        try:
            return function(*(() if self.handle is None else (self.handle,)), *words)
        except self.nvml.NVMLError as met:
            self._hear(about, met)
        except UnicodeDecodeError as met:
            self.notes.append(f"{self.where}: {about}: {said(met)}")
        return None

    def _hear(self, about: str, met: Exception) -> None:
        code = getattr(met, "value", None)
        if self._is(code, _WITHOUT_MEANING):
            return
        self.failure = said(met)
        if self.handle is not None and self._is(code, _GONE):
            self.error = self.failure
        note = f"{self.where}: {about}: {said(met)}"
        if note not in self.notes:
            self.notes.append(note)

    def _is(self, code: object, names: tuple[str, ...]) -> bool:
        return any(code == getattr(self.nvml, name, None) for name in names)

    def name(self) -> str | None:
        """As the driver calls it."""
        return named(self.ask("nvmlDeviceGetName", "its name"))

    def uuid(self) -> str | None:
        """Which stays the same wherever it is plugged in."""
        return named(self.ask("nvmlDeviceGetUUID", "its UUID"))

    def bus(self) -> str | None:
        """Where it is plugged in, as the kernel writes it."""
        place = named(getattr(self.ask("nvmlDeviceGetPciInfo", "its place"), "busId", None))
        found = None if place is None else _BUS.fullmatch(place)
        return None if found is None else found["bus"].lower()

    def capability(self) -> Capability | None:
        """Its compute capability."""
        numbers = self.ask("nvmlDeviceGetCudaComputeCapability", "its capability")
        return None if numbers is None else Capability(major=numbers[0], minor=numbers[1])

    def memory(self) -> tuple[Bytes | None, Bytes | None, Bytes | None, Bytes | None]:
        """Total, free, used, reserved; an old driver counts what is reserved as used."""
        self.failure, newest = None, getattr(self.nvml, "nvmlMemory_v2", None)
        answer = newest and self.ask("nvmlDeviceGetMemoryInfo", "memory", newest)
        reserved = None if answer is None else sane(answer.reserved)
        if answer is None:
            answer = self.ask("nvmlDeviceGetMemoryInfo", "memory")
        if answer is None:
            self.error = self.failure  # a card whose memory cannot be read is not asked who is on it
        if answer is None or not answer.total:  # no memory of its own, or none that it tells
            return None, None, None, None
        sizes = sane(answer.total), sane(answer.free), sane(answer.used), reserved
        if None in sizes[:3]:
            self.notes.append(f"{self.where}: memory: the driver gives sizes that no card has")
        return sizes

    def processes(self) -> tuple[Process, ...] | None:
        """Who computes there, then who only draws; None where it would not say."""
        computing = self._listed("Compute")
        if computing is None:
            return None
        clients, drawing = self._listed("MPSCompute") or [], self._listed("Graphics") or []
        found = {each.pid: _process(each, graphics=True) for each in drawing}
        found |= {each.pid: _process(each, graphics=False) for each in (*clients, *computing)}
        return tuple(found[pid] for pid in sorted(found)[:_MOST])

    def _listed(self, kind: str) -> list[Any] | None:
        """By the newest call that this driver knows."""
        self.failure = None
        for version in ("_v3", "_v2"):
            answer: list[Any] | None = self.ask(f"nvmlDeviceGet{kind}RunningProcesses{version}", "its processes")
            if answer is not None or self.failure is not None:
                return answer
        return None

    def first(self, question: str, about: str) -> object:
        """Of a pair of now and after the next start, what is now."""
        pair = self.ask(question, about)
        return pair[0] if isinstance(pair, list | tuple) and pair else pair

    def truth(self, question: str, about: str) -> bool | None:
        """Of a question that is answered by off and on."""
        answer = self.first(question, about)
        return None if answer is None else bool(answer)

    def same(self, question: str, about: str, wanted: int) -> bool | None:
        """Whether the answer is this one of several."""
        answer = self.ask(question, about)
        return None if answer is None else answer == wanted


def _process(each: Any, *, graphics: bool) -> Process:  # noqa: ANN401 - the library brings no types
    return Process(pid=each.pid, holds=sane(each.usedGpuMemory), graphics=graphics)


def named(answer: object) -> str | None:
    """Bytes from an old client, text from a new one."""
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    return printable(text) or None if isinstance(text, str) else None


def said(met: Exception) -> str:
    """A failure in the library's own words."""
    return printable(str(met)) or type(met).__name__
