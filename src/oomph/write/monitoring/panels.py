"""Panels of the dashboard: rows of questions, each with the words that a reader needs beside the curve.

Knows which questions stand together. Does not know how Grafana wants them written (`dashboard.py`).
"""

from dataclasses import dataclass
from typing import Final

from oomph.engines.vllm.monitoring.questions import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A curve of a panel."""

    question: Question
    label: str = ""  # what tells it from others in the same panel
    apart: tuple[str, ...] = ()  # a label by which its curves stand apart, besides those of the level
    half: bool = False  # of a quantile, also the median


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One picture."""

    title: str
    words: str
    unit: str  # as Grafana calls it
    asks: tuple[Asked, ...]
    share: bool = False  # from 0 to 1
    parts: str = ""  # by what its curves stand apart, where they do
    of_many: str = ""  # what is to be said where a curve is of many engines
    empty: str = "no such series was scraped"  # why there may be no curve


def panel(
    title: str,
    unit: str,
    words: str,
    *asks: Asked,
    share: bool = False,
    parts: str = "",
    of_many: str = "",
    empty: str = "no such series was scraped",
) -> Panel:
    """A line of the table."""
    return Panel(title=title, words=words, unit=unit, asks=asks, share=share, parts=parts, of_many=of_many, empty=empty)


CAPACITY: Final = (
    panel(
        "KV pool held by requests",
        "percentunit",
        "Blocks that requests hold, of all. Blocks that only cache a prefix count as free, so a pool full of cached "
        "prefixes reads 0 %. Full is no fault by itself: look at waiting and preemptions beside it.",
        Asked(question=Question.KV_USED),
        share=True,
        of_many="Of all engines of a model, the fullest.",
    ),
    panel("Requests running", "short", "Requests that got a place in the batch.", Asked(question=Question.RUNNING)),
    panel(
        "Tokens a second",
        "short",
        "Prompt tokens count when the whole prompt is done, cached ones included.",
        Asked(question=Question.GENERATED, label="generated"),
        Asked(question=Question.PROMPTED, label="prompt"),
    ),
)
PRESSURE: Final = (
    panel(
        "Requests waiting",
        "short",
        "capacity: for room in the pool or the batch. deferred: for something of their own (an adapter, blocks from "
        "elsewhere). Releases before 0.20.0 do not say why.",
        Asked(question=Question.WAITING, label="all"),
        Asked(question=Question.WAITING_FOR_CAPACITY, label="capacity"),
        Asked(question=Question.WAITING_DEFERRED, label="deferred"),
    ),
    panel(
        "Preemptions a second",
        "short",
        "A request was set back to make room; what it had computed is computed again. Clients see only latency.",
        Asked(question=Question.PREEMPTIONS),
    ),
    panel(
        "Preemptions per finished request",
        "short",
        "Above 0.1 the pool is too small for this load. No curve while no request finishes.",
        Asked(question=Question.PREEMPTIONS_PER_REQUEST),
        empty="no request finished",
    ),
    panel(
        "Requests turned away a second",
        "reqps",
        "Refused because the queue was full: 503, or for a stream 200 with an error in it.",
        Asked(question=Question.REJECTED),
        empty="no request was ever turned away",
    ),
)
LATENCY: Final = tuple(
    panel(title, "s", words, Asked(question=question, half=True), empty="no request came")
    for title, words, question in (
        ("Time in queue", "Before a request first runs. 99 of 100 waited less than p99.", Question.QUEUED),
        ("Time to first token", "Queue and prompt together.", Question.FIRST_TOKEN),
        ("Time between tokens", "Grows when long prompts run beside answers.", Question.BETWEEN_TOKENS),
        ("Time of a whole request", "From arrival to the last token.", Question.WHOLE_REQUEST),
    )
)
PREFIX: Final = (
    panel(
        "Prompt tokens found in the prefix cache",
        "percentunit",
        "A low share costs no memory: cached blocks are given up for any request that needs room. No curve while no "
        "prompt comes.",
        Asked(question=Question.PREFIX_HIT_SHARE),
        share=True,
        empty="no prompt came",
    ),
    panel(
        "Prompt tokens looked for a second",
        "short",
        "And of them, how many were found.",
        Asked(question=Question.PREFIX_QUERIES, label="looked for"),
        Asked(question=Question.PREFIX_HITS, label="found"),
    ),
)
HEALTH: Final = (
    panel(
        "Requests finished a second",
        "reqps",
        "vLLM does not count clients that hang up.",
        Asked(question=Question.FINISHED, apart=("finished_reason",)),
        parts="reason",
        empty="no request finished yet",
    ),
    panel(
        "Answers a second",
        "reqps",
        "A stream that was refused or broke is counted as 2xx.",
        Asked(question=Question.ANSWERED, apart=("status",)),
        parts="status of HTTP",
        empty="nothing was answered yet; is --job what your scrape configuration says?",
    ),
    panel(
        "Failed requests a second",
        "reqps",
        "5xx as the server answered; given up as the engine ended them (error, abort).",
        Asked(question=Question.SERVER_ERRORS, label="5xx"),
        Asked(question=Question.FAILED, label="given up"),
    ),
)
ROWS: Final = {
    "Capacity": CAPACITY,
    "Pressure": PRESSURE,
    "Latency": LATENCY,
    "Prefix cache": PREFIX,
    "Engine health": HEALTH,
}
