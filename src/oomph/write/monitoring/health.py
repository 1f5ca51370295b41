"""Alerts on engines that are gone, begin again, hang, or answer with errors.

vLLM ends with exit status 0 when its engine dies, and /health and /metrics stay fine while it hangs: so what counts is
whether it is scraped, since when it runs, and whether tokens come.
"""

from collections.abc import Iterator
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.monitoring.questions import Question
from oomph.engines.vllm.monitoring.server import beginnings, up
from oomph.engines.vllm.monitoring.sources import Source
from oomph.write.monitoring.alert import Alert, Severity, Trial, of
from oomph.write.monitoring.fleet import Fleet
from oomph.write.monitoring.records import Records

WHERE: Final = "{{ $labels.instance }} {{ $labels.pod }}"
WHO: Final = "{{ $labels.model_name }} on {{ $labels.instance }} {{ $labels.pod }} engine {{ $labels.engine }}"
_NONE_OF_MANY: Final = 2  # minutes: not all of many start at once
_STEADY: Final = of(Source.UP, "1x120")


def health(records: Records, release: Release) -> Iterator[Alert]:
    """Those that this release has the metrics for."""
    yield from _gone(records.fleet)
    yield from _begun_again(records.fleet, release)
    yield _hung(records)
    if Question.SERVER_ERROR_SHARE in records:
        yield _answers_errors(records)
    yield _fails(records)


def _gone(fleet: Fleet) -> Iterator[Alert]:
    """Not before a start could be over: nobody should be called for one."""
    scraped, start = up((fleet.of_job,)), fleet.startup_minutes
    starting = f"1x10 0x{start - 1} 1x20"  # promtool writes one sample more than the number says
    patience = start if fleet.size == 1 else min(start, _NONE_OF_MANY)
    yield Alert(
        name="VllmDown",
        text=f"{scraped} == 0",
        lasts=start,
        severity=Severity.CRITICAL,
        summary=f"vLLM on {WHERE} is not scraped",
        description=f"For longer than the {start} minutes that a start may take: the server is gone, or too busy to "
        "answer. If it died, its log says of what: oomph explain LOG. An engine that runs out of memory ends with exit "
        "status 0.",
        keeps=fleet.target,
        fires=Trial(series=(of(Source.UP, f"1x10 0x{start + 20}"),), minute=start + 15),
        silent=Trial(series=(of(Source.UP, "1x20 0 1x20"),), minute=22),
        silent_too=(Trial(series=(of(Source.UP, starting),), minute=10 + start, when="while it starts"),),
        shows="0",
        rule="NO005",
    )
    yield Alert(
        name="VllmNoneUp",
        text=f"absent({scraped} == 1)",
        lasts=patience,
        severity=Severity.CRITICAL,
        summary="no vLLM is scraped at all",
        description="Every target is down, or none is left: a pod that was removed is no target that is down.",
        keeps=(),
        fires=Trial(series=(of(Source.UP, "1x10 _x30"),), minute=30 + patience),
        silent=Trial(series=(of(Source.UP, "0x40"), of(Source.UP, "1x40", instance="10.0.0.2:8000"))),
        shows="1",
        rule="NO005",
    )


