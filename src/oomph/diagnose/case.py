"""All that is known of one engine that failed, or is asked about: what rules look at.

Knows nouns and how to look something up in them. Does not read logs (`readers`), does not know any engine's sentences
(`engines`), and draws no conclusions (`rules`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from oomph.diagnose.finding import Said
from oomph.engines.history import Release
from oomph.engines.vllm.levers.startup import Startup
from oomph.ledger.device import Device
from oomph.ledger.forecast import Forecast
from oomph.ledger.observation import Observation, Quantity
from oomph.ledger.settings import Flags
from oomph.units import Bounds


class Phase(StrEnum):
    """What the engine was doing when it failed."""

    LOAD = "load"  # up to and with the weights, and the check before them
    PROFILE = "profile"
    GRAPH_PROFILE = "graph-profile"
    KV_ALLOC = "kv-alloc"  # sizing and allocating the pool
    GRAPH_CAPTURE = "graph-capture"
    WARM_UP = "warm-up"
    SERVING_PREFILL = "serving-prefill"
    SERVING_DECODE = "serving-decode"
    IDLE_GROWTH = "idle-growth"  # more and more over time, or across sleep
    HOST = "host"  # memory of the host, not of the device


class Platform(StrEnum):
    """What changes the meaning of a message."""

    WSL2 = "wsl2"
    MIG = "mig"
    UNIFIED = "unified"  # device and host share their memory
    ROCM = "rocm"
    XPU = "xpu"
    CPU = "cpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One line of a traceback."""

    file: str  # as much of the path as tells it: v1/worker/gpu_worker.py
    function: str
    line: int  # of the log

    @property
    def place(self) -> str:
        """Both in one."""
        return f"{self.file}:{self.function}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A process that a message names as holding memory."""

    pid: int | None
    holds: Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The first error of one rank."""

    kind: str  # the exception: torch.OutOfMemoryError, ValueError; or what stands for one: Killed
    said: Said
    frames: tuple[Frame, ...] = ()  # the outermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is known; None and empty where nothing is."""

    engine: str | None = None  # vLLM, SGLang, llama.cpp
    release: Release | None = None
    flags: Flags = field(default_factory=Flags)
    model: str | None = None
    devices: tuple[Device, ...] = ()
    platform: frozenset[Platform] = frozenset()
    observation: Observation | None = None  # every figure that the engine printed
    log: tuple[Said, ...] = ()  # lines that may matter, in the order of time; not all of them
    failures: tuple[Failure, ...] = ()  # the first error of each rank, the earliest first
    phase: Phase | None = None
    phase_assumed: bool = False  # nothing shows the phase: it is only where such a failure is most often met
    served: bool = False  # it had answered requests, or said that it was up
    tenants: tuple[Tenant, ...] = ()  # other processes that the failure names
    notes: tuple[str, ...] = ()  # what was inferred, or left aside, while the log was heard
    startup: Startup | None = None  # where model, release and device are known: what remedies are passed through
    forecast: Forecast | None = None  # of that

    @property
    def failure(self) -> Failure | None:
        """The earliest: what came first is the cause, the rest follows."""
        return self.failures[0] if self.failures else None

    def size(self, quantity: Quantity) -> Bounds | None:
        """A size that was printed; of several ranks, the first that speaks of it."""
        found = None if self.observation is None else self.observation.reading(quantity)
        return found.value if found is not None and isinstance(found.value, Bounds) else None

    def number(self, quantity: Quantity) -> float | None:
        """A count or a share that was printed."""
        found = None if self.observation is None else self.observation.reading(quantity)
        return found.value if found is not None and isinstance(found.value, int | float) else None

    def spoken(self, name: str) -> Said | None:
        """The first time that the engine said the sentence of this name (engines/vllm/lines.py)."""
        for line in () if self.observation is None else self.observation.lines:
            if line.name == name:
                return Said(line=line.line, text=line.text, rank=line.rank)
        return None

    def lines(self, pattern: re.Pattern[str]) -> Iterator[tuple[Said, re.Match[str]]]:
        """Lines that hold this, with what was found in them."""
        for said in self.log:
            if (found := pattern.search(said.text)) is not None:
                yield said, found

    def line(self, pattern: re.Pattern[str]) -> Said | None:
        """The first such line."""
        return next((said for said, _ in self.lines(pattern)), None)

    def frame(self, *names: str) -> Frame | None:
        """The innermost frame of the earliest failure whose function or file holds one of these."""
        frames = () if self.failure is None else self.failure.frames
        return next(
            (each for each in reversed(frames) if any(n in each.function or n in each.file for n in names)), None
        )
