"""Every request and every token accounted for: what we sent, what came of it, and what the server counted.

Knows sums. Where requests failed, the server may have counted what never arrived: then its tokens are only a bound.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oomph.ledger.histogram import Histogram
from oomph.ledger.proof import Counted, Failure, Stage
from oomph.ledger.scrape import Scrape


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """Of a whole run, or of a stage."""

    sent: int
    finished: int
    failed: Mapping[Failure, int]
    prompt_tokens: int  # of finished requests, as the server counts: each answer of a request reads its prompt
    answer_tokens: int  # of finished requests
    counted: Counted

    @property
    def balanced(self) -> bool:
        """Sent is finished and failed together."""
        return self.sent == self.finished + sum(self.failed.values())

    @property
    def agrees(self) -> bool | None:
        """Our tokens are the server's; None where requests failed or the server did not say."""
        theirs = (self.counted.prompt_tokens, self.counted.answer_tokens)
        if None in theirs or set(self.failed) - {Failure.REJECTED, Failure.REFUSED}:
            return None
        return theirs == (self.prompt_tokens, self.answer_tokens)


def accounts(stages: Iterable[Stage]) -> Accounts:
    """Of all that was played."""
    played = tuple(stages)
    outcomes = [outcome for stage in played for outcome in stage.outcomes]
    failed: dict[Failure, int] = {}
    for stage in played:
        for failure, count in stage.failed.items():
            failed[failure] = failed.get(failure, 0) + count
    well = [outcome for outcome in outcomes if outcome.failure is None]
    return Accounts(
        sent=len(outcomes),
        finished=len(well),
        failed=failed,
        prompt_tokens=sum((outcome.prompt_tokens or 0) * outcome.ask.answers for outcome in well),
        answer_tokens=sum(outcome.answer_tokens or 0 for outcome in well),
        counted=together(stage.counted for stage in played),
    )


def together(counts: Iterable[Counted]) -> Counted:
    """The sum of each; None where one of them is not known."""
    every = tuple(counts)
    return Counted(
        preemptions=_sum(each.preemptions for each in every),
        prompt_tokens=_sum(each.prompt_tokens for each in every),
        answer_tokens=_sum(each.answer_tokens for each in every),
        finished=_sum(each.finished for each in every),
        rejected=_sum(each.rejected for each in every),
        queued=_added(each.queued for each in every),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    every = tuple(counts)
    known = [count for count in every if count is not None]
    return sum(known) if every and len(known) == len(every) else None


def _added(times: Iterable[float | None]) -> float | None:
    every = tuple(times)
    known = [time for time in every if time is not None]
    return sum(known) if every and len(known) == len(every) else None


def counted(before: Scrape | None, after: Scrape | None) -> Counted:
    """What the server counted between two looks; nothing where it began anew in between."""
    if before is None or after is None or before.started != after.started:
        return Counted()
    return Counted(
        preemptions=_more(before.preemptions, after.preemptions),
        prompt_tokens=_more(before.prompt_tokens, after.prompt_tokens),
        answer_tokens=_more(before.generation_tokens, after.generation_tokens),
        finished=_more(before.requests or 0, after.requests),
        rejected=sum(after.rejected.values()) - sum(before.rejected.values()),
        queued=_longer(before.queued, after.queued),
    )


def _longer(before: Histogram | None, after: Histogram | None) -> float | None:
    """Seconds that were added; a server that has answered nobody yet shows no histogram."""
    if after is None or after.total is None:
        return None
    return after.total - ((before.total or 0.0) if before is not None else 0.0)


def _more(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None or after < before else after - before


def as_one(engines: tuple[Scrape, ...]) -> Scrape | None:
    """All engines behind one endpoint: counts are added, shares are the fullest pool's; None where there is none."""
    if len(engines) < 2:  # noqa: PLR2004 - one is as one already
        return engines[0] if engines else None
    first = engines[0]
    finished: dict[str, int] = {}
    for engine in engines:
        for reason, count in engine.finished.items():
            finished[reason] = finished.get(reason, 0) + count
    return Scrape(
        at=first.at,
        model=first.model,
        started=first.started,
        resident=first.resident,
        kv_used=max((engine.kv_used for engine in engines if engine.kv_used is not None), default=None),
        running=_sum(engine.running for engine in engines),
        waiting=_sum(engine.waiting for engine in engines),
        preemptions=_sum(engine.preemptions for engine in engines),
        prefix_queries=_sum(engine.prefix_queries for engine in engines),
        prefix_hits=_sum(engine.prefix_hits for engine in engines),
        prompt_tokens=_sum(engine.prompt_tokens for engine in engines),
        generation_tokens=_sum(engine.generation_tokens for engine in engines),
        steps=_sum(engine.steps for engine in engines),
        finished=finished,
        rejected=first.rejected,  # counted at the door, which all engines share
        blocks=first.blocks,
        block_tokens=first.block_tokens,
        pool_tokens=first.pool_tokens,
        prefix_caching=first.prefix_caching,
        queued=_merged(engine.queued for engine in engines),
    )


def _merged(histograms: Iterable[Histogram | None]) -> Histogram | None:
    """All of them as one, where they are cut alike."""
    known = [each for each in histograms if each is not None]
    if not known or len({each.edges for each in known}) > 1:
        return None
    counts = tuple(sum(column) for column in zip(*(each.counts for each in known), strict=True))
    return Histogram(edges=known[0].edges, counts=counts, total=_added(each.total for each in known))
