"""The dashboard as Grafana imports it: one JSON object, every query from the table that the rules are made of.

Knows Grafana's schema as of 11.6, as far as it is used here, and at which size of a fleet a picture shows engines,
models or only what was recorded. Does not know any metric.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from oomph.engines.vllm.monitoring.expression import Quantile, Scope, folded, series
from oomph.engines.vllm.monitoring.questions import Question
from oomph.engines.vllm.monitoring.server import beginnings, up
from oomph.engines.vllm.monitoring.sources import Source, scraped
from oomph.write.monitoring.fleet import FEW, MANY, Fleet
from oomph.write.monitoring.panels import ROWS, Asked, Panel
from oomph.write.monitoring.pools import PROMETHEUS, Json, pools_table
from oomph.write.monitoring.rules import Rules

_SCHEMA: Final = 41
_WIDTH: Final = 24  # columns of Grafana's grid
_HEIGHT: Final = 8
_BESIDE: Final = 4  # panels in one line
_CURVE: Final = {"fillOpacity": 8, "lineWidth": 1, "showPoints": "never"}
_OF_SERVER: Final = frozenset({Question.ANSWERED, Question.SERVER_ERRORS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One curve."""

    text: str
    legend: str


def dashboard_json(rules: Rules) -> str:
    """The file."""
    fleet = rules.fleet
    return (
        json.dumps(
            {
                "uid": "oomph-vllm",
                "title": f"vLLM {rules.release} memory and load",
                "description": f"By oomph export grafana --release {rules.release} --fleet {fleet.size}. The names of "
                "metrics change between releases: export again when you upgrade.",
                "tags": ["vllm", "oomph"],
                "timezone": "browser",
                "editable": True,
                "graphTooltip": 1,
                "time": {"from": "now-1h", "to": "now"},
                "fiscalYearStartMonth": 0,
                "refresh": f"{max(fleet.interval, 30)}s",
                "schemaVersion": _SCHEMA,
                "panels": list(_placed(rules)),
                "templating": {"list": list(_variables(rules))},
                "annotations": {},
            },
            indent=2,
        )
        + "\n"
    )


def _placed(rules: Rules) -> Iterator[Json]:
    """Rows of panels side by side, each with its place in the grid."""
    top, number = 0, 1
    for title, panels in ROWS.items():
        made = [each for panel in panels if (each := _pictured(rules, panel)) is not None]
        made += _of_servers(rules) if title == "Engine health" else []
        place = {"h": 1, "w": _WIDTH, "x": 0, "y": top}
        yield {"type": "row", "collapsed": False, "title": title, "gridPos": place, "id": number, "panels": []}
        number, top = number + 1, top + 1
        for line in (
            *_lines(made),
            *([[pools_table(rules.release, *level(rules.fleet))]] if title == "Capacity" else []),
        ):
            width = _WIDTH // len(line)
            for column, panel in enumerate(line):
                place = {"h": _HEIGHT, "w": width, "x": column * width, "y": top}
                yield {**panel, "id": number, "gridPos": place}
                number += 1
            top += _HEIGHT


