"""The dashboard: held against Grafana's own model of one, and against the tables."""

import itertools
import json
import re
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from oomph.engines.vllm.metrics import shown
from oomph.engines.vllm.releases import HISTORY
from oomph.write.monitoring.dashboard import dashboard_json
from oomph.write.monitoring.fleet import FEW, MANY, Fleet
from oomph.write.monitoring.panels import ROWS
from oomph.write.monitoring.rules import Rules

SIZES = (FEW, MANY, MANY + 1)
RELEASES = ("0.6.0", "0.8.5", "0.19.1", "0.32.0")

register_default_plugins()


def drawn(number: str, size: int = 1, tenant: str = "namespace") -> dict[str, Any]:
    rules = Rules(release=HISTORY.release(number), fleet=Fleet(size=size, tenant=tenant))
    held: dict[str, Any] = json.loads(dashboard_json(rules))
    return held


def queries(dashboard: dict[str, Any]) -> list[str]:
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


@pytest.mark.parametrize(("number", "size"), [*itertools.product(RELEASES, SIZES)])
def test_grafana_reads_the_dashboard_and_loses_nothing_of_it(number: str, size: int) -> None:
    ours = drawn(number, size)
    theirs = json.loads(JSONEncoder().encode(Dashboard.from_json(ours)))

    assert theirs == ours


def test_what_grafana_does_not_know_would_be_seen() -> None:
    ours = drawn("0.32.0")
    ours["panels"][1]["fieldConfig"]["defaults"]["custom"]["fillOpacty"] = 3
    theirs = json.loads(JSONEncoder().encode(Dashboard.from_json(ours)))

    assert theirs != ours


@pytest.mark.parametrize(("number", "size"), [*itertools.product(RELEASES, SIZES)])
def test_every_query_reads_what_the_release_shows_or_the_rules_record(number: str, size: int) -> None:
    rules = Rules(release=HISTORY.release(number), fleet=Fleet(size=size))
    names = {metric.scraped for metric in shown(rules.release)}
    waits = [record for _, records in rules.records.of_waits() for record in records]
    recorded = {record.name for record in (*rules.records.of_models(), *waits)}
    text = " ".join(queries(drawn(number, size)))

    assert {name.removesuffix("_bucket") for name in re.findall(r"vllm:\w+", text)} <= names
    assert set(re.findall(r"model:oomph_\w+:\w+", text)) <= recorded
    assert ("oomph_" in text) == (size > MANY)


@pytest.mark.parametrize("size", SIZES)
def test_rows_stand_below_each_other_and_panels_beside_each_other(size: int) -> None:
    panels = drawn("0.32.0", size)["panels"]
    places = [panel["gridPos"] for panel in panels]
    taken = {
        (place["x"] + x, place["y"] + y)
        for place in places
        for x, y in itertools.product(range(place["w"]), range(place["h"]))
    }

    assert [panel["title"] for panel in panels if panel["type"] == "row"] == list(ROWS)
    assert len(taken) == sum(place["w"] * place["h"] for place in places)
    assert all(place["x"] + place["w"] <= 24 for place in places)
    assert min(place["w"] for place in places) >= 6
    assert all(
        sum(place["w"] for place in places if place["y"] == top) == 24 for top in {place["y"] for place in places}
    )
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_a_reader_chooses_the_source_the_tenant_the_model_and_the_engine() -> None:
    few, many = (drawn("0.32.0", size, tenant="team")["templating"]["list"] for size in (1, 10_000))

    assert [each["name"] for each in few] == ["datasource", "tenant", "model_name", "instance", "engine"]
    assert [each["name"] for each in many] == ["datasource", "tenant", "model_name"]
    assert few[2]["query"] == 'label_values(vllm:num_requests_running{team=~"$tenant"}, model_name)'


@pytest.mark.parametrize("size", SIZES)
def test_a_query_asks_no_variable_that_nobody_can_choose(size: int) -> None:
    dashboard = drawn("0.32.0", size)
    known = {each["name"] for each in dashboard["templating"]["list"]} | {"__rate_interval"}

    assert set(re.findall(r"\$(\w+)", " ".join(queries(dashboard)))) <= known


def named(dashboard: dict[str, Any], title: str) -> dict[str, Any]:
    return next(panel for panel in dashboard["panels"] if panel["title"] == title)


@pytest.mark.parametrize("size", SIZES)
def test_the_table_of_pools_has_a_row_of_its_own_and_no_column_that_tells_nothing(size: int) -> None:
    pools = named(drawn("0.32.0", size), "Pools")
    (organized,) = pools["transformations"]
    shown_columns = re.findall(r"\w+", pools["targets"][0]["expr"].partition("by (")[2].partition(")")[0])

    assert pools["gridPos"]["w"] == 24
    assert organized["options"]["excludeByName"] == {"Time": True}
    assert list(organized["options"]["indexByName"]) == [*shown_columns, "Value"]
    assert organized["options"]["renameByName"]["Value"] == "engines"


@pytest.mark.parametrize("size", SIZES)
def test_a_panel_says_by_what_its_curves_stand_apart_only_where_they_do(size: int) -> None:
    finished = named(drawn("0.32.0", size), "Requests finished a second")
    (target,) = finished["targets"]

    assert ("finished_reason" in target["expr"]) == ("{{finished_reason}}" in target["legendFormat"]) == (size <= MANY)
    assert finished["description"].startswith("By reason." if size <= MANY else "Whatever the reason.")


@pytest.mark.parametrize(("number", "size"), [*itertools.product(RELEASES, SIZES)])
def test_every_curve_has_a_unit_a_name_and_a_word_for_when_it_is_missing(number: str, size: int) -> None:
    for panel in drawn(number, size)["panels"]:
        if panel["type"] != "timeseries":
            continue
        legends = [target["legendFormat"] for target in panel["targets"]]

        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["fieldConfig"]["defaults"]["noValue"]
        assert panel["description"].endswith(".")
        assert len(set(legends)) == len(legends)
        assert all("p99" in legend or "p50" in legend for legend in legends) == panel["title"].startswith("Time ")
