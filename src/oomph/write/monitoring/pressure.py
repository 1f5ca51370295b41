"""Alerts on pools that are too small for what is asked of them, and on queues.

A full pool alone is no alert: it is what a pool is for. `kv_cache_usage_perc` counts the blocks that requests hold; a
block that only keeps a prefix for later counts as free. So 100 % means that no request can grow without another being
set back, and it hurts only when that happens, or when others wait.
"""

from collections.abc import Iterator
from typing import Final

from oomph.engines.vllm.monitoring.questions import Question
from oomph.engines.vllm.monitoring.sources import Source
from oomph.write.monitoring.alert import Alert, Sampled, Severity, Trial, of
from oomph.write.monitoring.health import WHO
from oomph.write.monitoring.records import Records

_MODEL: Final = "{{ $labels.model_name }}"
_NOW_AND_THEN: Final = "0x3 1 0x3 1 0x3 1 0x3 1 0x3 1 0x3 1 0x3 1 0x3 1 0x3 1 0x3 1"  # one scrape of five saw one wait
_STEPS: Final = (  # values, the minute that is asked, and what it was
    ("0.3x30 0.7x40", 54, "after a step"),
    ("0.3x30 0.35+0.05x9 0.85x40", 49, "after ten minutes of filling"),
    ("0.6x20 _x4 0x14 0.7x40", 66, "after a restart"),
    ("_x20 0x4 0.6x40", 50, "after a first start"),
)
_FINISHING: Final = of(Source.FINISHED, "0+60x100", finished_reason="stop")


def pressure(records: Records) -> Iterator[Alert]:
    """Those that this release has the metrics for."""
    yield _preempts(records)
    yield _saturated(records)
    yield _filling(records)
    yield from _waiting(records)
    if Question.QUEUED in records:
        yield _queued(records)
    if Question.REJECTED in records:
        yield _rejects(records)


def capacity(records: Records) -> Question:
    """Who waits for room; releases that do not say why count all who wait."""
    return Question.WAITING_FOR_CAPACITY if Question.WAITING_FOR_CAPACITY in records else Question.WAITING


def lately(recorded: str) -> str:
    """A gauge jumps from scrape to scrape as requests come and go; what it was on average does not."""
    return f"avg_over_time({recorded}[5m])"


def queue(records: Records, values: str, **labels: str) -> tuple[Sampled, ...]:
    """The same in a trial."""
    said = of(Source.WAITING, values, **labels)
    by_reason = of(Source.WAITING_BY_REASON, values, reason="capacity", **labels)
    return (said, by_reason) if capacity(records) is Question.WAITING_FOR_CAPACITY else (said,)


def _preempts(records: Records) -> Alert:
    preemptions, finished = records.engine(Question.PREEMPTIONS), records.engine(Question.FINISHED)
    return Alert(
        name="VllmPreempts",
        text=f"{preemptions} > 0 and {preemptions} > 0.1 * {finished}",
        lasts=5,
        severity=Severity.WARNING,
        summary=f"{WHO} sets requests back",
        description="{{ $value | humanize }} preemptions a second, more than one for ten requests that finish. What "
        "they had computed is computed again; clients see it as latency only. Fewer requests at once "
        "(--max-num-seqs) or a larger pool: oomph fit.",
        keeps=records.fleet.engine,
        fires=Trial(series=(of(Source.PREEMPTIONS, "0+30x40"), _FINISHING)),
        silent=Trial(series=(of(Source.PREEMPTIONS, "0+3x40"), _FINISHING)),
        shows="500m",
        rule="NO002",
    )


def _saturated(records: Records) -> Alert:
    used, waiting = lately(records.engine(Question.KV_USED)), lately(records.engine(capacity(records)))
    full = of(Source.KV_USED, "0.99x40")
    return Alert(
        name="VllmPoolSaturated",
        text=f"{used} > 0.9 and ({records.engine(Question.PREEMPTIONS)} > 0 or {waiting} > 1)",
        lasts=5,
        severity=Severity.WARNING,
        summary=f"the KV pool of {WHO} is full, and requests wait or are set back",
        description="{{ $value | humanizePercentage }} of its blocks are held by requests (cached prefixes count as "
        "free). It runs at its limit: add engines, or make room: oomph fit.",
        keeps=records.fleet.engine,
        fires=Trial(series=(full, of(Source.PREEMPTIONS, "0x40"), *queue(records, "3x40"))),
        silent=Trial(series=(full, of(Source.PREEMPTIONS, "7x40"), *queue(records, "0x40"))),
        silent_too=(
            Trial(
                series=(full, of(Source.PREEMPTIONS, "0x40"), *queue(records, _NOW_AND_THEN)),
                when="while one waits now and then",
            ),
        ),
        shows="99%",
        rule="NO002",
    )


def _filling(records: Records) -> Alert:
    """Half an hour alone takes one step for a trend; a step leaves the last ten minutes before it has lasted."""
    used = records.engine(Question.KV_USED)
    slow, fast = (f"predict_linear({used}[{window}], 3600) > 1" for window in ("30m", "10m"))
    return Alert(
        name="VllmPoolFilling",
        text=f"{slow} and {fast} and {lately(used)} > 0.5 and {lately(used)} <= 0.9",
        lasts=15,
        severity=Severity.WARNING,
        summary=f"the KV pool of {WHO} will be full within the hour",
        description="At the pace of the last half hour, and of the last ten minutes, requests would hold "
        "{{ $value | humanizePercentage }} of its blocks an hour from now. When they hold all, they wait or are set "
        "back: add engines before.",
        keeps=records.fleet.engine,
        fires=Trial(series=(of(Source.KV_USED, "0.2+0.01x60"),), minute=60),
        silent=Trial(series=(of(Source.KV_USED, "0.8x60"),), minute=60),
        silent_too=tuple(
            Trial(series=(of(Source.KV_USED, values),), minute=minute, when=when) for values, minute, when in _STEPS
        ),
        shows="140%",
        rule="NO002",
    )


