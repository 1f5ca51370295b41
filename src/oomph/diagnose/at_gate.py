"""From a forecast that stops at a gate to what is wrong there, what would change it, and what would not.

Knows a code and a name for every gate. Does not know how remedies are found (`remedies`), nor any flag.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from oomph.diagnose.at_once import hopeless
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.larger import larger
from oomph.diagnose.remedies import likely, remedies, upgraded
from oomph.diagnose.trials import Trials, acting
from oomph.diagnose.vain import vain
from oomph.engines.vllm.levers.checkpoint import in_four_bits
from oomph.engines.vllm.levers.startup import Startup
from oomph.engines.vllm.levers.table import LAST
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate, Step, Verdict

# The code, the condition, and what it is that needs more than there is.
NAMES: Final[Mapping[Step, tuple[str, str, str]]] = {
    Step.START_CHECK: ("SC001", "share-above-free", "the share of the device that is asked for"),
    Step.LOAD: ("LD001", "weights-above-device", "loading the weights"),
    Step.PROFILE: ("PR001", "profile-peak-above-device", "the profile run beside the weights"),
    Step.GRAPH_PROFILE: (
        "GP001",
        "graph-profile-pool-above-rest",
        "the graph profile's throw-away pool beside the weights",
    ),
    Step.POOL_SIZE: ("PS001", "no-room-for-pool", "all but the pool"),
    Step.ONE_REQUEST: ("KV001", "pool-below-one-request", "one request of the longest length"),
    Step.CAPTURE: ("CG001", "graphs-above-rest", "capturing graphs beside the pool"),
    Step.WARM_UP: ("WU001", "sampler-above-rest", "warming up the sampler beside pool and graphs"),
    Step.SERVING: ("SV001", "serving-peak-above-rest", "the fullest step beside pool and graphs"),
}

# A capture that looks into the pool: every sequence of a captured step needs a block for its state.
_STATES: Final = ("KV002", "fewer-state-blocks-than-sequences", "a block for the state of every sequence")

_BY_WEIGHTS: Final = frozenset({Step.LOAD, Step.PROFILE, Step.GRAPH_PROFILE, Step.POOL_SIZE})


def findings(forecast: Forecast, startup: Startup) -> tuple[Finding, ...]:
    """What is wrong at the gate at which the forecast of a start-up stops; nothing where it does not stop."""
    gate = forecast.stopped_at
    if gate is None:
        return ()
    trials = Trials(startup, forecast)
    newer = upgraded(trials, gate.step)
    sure = remedies(trials, gate.step, newer)
    states = gate.step is not acting(forecast, gate.step)
    code, name, what = _STATES if states else NAMES[gate.step]
    return (
        Finding(
            code=code,
            name=name,
            summary=_summary(gate, what),
            evidence=(gate.because,),
            remedies=sure,
            unhelpful=dict(vain(trials, gate, newer)),
            beyond=(*_without_remedy(trials, gate.step, sure), *_another_checkpoint(startup, forecast, gate)),
        ),
    )


def _without_remedy(trials: Trials, step: Step, found: tuple[Remedy, ...]) -> Iterator[str]:
    """Where no single change is sure to help, what is likely to; where nothing is, which hardware would."""
    starting = [remedy for remedy in found if remedy.fails_at is None]
    if any(len(remedy.change) == 1 for remedy in starting):
        return
    told = tuple(likely(trials, step))
    yield from told
    if not told and not starting:
        never = (
            "no flag starts this on these GPUs" if hopeless(trials) else "no flag is sure to start this on these GPUs"
        )
        change = found[0].change if found and found[0].change.keys().isdisjoint(LAST) else {}
        yield f"{never}{larger(trials.startup, change)}"


def _another_checkpoint(startup: Startup, forecast: Forecast, gate: Gate) -> Iterator[str]:
    told = in_four_bits(startup, forecast) if gate.step in _BY_WEIGHTS else None
    if told is not None:
        yield told


def _summary(gate: Gate, what: str) -> str:
    if gate.verdict is Verdict.OVERFLOWS:
        return f"{what} takes {gate.needs}; {gate.has} are there"
    return f"{what} may not fit: it takes {gate.needs}, and {gate.has} are there"