def _begun_again(fleet: Fleet, release: Release) -> Iterator[Alert]:
    """By the time the server was started, and where several processes answer as one, by counters that fell."""
    by_time, by_counter = beginnings(release, by=fleet.target, job=fleet.job, window="15m")
    yield Alert(
        name="VllmRestarted",
        text=f"{by_time} > 0 or {by_counter} > 0",
        lasts=0,
        severity=Severity.WARNING,
        summary=f"vLLM on {WHERE} began again",
        description="{{ $value }} times in 15 minutes. Every request that was running was lost. If nobody restarted "
        "it, the log before the last start says why: oomph explain LOG.",
        keeps=fleet.target,
        fires=Trial(series=(of(Source.STARTED, "1000x20 3000x20"),)),
        silent=Trial(series=(of(Source.STARTED, "1000x40"), of(Source.GENERATED, "0+100x40"))),
        shows="1",
        rule="SV001",
    )
    by_time, by_counter = beginnings(release, by=fleet.target, job=fleet.job, window="1h")
    yield Alert(
        name="VllmRestartsOften",
        text=f"{by_time} >= 3 or {by_counter} >= 3",
        lasts=0,
        severity=Severity.CRITICAL,
        summary=f"vLLM on {WHERE} begins again and again",
        description="{{ $value }} times in an hour. Something in the load or the set-up ends it each time: "
        "oomph explain LOG, then oomph plan with the same flags.",
        keeps=fleet.target,
        fires=Trial(series=(of(Source.GENERATED, "0+100x9 0+100x9 0+100x9 0+100x9"),), minute=45),
        silent=Trial(series=(of(Source.GENERATED, "0+100x20 0+100x40"),), minute=45),
        shows="3",
        rule="SV001",
    )


def _hung(records: Records) -> Alert:
    """A long prompt makes no token for a while, but takes blocks: so the pool must stand still as well."""
    running, used = records.engine(Question.RUNNING), records.engine(Question.KV_USED)
    generated, prompted = records.engine(Question.GENERATED), records.engine(Question.PROMPTED)
    still = (of(Source.GENERATED, "0+600x10 6000x60"), of(Source.PROMPTED, "0+900x10 9000x60"))
    return Alert(
        name="VllmHung",
        text=f"{running} > 0 and {generated} == 0 and {prompted} == 0 and changes({used}[5m]) == 0",
        lasts=5,
        severity=Severity.CRITICAL,
        summary=f"{WHO} hangs",
        description="{{ $value }} requests run, and for minutes there was no token and no block taken or given back, "
        "while /health and /metrics answer. Restart the engine; keep its log and a stack (py-spy dump) first.",
        keeps=records.fleet.engine,
        fires=Trial(series=(_STEADY, of(Source.RUNNING, "4x70"), of(Source.KV_USED, "0.4x70"), *still)),
        silent=Trial(series=(_STEADY, of(Source.RUNNING, "1x70"), of(Source.KV_USED, "0.1+0.01x70"), *still)),
        shows="4",
    )


def _answers_errors(records: Records) -> Alert:
    return Alert(
        name="VllmServerErrors",
        text=f"{records.engine(Question.SERVER_ERROR_SHARE)} > 0.01",
        lasts=5,
        severity=Severity.CRITICAL,
        summary=f"vLLM on {WHERE} answers with 5xx",
        description="{{ $value | humanizePercentage }} of its answers. 500 in a row: the engine died under its "
        "server. 503: it refuses what it cannot queue. A stream that was refused or broke is counted as 200.",
        keeps=records.fleet.target,
        fires=Trial(series=(of(Source.ANSWERED, "0+54x40", status="2xx"), of(Source.ANSWERED, "0+6x40", status="5xx"))),
        silent=Trial(series=(of(Source.ANSWERED, "0+60x40", status="2xx"), of(Source.ANSWERED, "3x40", status="5xx"))),
        shows="10%",
        rule="NO005",
    )


def _fails(records: Records) -> Alert:
    failed, finished = records.engine(Question.FAILED), records.engine(Question.FINISHED)
    good, bad = {"finished_reason": "stop"}, {"finished_reason": "abort"}
    return Alert(
        name="VllmRequestsFail",
        text=f"{failed} > 0.01 * {finished}",
        lasts=5,
        severity=Severity.WARNING,
        summary=f"{WHO} gives up requests",
        description="{{ $value | humanize }} a second end with finished_reason error (0.13.0 and newer) or abort. The "
        "engine lives, and its log says why. Clients that hang up are not counted by vLLM.",
        keeps=records.fleet.engine,
        fires=Trial(series=(of(Source.FINISHED, "0+60x40", **good), of(Source.FINISHED, "0+6x40", **bad))),
        silent=Trial(series=(of(Source.FINISHED, "0+60x40", **good), of(Source.FINISHED, "2x40", **bad))),
        shows="100m",
    )
