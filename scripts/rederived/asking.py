"""Questions to the forecast and to `fit`, as the guides would have to ask them.

Knows how a claim becomes a start-up and a workload. Does not know any claim.
"""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

from oomph.diagnose.typed import typed
from oomph.engines.vllm.admission.admitted import Admitted
from oomph.engines.vllm.admission.scheduling import Scheduling
from oomph.engines.vllm.admission.simulate import simulate
from oomph.engines.vllm.admission.workload import Request, burst
from oomph.engines.vllm.kv import kept
from oomph.engines.vllm.levers.startup import Change, Startup
from oomph.engines.vllm.pool.limits import Limits
from oomph.engines.vllm.pool.plan import plan
from oomph.engines.vllm.pool.pool import Pool, Worker
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.fit.choice import Lever
from oomph.fit.fit import fit
from oomph.fit.hardware import Hardware, all_hardware
from oomph.fit.held import held
from oomph.fit.holds import asked, first
from oomph.fit.judge import Judged
from oomph.fit.proposal import Fitted
from oomph.fit.question import Question
from oomph.fit.search import easiest, ways
from oomph.fit.workload import Workload
from oomph.ledger.catalogue import devices
from oomph.ledger.device import Device
from oomph.ledger.forecast import Forecast
from oomph.ledger.ledger import Account
from oomph.ledger.lengths import Lengths
from oomph.ledger.rest import Rest
from oomph.ledger.settings import Flags, Value
from oomph.units import GIB, MIB, Bytes
from rederived.shapes import model

RELEASE: Final = HISTORY.release("0.19.1")  # the last whose default share is 0.90, from which all guides start
_LENGTH_STEP, _LONGEST = 256, 131_072  # tokens
_MEMORY_STEP, _LARGEST = 256 * MIB, 512 * GIB
_PART: Final = 8  # of a request, one is the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Users:
    """Requests that are held at once."""

    sure: int
    likely: int

    @property
    def words(self) -> str:
        """One number where both are the same."""
        return f"{self.sure}" if self.sure == self.likely else f"{self.sure} (likely {self.likely})"


def start(name: str, gpu: str, **flags: Value) -> Startup:
    """A start-up with these flags."""
    return Startup(flags=Flags(flags), model=model(name), devices=devices(gpu), release=RELEASE)