def _waiting(records: Records) -> Iterator[Alert]:
    asked = (capacity(records), Question.RUNNING, Question.KV_USED)
    waiting, running, used = (lately(records.engine(question)) for question in asked)
    eight = of(Source.RUNNING, "8x60")
    yield Alert(
        name="VllmQueueLong",
        text=f"{waiting} > {running} and {waiting} > 1",
        lasts=5,
        severity=Severity.WARNING,
        summary=f"more requests wait for {WHO} than run in it",
        description="{{ $value | humanize }} wait for room, on average of five minutes. More arrive than it can serve.",
        keeps=records.fleet.engine,
        fires=Trial(series=(eight, *queue(records, "20x60"))),
        silent=Trial(series=(eight, *queue(records, "0x9 20x2 0x40")), minute=12),
        silent_too=(
            Trial(
                series=(of(Source.RUNNING, "0x60"), *queue(records, _NOW_AND_THEN)),
                when="while hardly anybody asks",
            ),
        ),
        shows="20",
        rule="NO002",
    )
    yield Alert(
        name="VllmWaitsBesideFreePool",
        text=f"{waiting} > 1 and {used} < 0.5",
        lasts=10,
        severity=Severity.INFO,
        summary=f"requests wait for {WHO} although half of its pool is free",
        description="{{ $value | humanize }} wait, on average of five minutes. Memory is not what they wait for: "
        "--max-num-seqs or --max-num-batched-tokens is lower than the pool allows.",
        keeps=records.fleet.engine,
        fires=Trial(series=(of(Source.KV_USED, "0.3x60"), *queue(records, "5x60"))),
        silent=Trial(series=(of(Source.KV_USED, "0.9x60"), *queue(records, "5x60"))),
        silent_too=(
            Trial(
                series=(of(Source.KV_USED, "0.3x60"), *queue(records, _NOW_AND_THEN)),
                when="while one waits now and then",
            ),
        ),
        shows="5",
    )
    if Question.WAITING_DEFERRED in records:
        yield _deferred(records)


def _deferred(records: Records) -> Alert:
    """Some always wait for a moment where blocks come from elsewhere; more than run is a fault."""
    deferred, running = (lately(records.engine(asked)) for asked in (Question.WAITING_DEFERRED, Question.RUNNING))
    few = of(Source.RUNNING, "4x60")
    return Alert(
        name="VllmRequestsDeferred",
        text=f"{deferred} > {running} and {deferred} > 1",
        lasts=15,
        severity=Severity.WARNING,
        summary=f"more requests of {WHO} are passed over than run",
        description="{{ $value | humanize }} wait, on average of five minutes, not for room but for something of their "
        "own: a slot for their adapter (--max-loras), blocks that are fetched from elsewhere, or a grammar that is "
        "compiled.",
        keeps=records.fleet.engine,
        fires=Trial(series=(few, of(Source.WAITING_BY_REASON, "8x60", reason="deferred"))),
        silent=Trial(series=(few, of(Source.WAITING_BY_REASON, "8x10 0x50", reason="deferred"))),
        silent_too=(
            Trial(
                series=(of(Source.RUNNING, "20x60"), of(Source.WAITING_BY_REASON, "2x60", reason="deferred")),
                when="while a few blocks are always on their way",
            ),
        ),
        shows="8",
    )


def _queued(records: Records) -> Alert:
    """At the level of the model: who waits is a user, whichever engine took him."""
    inf = {"le": "+Inf"}
    return Alert(
        name="VllmQueueTimeHigh",
        text=f"{records.model(Question.QUEUED)} > 10",
        lasts=10,
        severity=Severity.WARNING,
        summary=f"requests to {_MODEL} wait long before they run",
        description="One of a hundred waited longer than {{ $value | humanizeDuration }}.",
        keeps=records.fleet.served,
        fires=Trial(series=(of(Source.QUEUED, "0x60", le="10.0"), *_waited("0+60x60", "20.0", **inf))),
        silent=Trial(series=(of(Source.QUEUED, "0+60x60", le="10.0"), *_waited("0+60x60", "20.0", **inf))),
        shows="19.9s",
        rule="NO002",
    )


def _waited(values: str, upper: str, **highest: str) -> tuple[Sampled, ...]:
    return of(Source.QUEUED, values, le=upper), of(Source.QUEUED, values, **highest)


def _rejects(records: Records) -> Alert:
    reason = {"reason": "max_num_queued_reqs"}
    return Alert(
        name="VllmRejects",
        text=f"{records.engine(Question.REJECTED)} > 0",
        lasts=5,
        severity=Severity.WARNING,
        summary=f"{_MODEL} on {{{{ $labels.instance }}}} turns requests away",
        description="{{ $value | humanize }} a second are refused: its queue is as long as --max-num-queued-reqs or "
        "--max-num-queued-tokens allows. They get 503, and streams get 200 with an error in it. Add engines.",
        keeps=tuple(label for label in records.fleet.engine if label != "engine"),
        fires=Trial(series=(of(Source.REJECTED, "0+30x60", **reason),)),
        silent=Trial(series=(of(Source.REJECTED, "0+30x5 150x60", **reason),)),
        shows="500m",
    )
