"""What an operator asks of a running engine, and the expression that answers it in one release.

One line per question. A question that a release cannot answer is absent from its answers, never guessed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from types import MappingProxyType

from oomph.engines.history import Release
from oomph.engines.vllm.monitoring.expression import Expression, Gauge, Quantile, Rate, Share
from oomph.engines.vllm.monitoring.sources import Source, scraped


class Question(StrEnum):
    """By the name that recorded series and panels carry."""

    KV_USED = auto()
    RUNNING = auto()
    WAITING = auto()
    WAITING_FOR_CAPACITY = auto()
    WAITING_DEFERRED = auto()
    PREEMPTIONS = auto()
    FINISHED = auto()
    PREEMPTIONS_PER_REQUEST = auto()
    REJECTED = auto()
    GENERATED = auto()
    PROMPTED = auto()
    QUEUED = auto()
    FIRST_TOKEN = auto()
    BETWEEN_TOKENS = auto()
    WHOLE_REQUEST = auto()
    PREFIX_QUERIES = auto()
    PREFIX_HITS = auto()
    PREFIX_HIT_SHARE = auto()
    FAILED = auto()
    ANSWERED = auto()
    SERVER_ERRORS = auto()
    SERVER_ERROR_SHARE = auto()


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one release."""

    release: Release

    def of(self, source: Source) -> str:
        """For what the release surely tells; KeyError leaves the question unanswered."""
        name = scraped(source, self.release)
        if name is None:
            raise KeyError(source)
        return name


def answers(release: Release, *, job: str) -> Mapping[Question, Expression]:
    """Every question that this release answers; `job` is what the scrape configuration calls the engines."""
    return MappingProxyType(dict(_answered(Names(release), job)))


def _answered(names: Names, job: str) -> Iterator[tuple[Question, Expression]]:
    for ask in (_gauges, _rates, _quantiles, _prefix):
        yield from ask(names)
    name = scraped(Source.ANSWERED, names.release)
    if name is not None:
        answered = Rate(name=name, where=(f'job=~"{job}"',))
        errors = Rate(name=name, where=('status="5xx"',), among=answered.where)
        yield Question.ANSWERED, answered
        yield Question.SERVER_ERRORS, errors
        yield Question.SERVER_ERROR_SHARE, Share(part=errors, whole=answered)


def _gauges(names: Names) -> Iterator[tuple[Question, Expression]]:
    yield Question.KV_USED, Gauge(name=names.of(Source.KV_USED), fold="max")
    yield Question.RUNNING, Gauge(name=names.of(Source.RUNNING))
    yield Question.WAITING, Gauge(name=names.of(Source.WAITING))
    by_reason = scraped(Source.WAITING_BY_REASON, names.release)
    if by_reason is not None:
        yield Question.WAITING_FOR_CAPACITY, Gauge(name=by_reason, where=('reason="capacity"',))
        yield Question.WAITING_DEFERRED, Gauge(name=by_reason, where=('reason="deferred"',))


def _rates(names: Names) -> Iterator[tuple[Question, Expression]]:
    preemptions, finished = Rate(name=names.of(Source.PREEMPTIONS)), Rate(name=names.of(Source.FINISHED))
    yield Question.PREEMPTIONS, preemptions
    yield Question.FINISHED, finished
    yield Question.PREEMPTIONS_PER_REQUEST, Share(part=preemptions, whole=finished)
    yield Question.GENERATED, Rate(name=names.of(Source.GENERATED))
    yield Question.PROMPTED, Rate(name=names.of(Source.PROMPTED))
    yield Question.FAILED, Rate(name=finished.name, where=('finished_reason=~"error|abort"',), among=())
    rejected = scraped(Source.REJECTED, names.release)
    if rejected is not None:
        yield Question.REJECTED, Rate(name=rejected)


def _quantiles(names: Names) -> Iterator[tuple[Question, Expression]]:
    for question, source in (
        (Question.QUEUED, Source.QUEUED),
        (Question.FIRST_TOKEN, Source.FIRST_TOKEN),
        (Question.BETWEEN_TOKENS, Source.BETWEEN_TOKENS),
        (Question.WHOLE_REQUEST, Source.WHOLE_REQUEST),
    ):
        name = scraped(source, names.release)
        if name is not None:
            yield question, Quantile(name=name, share=0.99)


def _prefix(names: Names) -> Iterator[tuple[Question, Expression]]:
    """Counters where the release has them; else the gauge that it computes itself."""
    hits, gauge = scraped(Source.PREFIX_HITS, names.release), scraped(Source.PREFIX_RATE, names.release)
    if hits is not None:
        part, whole = Rate(name=hits), Rate(name=names.of(Source.PREFIX_QUERIES))
        yield Question.PREFIX_HITS, part
        yield Question.PREFIX_QUERIES, whole
        yield Question.PREFIX_HIT_SHARE, Share(part=part, whole=whole)
    elif gauge is not None:
        yield Question.PREFIX_HIT_SHARE, Gauge(name=gauge, fold="min")
