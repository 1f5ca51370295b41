"""Alerts on a pool or a load that is not what was planned, and on a prefix cache that finds nothing."""

from collections.abc import Iterator

from oomph.engines.history import Release
from oomph.engines.vllm.monitoring.expression import folded, series
from oomph.engines.vllm.monitoring.questions import Question
from oomph.engines.vllm.monitoring.sources import Source, scraped
from oomph.ledger.planned_pool import PlannedPool
from oomph.write.monitoring.alert import Alert, Sampled, Severity, Trial, of
from oomph.write.monitoring.at_least import at_least
from oomph.write.monitoring.health import WHERE, WHO
from oomph.write.monitoring.pressure import capacity, lately, queue
from oomph.write.monitoring.records import Records


def worth(records: Records, release: Release, plan: PlannedPool | None) -> Iterator[Alert]:
    """Those that this release has the metrics for, and what the plan gives measures for."""
    if Question.PREFIX_HIT_SHARE in records:
        yield _useless(records)
    if plan is not None:
        yield _fewer(records, release, plan)
    if plan is not None and plan.concurrency is not None:
        yield _exceeds(records, plan.concurrency)


def _useless(records: Records) -> Alert:
    rare, usual = _found(records)
    share = records.engine(Question.PREFIX_HIT_SHARE)
    return Alert(
        name="VllmPrefixCacheFindsNothing",
        text=f"({share} >= 0) < 0.05",
        lasts=60,
        severity=Severity.INFO,
        summary=f"the prefix cache of {WHO} finds next to nothing",
        description="{{ $value | humanizePercentage }} of the prompt tokens were found. It costs no memory, so do not "
        "turn it off for that: either prompts share no beginning, or like ones are spread over engines "
        "(route by prefix), or the pool is too small to keep them.",
        keeps=records.fleet.engine,
        fires=Trial(series=rare, minute=120),
        silent=Trial(series=usual, minute=120),
        shows="1%",
    )


def _found(records: Records) -> tuple[tuple[Sampled, ...], tuple[Sampled, ...]]:
    """One token of a hundred, and half of them; in releases that tell a rate, one that says it counts none."""
    if Question.PREFIX_HITS not in records:
        return (of(Source.PREFIX_RATE, "0.01x160"),), (of(Source.PREFIX_RATE, "-1x160"),)
    asked = of(Source.PREFIX_QUERIES, "0+600x160")
    return (asked, of(Source.PREFIX_HITS, "0+6x160")), (asked, of(Source.PREFIX_HITS, "0+300x160"))


def _fewer(records: Records, release: Release, plan: PlannedPool) -> Alert:
    """The number stands in a label: what is not below the planned one is matched, and the rest fires."""
    fleet = records.fleet
    least = plan.least_blocks * plan.engines
    name = scraped(Source.POOL, release) or ""
    pool = series(name, (fleet.of_job, 'num_gpu_blocks=~"[0-9]+"', f'num_gpu_blocks!~"{at_least(least)}"'))
    served = f" and on ({', '.join(fleet.target)}) {_serving(records, release)}" if fleet.model else ""
    keeps = (*fleet.target, "engine", "num_gpu_blocks")
    short, enough = str(max(least - 1, 0)), str(least)
    serving = of(Source.RUNNING, "0x40", **({"model_name": fleet.model} if fleet.model else {}))
    return Alert(
        name="VllmFewerBlocksThanPlanned",
        text=folded("max", keeps, f"{pool}{served}"),
        lasts=5,
        severity=Severity.WARNING,
        summary=f"vLLM on {WHERE} has a smaller KV pool than was planned",
        description=f"{{{{ $labels.num_gpu_blocks }}}} blocks, where the plan said {plan.blocks * plan.engines} and no "
        f"fewer than {least}. Something else holds memory, or the flags are not those of the plan: oomph probe, and "
        "oomph explain of the start-up's log.",
        keeps=keeps,
        fires=Trial(series=(serving, of(Source.POOL, "1x40", num_gpu_blocks=short))),
        silent=Trial(series=(serving, of(Source.POOL, "1x40", num_gpu_blocks=enough))),
        shows="1",
        rule="PS002",
    )


def _serving(records: Records, release: Release) -> str:
    return series(scraped(Source.RUNNING, release) or "", (f'model_name="{records.fleet.model}"',))


def _exceeds(records: Records, concurrency: float) -> Alert:
    """Requests are mostly shorter than the longest, so more than were planned may run: it counts when they wait."""
    where = (f'model_name="{records.fleet.model}"',) if records.fleet.model else ()
    running, waiting, used = (
        lately(series(records.engine(question), where))
        for question in (Question.RUNNING, capacity(records), Question.KV_USED)
    )
    ours = {"model_name": records.fleet.model} if records.fleet.model else {}
    planned = int(concurrency)
    most = (of(Source.KV_USED, "0.85x40", **ours), of(Source.RUNNING, f"{planned}x40", **ours))
    many = of(Source.RUNNING, f"{3 * planned + 3}x40", **ours)
    return Alert(
        name="VllmLoadExceedsPlan",
        text=f"{running} + {waiting} > {concurrency:g} and {waiting} > 1 and {used} >= 0.8",
        lasts=10,
        severity=Severity.WARNING,
        summary=f"{WHO} is asked more than it was planned for",
        description='{{ $value | printf "%.0f" }} requests run or wait for room, on average of five minutes, and '
        f"the pool is four fifths full. The plan has room for {concurrency:g} of the longest at once, and for more "
        "that are shorter. Add engines, or plan anew for this load: oomph fit.",
        keeps=records.fleet.engine,
        fires=Trial(series=(*most, *queue(records, "5x40", **ours))),
        silent=Trial(series=(of(Source.KV_USED, "0.5x40", **ours), many, *queue(records, "5x40", **ours))),
        silent_too=(
            Trial(
                series=(of(Source.KV_USED, "0.95x40", **ours), many, *queue(records, "0x40", **ours)),
                when="while many short ones run and none waits",
            ),
        ),
        shows=str(planned + 5),
        rule="NO002",
    )