def _lines(panels: list[Json]) -> Iterator[list[Json]]:
    """As many beside each other as can be read, and as many in each line as in the next."""
    lines = -(-len(panels) // _BESIDE)
    step = -(-len(panels) // lines)
    return (panels[begin : begin + step] for begin in range(0, len(panels), step))


def _pictured(rules: Rules, panel: Panel) -> Json | None:
    """A panel, unless the release answers none of its questions."""
    queries = [query for asked in panel.asks for query in _queries(rules, asked)]
    bounds = {"min": 0, "max": 1} if panel.share else {"min": 0}
    field = {"unit": panel.unit, **bounds, "noValue": panel.empty}
    return _timeseries(panel.title, _words(rules.fleet, panel), field, queries) if queries else None


def _words(fleet: Fleet, panel: Panel) -> str:
    """As its curves are at this size of a fleet."""
    apart = f"By {panel.parts}." if fleet.size <= MANY else f"Whatever the {panel.parts}."
    said = (apart if panel.parts else "", panel.words, panel.of_many if fleet.size > FEW else "")
    return " ".join(sentence for sentence in said if sentence)


def _queries(rules: Rules, asked: Asked) -> Iterator[Query]:
    answer = rules.records.answers.get(asked.question)
    if answer is None:
        return
    fleet = rules.fleet
    by, where = level(fleet, asked.question)
    label = f" {asked.label}" if asked.label else ""
    suffix = f" {answer.operation}" if isinstance(answer, Quantile) else ""
    if fleet.size > MANY:
        yield Query(text=series(rules.records.model(asked.question), where), legend=_legend(by) + label + suffix)
        return
    scope = Scope(by=(*by, *asked.apart), where=where, window="$__rate_interval")
    yield Query(text=answer.text(scope), legend=_legend(scope.by) + label + suffix)
    if asked.half and isinstance(answer, Quantile):
        yield Query(text=replace(answer, share=0.5).text(scope), legend=f"{_legend(scope.by)}{label} p50")


def level(fleet: Fleet, question: Question | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels that stay apart, and the matchers that the variables fill."""
    of_server = question is None or question in _OF_SERVER
    few, recorded = fleet.size <= FEW, fleet.size > MANY
    by = ((fleet.tenant, "instance") if few else (fleet.tenant,)) if of_server else fleet.served
    by = (*fleet.served, "instance", "engine") if few and not of_server else by
    asked = {fleet.tenant: "tenant"} | ({} if of_server else {"model_name": "model_name"})
    asked |= {} if recorded else {"instance": "instance"}
    asked |= {"engine": "engine"} if not (recorded or of_server or question is Question.REJECTED) else {}
    return by, tuple(f'{label}=~"${variable}"' for label, variable in asked.items())


def _legend(labels: tuple[str, ...]) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in labels)


def _of_servers(rules: Rules) -> list[Json]:
    """Who is there, and who began again."""
    by, where = level(rules.fleet)
    there = folded("sum", by, up((rules.fleet.of_job, *where)))
    again = " or ".join(beginnings(rules.release, by=by, job=rules.fleet.job, where=where, window="1h"))
    few = rules.fleet.size <= FEW
    whole = {"unit": "none", "min": 0, "decimals": 0}
    up_words = "1 where the last scrape succeeded, 0 where it failed." if few else "How many answered the last scrape."
    most = "" if few else " Of all servers of a tenant, the one that did so most often."
    return [
        _timeseries(
            "Servers that answer",
            f"{up_words} A server that was removed has no curve.",
            {**whole, "noValue": f"no target of a job {rules.fleet.job}"},
            [Query(text=there, legend=_legend(by))],
        ),
        _timeseries(
            "Times it began again within the last hour",
            f"Every request that was running was lost each time.{most}",
            {**whole, "noValue": "no server tells when it was started"},
            [Query(text=again, legend=_legend(by))],
        ),
    ]


def _timeseries(title: str, words: str, field: Json, queries: list[Query]) -> Json:
    return {
        "type": "timeseries",
        "title": title,
        "description": words,
        "transparent": False,
        "datasource": PROMETHEUS,
        "repeatDirection": "h",
        "fieldConfig": {"defaults": field | {"custom": _CURVE}, "overrides": []},
        "targets": [
            {
                "refId": chr(ord("A") + place),
                "datasource": PROMETHEUS,
                "expr": query.text,
                "legendFormat": query.legend,
            }
            for place, query in enumerate(queries)
        ],
    }


def _variables(rules: Rules) -> Iterator[Json]:
    """What a reader chooses: the source, and whom he asks; each from what those before it leave."""
    usual = {"skipUrlSync": False, "allowCustomValue": True, "auto": False, "auto_min": "10s", "auto_count": 30}
    yield usual | {
        "type": "datasource",
        "name": "datasource",
        "label": "Prometheus",
        "query": "prometheus",
        "multi": False,
        "includeAll": False,
    }
    running = scraped(Source.RUNNING, rules.release) or ""
    chosen: tuple[str, ...] = ()
    names = {"tenant": rules.fleet.tenant, "model_name": "model_name", "instance": "instance", "engine": "engine"}
    for name, label in names.items():
        if rules.fleet.size > MANY and name in {"instance", "engine"}:
            continue
        yield usual | {
            "type": "query",
            "name": name,
            "label": label,
            "datasource": PROMETHEUS,
            "query": f"label_values({series(running, chosen)}, {label})",
            "multi": True,
            "includeAll": True,
            "allValue": ".*",  # also of a label that nobody sets
            "refresh": 2,
            "sort": 1,
        }
        chosen = (*chosen, f'{label}=~"${name}"')
