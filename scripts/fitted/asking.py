"""A record as a question to `fit`, and what came of it.

Knows what goes in and what comes out. Does not know what is right.
"""

from dataclasses import dataclass, replace
from typing import Final

from fitted import stored
from fitted.failed import Failed, failed
from fitted.readings import READINGS, Reading, Working
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.resolve import longest
from oomph.fit.fit import fit
from oomph.fit.held import held
from oomph.fit.proposal import Fitted
from oomph.fit.question import Question
from oomph.fit.workload import Workload
from oomph.ledger.catalogue import devices
from oomph.ledger.device import Device
from oomph.ledger.lengths import Lengths
from oomph.ledger.rest import Rest
from oomph.ledger.settings import Flags
from oomph.units import GIB, Bounds, Bytes

_PART: Final = 8  # of a request, one is the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The longest request, and how many of the asked length there are at once."""

    length: int
    users: int

    def no_worse(self, other: "Capacity") -> bool:
        """In neither."""
        return self.length >= other.length and self.users >= other.users


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What `fit` said to one record."""

    record: Failed
    reading: Reading
    startup: Startup
    workload: Workload
    fitted: Fitted
    theirs: Capacity | None  # of what is known to have started

    @property
    def ours(self) -> Capacity | None:
        """None where nothing is proposed."""
        return capacity(self.fitted)


def answers() -> tuple[Answer, ...]:
    """To every record that can be asked."""
    return tuple(answer(record, READINGS[record.id]) for record in failed() if record.reason is None)


def answer(record: Failed, reading: Reading) -> Answer:
    """For the users and the length that are known to have worked, else for one user of the length that was asked."""
    begun = startup(record.model, reading)
    theirs = None if reading.working is None else _worked(begun, reading.working, reading.length)
    asked = workload(_length(begun, reading.length), 1 if theirs is None else theirs.users)
    return Answer(
        record=record,
        reading=reading,
        startup=begun,
        workload=asked,
        fitted=fit(Question(startup=begun, workload=asked)),
        theirs=theirs,
    )


def capacity(fitted: Fitted) -> Capacity | None:
    """Of what is proposed."""
    best = fitted.proposal
    if best is None:
        return None
    return Capacity(length=best.forecast.settings.whole("max_model_len"), users=best.judged.users)


def startup(name: str, reading: Reading) -> Startup:
    """With the flags that say what is served; those that give memory are open."""
    model = stored.model(name, reading.config, recipe=reading.recipe, context=reading.context, told=reading.told)
    return Startup(
        flags=Flags(reading.kept),
        model=model,
        devices=tuple(_device(device, reading) for device in devices(reading.gpu)),
        release=HISTORY.release(reading.release),
    )


def _device(device: Device, reading: Reading) -> Device:
    total = device.total if reading.total is None else Bytes(round(reading.total * GIB))
    free = None if reading.free is None else Bounds(round(reading.free * GIB))
    return replace(device, total=total, free=free or device.free)


def workload(length: int, users: int) -> Workload:
    """Requests of so many tokens, an eighth of which is the answer."""
    part = max(1, length // _PART)
    return Workload(prompt=Lengths.given(length - part), answer=Lengths.given(part), users=users)


def _length(begun: Startup, asked: int | None) -> int:
    """As asked, else the whole context."""
    if asked is not None:
        return asked
    return 1 if begun.model is None else longest(begun.model.geometry, begun.release)


def _worked(begun: Startup, working: Working, asked: int | None) -> Capacity:
    """As the engine printed it, else as their own flags are forecast."""
    length = _length(begun, asked)
    if working.tokens is not None or working.at_once is not None:
        return Capacity(length=length, users=working.at_once or 1)
    forecast = begun.but(working.flags).forecast()
    found = held(forecast, workload(length, 1), shares=False, risk=Rest.LIKELY)
    return Capacity(length=length, users=max(1, found))