def workload(tokens: int, users: int) -> Workload:
    """Requests of so many tokens, an eighth of which is the answer."""
    answer = max(1, tokens // _PART)
    return Workload(prompt=Lengths.given(tokens - answer), answer=Lengths.given(answer), users=users)


def weights(forecast: Forecast) -> Bytes:
    """Of one rank."""
    found = forecast.ledger.of(Account.WEIGHTS)
    return Bytes(0) if found is None else found.likely


def pool(forecast: Forecast) -> Bytes:
    """Of one rank, as it is most likely."""
    return Bytes(0) if forecast.pool is None else forecast.pool.likely


def users(startup: Startup, tokens: int) -> Users:
    """That these flags hold as they are; none where a gate is in the way."""
    forecast = startup.forecast()
    rest = Rest.of_all(forecast.gates)

    def at(risk: Rest) -> int:
        return held(forecast, workload(tokens, 1), shares=False, risk=risk) if rest >= risk else 0

    return Users(sure=at(Rest.SURE), likely=at(Rest.LIKELY))


def proposed(startup: Startup, tokens: int, count: int, risk: Rest = Rest.SURE) -> Fitted:
    """What `oomph fit` says to so many users of that length."""
    return fit(Question(startup=startup, workload=workload(tokens, count), risk=risk))


def flags(change: Change) -> str:
    """As they are typed."""
    return " ".join(f"`{typed(flag, value)}`" for flag, value in change.items()) or "the defaults"


def in_sixteen_bits(question: Question) -> Judged | None:
    """The first setting that holds a workload and rounds neither weights nor keys."""
    judge = asked(question)
    choices = judge.space.choices
    plain = (way for way in ways(choices) if not way[Lever.WEIGHTS] and not way[Lever.KEYS])
    return next((found for way in plain if (found := judge.of(easiest(choices, way))) is not None), None)


def most(startup: Startup, tokens: int, risk: Rest) -> int:
    """Users that the best setting in 16 bits holds."""
    low, high = 0, 1
    while _held(startup, tokens, high, risk):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _held(startup, tokens, middle, risk) else (low, middle)
    return low


def _held(startup: Startup, tokens: int, count: int, risk: Rest) -> bool:
    return in_sixteen_bits(Question(startup=startup, workload=workload(tokens, count), risk=risk)) is not None


def longest(startup: Startup, risk: Rest) -> int:
    """Tokens of the longest request that some setting holds alone, in steps of 256; 0 where none starts."""
    steps = range(1, 1 + _LONGEST // _LENGTH_STEP)

    def too_long(step: int) -> bool:
        question = Question(startup=startup, workload=workload(step * _LENGTH_STEP, 1), risk=risk)
        return first(question) is None

    return bisect_left(steps, True, key=too_long) * _LENGTH_STEP  # noqa: FBT003 - what is searched for


def least(name: str, tokens: int, count: int, *, rounded: bool, risk: Rest = Rest.SURE) -> Hardware | None:
    """The hardware of the least memory that holds so many users; `rounded`: also in 8 bits."""
    ask = first if rounded else in_sixteen_bits
    found = (each for each in all_hardware() if ask(_on(name, each, tokens, count, risk)) is not None)
    return next(found, None)


def smallest(name: str, tokens: int, count: int) -> Bytes | None:
    """Memory of the smallest single device that surely holds so many users in 16 bits, in steps of 256 MiB."""
    steps = range(1, 1 + _LARGEST // _MEMORY_STEP)

    def enough(step: int) -> bool:
        size = Bytes(step * _MEMORY_STEP)
        where = (Device(name=f"a device of {size}", total=size),)
        begun = Startup(flags=Flags(), model=model(name), devices=where, release=RELEASE)
        return _held(begun, tokens, count, Rest.SURE)

    place = bisect_left(steps, True, key=enough)  # noqa: FBT003 - what is searched for
    return Bytes(steps[place] * _MEMORY_STEP) if place < len(steps) else None


def _on(name: str, hardware: Hardware, tokens: int, count: int, risk: Rest) -> Question:
    begun = Startup(flags=Flags(), model=model(name), devices=hardware.devices, release=RELEASE)
    divided = begun if hardware.count == 1 else begun.but({"tensor_parallel_size": hardware.count})
    return Question(startup=divided, workload=workload(tokens, count), risk=risk)


def sent_at_once(startup: Startup, tokens: int, count: int) -> Admitted:
    """What becomes of so many requests that come in one moment."""
    forecast = startup.forecast()
    answer = tokens // _PART
    request = Request(prompt_tokens=tokens - answer, answer_tokens=answer)
    scheduling = Scheduling(sequences=forecast.settings.whole("max_num_seqs"))
    blocks, limits = _planned(startup, forecast)
    return simulate(blocks, burst([request] * count), limits, scheduling, startup.release)


def _planned(startup: Startup, forecast: Forecast) -> tuple[Pool, Limits]:
    """The likely pool, block by block."""
    if startup.model is None or forecast.pool is None:
        message = "requests are only sent to a start-up whose pool is known"
        raise UsageError(message)
    caches = kept(
        startup.model.geometry,
        startup.flags,
        forecast.settings,
        device=forecast.device,
        release=startup.release,
        quantized=startup.model.quantization is not None,
    )
    found = plan((Worker(layers=caches.layers, available=forecast.pool.likely),), caches.limits, startup.release)
    if not isinstance(found, Pool):
        message = f"no pool holds one request: {found}"
        raise UsageError(message)
    return found, caches.limits
