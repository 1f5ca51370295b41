"""What is scraped of vLLM, by what it tells: the name that a release gives to it.

Knows which name of a page (`scraped.py`) tells what, which of them a release shows (`metrics.py`), and the few series
that come with the server rather than with the engine. Does not know what is made of them.
"""

from collections.abc import Mapping
from enum import StrEnum, auto
from typing import Final

from oomph.engines.history import Release, Span, span
from oomph.engines.vllm import scraped as page
from oomph.engines.vllm.metrics import METRICS


class Source(StrEnum):
    """One thing that is scraped."""

    KV_USED = auto()  # 0..1: blocks that requests hold, of all; one that only caches a prefix counts as free
    RUNNING = auto()
    WAITING = auto()
    WAITING_BY_REASON = auto()
    PREEMPTIONS = auto()
    GENERATED = auto()  # tokens
    PROMPTED = auto()  # tokens
    FINISHED = auto()  # requests, by finished_reason
    REJECTED = auto()  # requests, by reason: refused without having been queued
    QUEUED = auto()  # seconds, as are those below
    FIRST_TOKEN = auto()
    BETWEEN_TOKENS = auto()
    WHOLE_REQUEST = auto()
    PREFIX_QUERIES = auto()  # tokens looked for
    PREFIX_HITS = auto()  # tokens found
    PREFIX_RATE = auto()  # 0..1, of releases that counted no tokens
    POOL = auto()  # always 1; its labels say how many blocks there are
    ANSWERED = auto()  # by the HTTP server, by status
    UP = auto()  # by Prometheus itself
    STARTED = auto()  # seconds since 1970, of a server that is one process


# The names of one page and of one Prometheus are the same; they stand where pages are read.
NAMES: Final[Mapping[Source, tuple[str, ...]]] = {
    Source.KV_USED: page.SHARES["kv_used"],
    Source.RUNNING: page.COUNTS["running"],
    Source.WAITING: page.COUNTS["waiting"],
    Source.WAITING_BY_REASON: page.SORTED["waiting_by"][:1],
    Source.PREEMPTIONS: page.COUNTS["preemptions"],
    Source.GENERATED: page.COUNTS["generation_tokens"],
    Source.PROMPTED: page.COUNTS["prompt_tokens"],
    Source.FINISHED: page.SORTED["finished"][:1],
    Source.REJECTED: (page.REJECTED,),
    Source.QUEUED: page.HISTOGRAMS["queued"],
    Source.FIRST_TOKEN: page.HISTOGRAMS["first_token"],
    Source.BETWEEN_TOKENS: page.HISTOGRAMS["between_tokens"],
    Source.WHOLE_REQUEST: page.HISTOGRAMS["whole_request"],
    Source.PREFIX_QUERIES: page.COUNTS["prefix_queries"],
    Source.PREFIX_HITS: page.COUNTS["prefix_hits"],
    Source.PREFIX_RATE: page.SHARES["prefix_hit_rate"],
    Source.POOL: (page.CONFIG,),
}

ANSWERING: Final[Span] = span("0.8.3")  # entrypoints/openai/api_server.py counts answers by status from here on
NUMBERED: Final[Span] = span("0.8.3")  # v1/metrics/loggers.py: the label `engine` from here on

HISTOGRAMS: Final = frozenset({Source.QUEUED, Source.FIRST_TOKEN, Source.BETWEEN_TOKENS, Source.WHOLE_REQUEST})

_OF_THE_SERVER: Final = {
    Source.ANSWERED: "http_requests_total",
    Source.UP: "up",
    Source.STARTED: "process_start_time_seconds",
}
_BY_NAME: Final = {metric.scraped: metric for metric in METRICS}


def scraped(source: Source, release: Release) -> str | None:
    """Its name in this release, as Prometheus keeps it; None where the release does not tell it unasked."""
    if source is Source.ANSWERED and release not in ANSWERING:
        return None
    if source in _OF_THE_SERVER:
        return _OF_THE_SERVER[source]
    known = (_BY_NAME[name] for name in NAMES[source])
    return next((metric.scraped for metric in known if metric.shown(release)), None)
