"""What was found on a machine: its GPUs, who is on them, its host, and the variables that change either.

Knows nothing of what it means: the judgement is `diagnose`'s. Whatever could not be read is None, never 0, and the
reason stands in the notes. Asks nobody: `readers` do that, or a file that they filled elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from oomph.ledger.device import Capability
from oomph.units import Bytes


class Maker(StrEnum):
    """Whose card it is, which says whose library was asked."""

    NVIDIA = "nvidia"
    AMD = "amd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ancestor:
    """One of those from whom a process descends."""

    pid: int
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process that has memory on a card, as the driver names it and `/proc` describes it."""

    pid: int
    name: str | None = None  # as the process calls itself: `VLLM::EngineCore`
    command: str | None = None  # its command line, cut, without what looks like a secret
    holds: Bytes | None = None  # None where the driver does not say, as under WSL2 and in containers
    parent: int | None = None  # 1, or a reaper, where the one that started it is gone
    parent_name: str | None = None  # tells a container's own first process from one that only adopts
    ancestors: tuple[Ancestor, ...] = ()  # its parent first, up to the first process
    own_namespace: bool | None = None  # whether its number means a process here; False: it is outside this container
    graphics: bool = False  # it draws, and does not compute


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the CUDA driver itself said inside a context, which is what the engine believes."""

    free: Bytes  # cuMemGetInfo, with our own context already open
    total: Bytes
    device_total: Bytes | None = None  # cuDeviceTotalMem: what PyTorch calls the card's memory
    cost: Bytes | None = None  # what the context took of the card while it was open
    seconds: float | None = None  # that asking took
    ordinal: int | None = None  # as CUDA counts the cards that it shows to this process
    integrated: bool | None = None  # the card has no memory of its own
    virtual_memory: bool | None = None  # the driver can map memory piece by piece: expandable segments, sleep mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A MIG instance: a part of a card with memory of its own."""

    uuid: str | None = None
    name: str | None = None  # the profile: `1g.10gb`
    total: Bytes | None = None
    free: Bytes | None = None
    used: Bytes | None = None
    reserved: Bytes | None = None
    processes: tuple[Process, ...] = ()
    seen: Seen | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One card. `total` is all of it; `free`, `used` and `reserved` add up to it where all three are known."""

    index: int  # as its library counts, which is by the bus and not as CUDA counts by default
    uuid: str | None = None
    bus: str | None = None  # where it is plugged in: `0000:65:00.0`
    name: str | None = None
    maker: Maker = Maker.NVIDIA
    total: Bytes | None = None
    free: Bytes | None = None
    used: Bytes | None = None
    reserved: Bytes | None = None  # by driver and firmware; None from a driver too old to tell it from `used`
    limit: Bytes | None = None  # of device memory, set for our control group; None where there is none
    capability: Capability | None = None
    processes: tuple[Process, ...] = ()
    listed: bool = True  # the driver would say who is on it; False: `processes` is empty because it would not
    slices: tuple[Slice, ...] = ()
    mig: bool = False  # cut into slices: the card as a whole cannot be computed on
    display: bool | None = None  # a desktop is drawn by it
    ecc: bool | None = None
    virtual: str | None = None  # `vgpu` or `passthrough`, inside a virtual machine
    exclusive: bool | None = None  # only one process at a time may open it
    unified: bool = False  # its memory is the host's: page cache and everything else is in it
    coherent: bool = False  # the host may use its memory as its own (GH200): page cache may be in it
    seen: Seen | None = None
    error: str | None = None  # why nothing more is known of it: `GPU is lost`


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The machine around the cards, as far as this process may see it."""

    total: Bytes | None = None
    available: Bytes | None = None  # what could be had without swapping; the page cache mostly counts
    page_cache: Bytes | None = None
    limit: Bytes | None = None  # the tightest of the control groups around us; None where there is none
    used: Bytes | None = None  # in the group of that limit, its page cache with it
    used_by_cache: Bytes | None = None  # the part of `used` that could be given back: cached files
    swap_total: Bytes | None = None
    swap_free: Bytes | None = None
    shm_total: Bytes | None = None  # of /dev/shm
    shm_free: Bytes | None = None
    wsl: bool = False
    container: str | None = None  # `docker`, `kubernetes`, `podman`, `lxc`, …; None where nothing says so
    kernel: str | None = None
    board: str | None = None  # what the firmware calls the machine: `NVIDIA Jetson AGX Orin`


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """All that was found, with what was not and why."""

    gpus: tuple[Gpu, ...] = ()
    host: Host = field(default_factory=Host)
    environment: Mapping[str, str] = field(default_factory=dict)  # of the variables that matter, and no others
    driver: str | None = None
    cuda: str | None = None  # the newest that the driver can serve: `13.0`
    notes: tuple[str, ...] = ()
    taken: str | None = None  # when, as ISO 8601 writes it
