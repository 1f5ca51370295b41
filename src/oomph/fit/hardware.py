"""Which devices would hold a workload, the least memory first.

Knows the catalogue, and counts that divide models. Does not know what a device costs, nor who has it: what somebody
has is asked first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from oomph.engines.vllm.levers.startup import Change, Startup
from oomph.errors import UsageError
from oomph.fit.floor import floor
from oomph.fit.given import caches_beginnings
from oomph.fit.held import enough
from oomph.fit.holds import first
from oomph.fit.judge import Judged
from oomph.fit.priced import changed
from oomph.fit.question import Question
from oomph.fit.space import PARALLEL
from oomph.fit.workload import Workload
from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Device
from oomph.ledger.gate import Step, Verdict
from oomph.units import Bytes

_COUNTS: Final = (1, 2, 4, 8)
_ALONE: Final = frozenset({"gb10", "strix-halo", "rtx-5090-laptop"})  # machines, not cards that one adds


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """So many devices of one kind."""

    key: str  # as it is written on the command line
    device: Device
    count: int
    change: Change = field(default_factory=dict)  # with which it holds the workload
    floor: float | None = None  # seconds that a step takes at least

    @property
    def memory(self) -> Bytes:
        """Of all of them."""
        return Bytes(self.count * self.device.total)

    @property
    def devices(self) -> tuple[Device, ...]:
        """By rank."""
        return (self.device,) * self.count

    def on(self, start: Startup) -> Startup:
        """A start-up on them."""
        return replace(start, devices=self.devices)

    @property
    def words(self) -> str:
        """As it is said."""
        each = "" if self.count == 1 else " each"
        return f"{'' if self.count == 1 else f'{self.count} × '}{self.device.name}, {self.device.total}{each}"


def all_hardware() -> list[Hardware]:
    """Everything in the catalogue, the least memory first, of as much the fewest devices."""
    found = [
        Hardware(key=key, device=device, count=count)
        for key, device in CATALOGUE.items()
        if device.capability is not None
        for count in (_COUNTS[:1] if key in _ALONE else _COUNTS)
    ]
    return sorted(found, key=lambda each: (each.memory, each.count))


def holding(question: Question) -> Iterator[Hardware]:
    """Each kind of device with the least number that is enough, the least memory first."""
    seen: set[str] = set()
    least = least_memory(question)
    for each in all_hardware():
        if each.key not in seen and each.memory >= least and (found := _first(question, each)) is not None:
            seen.add(each.key)
            yield replace(each, change=changed(question.startup, found.startup), floor=_floor(found, question.workload))


def least_memory(question: Question) -> int:
    """Bytes without which nothing holds the users, however it is divided: half of their keys and values, or all.

    Dividing a model over ranks keeps some of them more than once, never fewer; nothing keeps them in less than eight
    bits. What holds neither this nor the weights need not be judged.
    """
    try:
        kv = question.startup.forecast().kv
    except UsageError:
        return 0
    if kv is None:
        return 0
    users = question.workload.users
    whole = enough(kv, question.workload, users, shares=caches_beginnings(question.startup))
    return whole // 2 if question.rounds else whole


def _first(question: Question, hardware: Hardware) -> Judged | None:
    """On all of the devices at once, because fewer were asked before."""
    start = hardware.on(question.startup)
    if question.workload.step is not None and hardware.device.bandwidth is None:
        return None  # nobody knows how fast it can be
    if hardware.count == 1 or any(flag in start.flags for flag in PARALLEL):
        return first(replace(question, startup=start))
    found = (first(replace(question, startup=divided)) for divided in _divided(start, hardware.count))
    return next((each for each in found if each is not None), None)


def _divided(start: Startup, count: int) -> Iterator[Startup]:
    """Each layer over all of them, then over half of them twice, and so on while a copy has room."""
    tensor = count
    while tensor:
        change = {"tensor_parallel_size": tensor, "data_parallel_size": count // tensor}
        divided = start.but({flag: ranks for flag, ranks in change.items() if ranks > 1})
        yield divided
        if tensor < count and not _loads(divided):
            return
        tensor //= 2


def _loads(start: Startup) -> bool:
    """Whether the weights have room; what cannot be divided so is passed over."""
    try:
        gates = start.forecast().gates
    except UsageError:
        return True
    return all(gate.verdict is not Verdict.OVERFLOWS for gate in gates if gate.step is Step.LOAD)


def _floor(found: Judged, workload: Workload) -> float | None:
    return floor(found.forecast, workload, users=found.wanted)
