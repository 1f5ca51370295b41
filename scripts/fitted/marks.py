"""Whether an answer is any good: held against what failed, and against what is known to have started.

Knows what counts. Does not know how answers are made.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fitted.asking import Answer, Capacity
from oomph.engines.vllm.levers.startup import Startup
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Step, Verdict

_SIZES: Final = ("max_num_seqs", "max_num_batched_tokens", "max_model_len")
_SAME: Final = (
    *("kv_cache_dtype", "quantization", "kv_cache_memory_bytes", "speculative_config", "language_model_only"),
    *("tensor_parallel_size", "pipeline_parallel_size", "VLLM_USE_V2_MODEL_RUNNER"),
)


class Outcome(StrEnum):
    """What `fit` proposes."""

    SURE = "sure"
    LIKELY = "likely"
    FEWER = "for fewer users"
    NOTHING = "nothing"


class Compared(StrEnum):
    """Beside what is known to have started."""

    NO_WORSE = "no worse"
    WORSE = "worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Of one answer."""

    answer: Answer
    outcome: Outcome
    gate: Step | None  # at which the forecast of what failed stops, or may; None: it sees no failure
    repeated: bool  # the proposal is at every lever as hard as what failed
    compared: Compared | None  # None where nothing is known to have started

    @property
    def foreseen(self) -> bool:
        """The forecast sees that what failed may fail: only then a proposal that passes means something."""
        return self.gate is not None


def marks(answers: Iterable[Answer]) -> tuple[Marks, ...]:
    """Of all."""
    return tuple(marked(answer) for answer in answers)


def marked(found: Answer) -> Marks:
    """One answer, held against its record."""
    failing = found.startup.but(found.reading.failing)
    forecast = failing.forecast()
    best = found.fitted.proposal
    repeated = best is not None and as_hard(
        best.judged.startup, best.forecast, failing, forecast, starved=found.reading.starved
    )
    return Marks(
        answer=found,
        outcome=outcome(found),
        gate=stops_at(forecast),
        repeated=repeated,
        compared=compared(None if repeated else found.ours, found.theirs),
    )


def outcome(found: Answer) -> Outcome:
    """How far the proposal goes."""
    fitted = found.fitted
    if fitted.proposal is None:
        return Outcome.NOTHING
    if not fitted.holds:
        return Outcome.FEWER
    return Outcome.LIKELY if fitted.unsure else Outcome.SURE


def stops_at(forecast: Forecast) -> Step | None:
    """The gate at which a forecast stops or may stop."""
    gate = None if forecast.verdict is Verdict.FITS else forecast.stopped_at
    return None if gate is None else gate.step


def compared(ours: Capacity | None, theirs: Capacity | None) -> Compared | None:
    """In length and in users; None of ours: nothing is proposed, or what failed again."""
    if theirs is None:
        return None
    return Compared.NO_WORSE if ours is not None and ours.no_worse(theirs) else Compared.WORSE


def as_hard(start: Startup, ours: Forecast, failing: Startup, theirs: Forecast, *, starved: bool) -> bool:
    """Whether no lever of a proposal is any easier than what failed: it is then the same command, or more.

    A larger share is harder, unless what failed had too small a pool.
    """
    same = all(start.flags.get(flag) == failing.flags.get(flag) for flag in _SAME)
    more = all(ours.settings.whole(flag) >= theirs.settings.whole(flag) for flag in _SIZES)
    mine, its = (each.settings.number("gpu_memory_utilization") for each in (ours, theirs))
    graphs = len(_captured(ours)) >= len(_captured(theirs))
    return same and more and (mine <= its if starved else mine >= its) and graphs


def _captured(forecast: Forecast) -> tuple[int, ...]:
    sizes = forecast.settings["cudagraph_capture_sizes"].value
    return sizes if isinstance(sizes, tuple) else ()
