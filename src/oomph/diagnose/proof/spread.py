"""Percentiles, by the nearest rank: every figure was really measured, none is between two.

Knows how figures of many requests become a few. Does not know whether they are good.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil

from oomph.ledger.proof import Outcome, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Of one quantity over many requests, or over many seconds."""

    count: int
    least: float
    p50: float
    p90: float
    p99: float
    most: float


def spread(values: Iterable[float]) -> Spread | None:
    """None where there are no values."""
    ordered = sorted(values)
    if not ordered:
        return None
    return Spread(
        count=len(ordered),
        least=ordered[0],
        p50=ranked(ordered, 50),
        p90=ranked(ordered, 90),
        p99=ranked(ordered, 99),
        most=ordered[-1],
    )


def ranked(ordered: list[float], percent: int) -> float:
    """The least value that so many of a hundred do not exceed."""
    return ordered[max(0, ceil(len(ordered) * percent / 100) - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Latency in seconds and throughput in tokens a second, of the requests that ended well."""

    first_token: Spread | None
    between_tokens: Spread | None
    whole: Spread | None
    answer_rate: float | None  # tokens a second over the whole stage
    total_rate: float | None  # with the prompts
    by_second: Spread | None  # tokens of answers in each whole second


def speed(stage: Stage) -> Speed:
    """Of one stage; its time is from the first request to the last end."""
    well = [outcome for outcome in stage.outcomes if outcome.failure is None]
    begin = min((outcome.sent for outcome in well), default=0.0)
    lasted = max((outcome.ended for outcome in well), default=0.0) - begin
    answers = sum(outcome.answer_tokens or 0 for outcome in well)
    prompts = sum(outcome.prompt_tokens or 0 for outcome in well)
    return Speed(
        first_token=spread(outcome.first - outcome.sent for outcome in well if outcome.first is not None),
        between_tokens=spread(gap for outcome in well for gap in outcome.gaps),
        whole=spread(outcome.took for outcome in well),
        answer_rate=answers / lasted if lasted else None,
        total_rate=(answers + prompts) / lasted if lasted else None,
        by_second=spread(by_second(well, begin, lasted)),
    )


def by_second(outcomes: Iterable[Outcome], begin: float, lasted: float) -> list[float]:
    """Tokens of answers that were here in each whole second; the last second, which is not whole, is left out."""
    counts = [0.0] * int(lasted)
    for at, tokens in arrivals(outcomes):
        second = int(at - begin)
        if 0 <= second < len(counts):
            counts[second] += tokens
    return counts


def arrivals(outcomes: Iterable[Outcome]) -> Iterator[tuple[float, float]]:
    """When pieces of answers were here, and how many tokens each had: a busy server sends several in one piece."""
    for outcome in outcomes:
        if outcome.first is None:
            continue
        pieces = max(outcome.pieces, 1)
        tokens, at = (outcome.answer_tokens or 0) / pieces, outcome.first
        yield at, tokens
        even = ((outcome.ended - at) / pieces,) * (pieces - 1)  # where its gaps were not kept
        for gap in outcome.gaps or even:
            at += gap
            yield at, tokens
