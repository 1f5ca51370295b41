"""Rules for Prometheus: what they read, that they load, and that every alert fires and stays silent (promtool)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from oomph.diagnose.rule import rules as pages
from oomph.engines.vllm.metrics import shown
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UsageError
from oomph.ledger.planned_pool import PlannedPool
from oomph.write.monitoring.alert import Alert
from oomph.write.monitoring.at_least import at_least
from oomph.write.monitoring.dashboard import dashboard_json
from oomph.write.monitoring.fleet import Fleet
from oomph.write.monitoring.rules import FILE, Rules, read, rules_json, rules_yaml
from oomph.write.monitoring.trials import TESTS, a_job, trials_yaml
from write.monitoring.promtool import promtool

PLAN = PlannedPool(blocks=1_000, least_blocks=970, concurrency=8.0)
ONE = Fleet()
TEAM = Fleet(size=5000, tenant="team", job="llm-.*|vllm", model="qwen", runbooks="https://a.example/")
CHANGED = ("0.6.0", "0.6.4", "0.7.3", "0.8.3", "0.9.2", "0.10.2", "0.20.0", "0.32.0")  # names or answers


def exported(number: str = "0.32.0", *, plan: PlannedPool | None = PLAN, fleet: Fleet = ONE) -> Rules:
    return Rules(release=HISTORY.release(number), fleet=fleet, plan=plan)


def alerts(rules: Rules) -> dict[str, Alert]:
    return {alert.name: alert for group in rules.alerts.values() for alert in group}


def written(rules: Rules, folder: Path) -> Path:
    (folder / FILE).write_text(rules_yaml(rules))
    (folder / TESTS).write_text(trials_yaml(rules))
    return folder


@pytest.mark.parametrize("number", CHANGED)
def test_every_rule_loads(number: str, tmp_path: Path) -> None:
    done = promtool(written(exported(number), tmp_path), "check", "rules", FILE)

    assert done.returncode == 0, done.stderr
    assert "SUCCESS" in done.stdout


@pytest.mark.parametrize(
    ("number", "fleet"),
    [("0.32.0", ONE), ("0.8.5", TEAM), ("0.6.0", ONE)],
    ids=["0.32.0", "0.8.5 of a team", "0.6.0"],
)
def test_every_alert_fires_on_one_series_and_stays_silent_on_another(number: str, fleet: Fleet, tmp_path: Path) -> None:
    rules = exported(number, fleet=fleet)
    done = promtool(written(rules, tmp_path), "test", "rules", TESTS)

    assert done.returncode == 0, done.stdout
    tried = [test["name"] for test in yaml.safe_load(trials_yaml(rules))["tests"]]
    assert len(set(tried)) == len(tried)
    assert {name for name in tried if not re.search(" stays silent .", name)} == {
        f"{name} {end}" for name in alerts(rules) for end in ("fires", "stays silent")
    }


def failing(
    name: str, folder: Path, *, text: str | None = None, lasts: int | None = None, rules: Rules | None = None
) -> set[str]:
    """The trials that an alert would not pass if it asked for this instead, or lasted so long."""
    rules = rules or exported()
    alert = alerts(rules)[name]
    held = json.loads(rules_json(rules))
    ours = next(rule for group in held["groups"] for rule in group["rules"] if rule.get("alert") == name)
    ours |= {"expr": text or alert.text, "for": f"{alert.lasts if lasts is None else lasts}m"}
    tests = yaml.safe_load(trials_yaml(rules))
    tests["tests"] = [test for test in tests["tests"] if test["name"].startswith(f"{name} ")]
    (folder / FILE).write_text(json.dumps(held))
    (folder / TESTS).write_text(json.dumps(tests))
    done = promtool(folder, "test", "rules", TESTS)
    found = re.findall(rf"name: {name} ([^,]+),", done.stdout + done.stderr)

    assert done.returncode == (1 if found else 0)
    return set(found)


def test_an_alert_on_a_full_pool_alone_would_not_pass_its_own_trials(tmp_path: Path) -> None:
    alone = "avg_over_time(engine:oomph_kv_used:max[5m]) > 0.9"

    assert alerts(exported())["VllmPoolSaturated"].text.startswith(f"{alone} and ")
    assert failing("VllmPoolSaturated", tmp_path, text=alone) == {
        "stays silent",
        "stays silent while one waits now and then",
    }


def test_a_trend_of_half_an_hour_alone_would_take_every_step_for_one(tmp_path: Path) -> None:
    text = alerts(exported())["VllmPoolFilling"].text
    alone = text.replace(" and predict_linear(engine:oomph_kv_used:max[10m], 3600) > 1", "")

    assert alone != text
    assert failing("VllmPoolFilling", tmp_path, text=alone) == {
        "stays silent after a step",
        "stays silent after a restart",
        "stays silent after a first start",
    }
    assert failing("VllmPoolFilling", tmp_path, lasts=10) == {"stays silent after ten minutes of filling"}


WAITING, USED = (
    "avg_over_time(engine:oomph_waiting_for_capacity:sum[5m])",
    "avg_over_time(engine:oomph_kv_used:max[5m])",
)
RUNNING = "avg_over_time(engine:oomph_running:sum[5m])"


@pytest.mark.parametrize(
    ("name", "text", "missed"),
    [
        ("VllmWaitsBesideFreePool", f"{WAITING} > 0 and {USED} < 0.5", "while one waits now and then"),
        ("VllmQueueLong", f"{WAITING} > {RUNNING}", "while hardly anybody asks"),
        ("VllmRequestsDeferred", "engine:oomph_waiting_deferred:sum > 0", "while a few blocks are always on their way"),
        ("VllmLoadExceedsPlan", f"{RUNNING} > 8 and {USED} >= 0.8", "while many short ones run and none waits"),
    ],
)
def test_an_alert_that_asked_for_less_would_fire_in_everyday_life(
    name: str, text: str, missed: str, tmp_path: Path
) -> None:
    assert f"stays silent {missed}" in failing(name, tmp_path, text=text)


@pytest.mark.parametrize(("size", "minutes", "none"), [(1, 5, 5), (1, 20, 20), (60, 20, 2), (60, 1, 1)])
def test_nobody_is_called_while_a_server_starts(size: int, minutes: int, none: int, tmp_path: Path) -> None:
    rules = exported(fleet=Fleet(size=size, startup_minutes=minutes))

    assert (alerts(rules)["VllmDown"].lasts, alerts(rules)["VllmNoneUp"].lasts) == (minutes, none)
    assert failing("VllmDown", tmp_path, rules=rules) == set()
    assert failing("VllmNoneUp", tmp_path, rules=rules) == set()


def test_an_alert_after_a_minute_would_call_somebody_for_every_start(tmp_path: Path) -> None:
    assert failing("VllmDown", tmp_path, lasts=1) == {"stays silent while it starts"}


@pytest.mark.parametrize("asked", HISTORY.releases, ids=str)
def test_rules_read_only_what_the_release_shows_and_what_they_record(asked: object) -> None:
    rules = exported(str(asked))
    names = {metric.scraped for metric in shown(rules.release)}
    held = yaml.safe_load(rules_yaml(rules))["groups"]
    texts = [rule["expr"] for group in held for rule in group["rules"]]
    recorded = {rule["record"] for group in held for rule in group["rules"] if "record" in rule}

    assert {name.removesuffix("_bucket") for text in texts for name in re.findall(r"vllm:\w+", text)} <= names
    assert {name for text in texts for name in re.findall(r"\b(?:engine|model):oomph_\w+:\w+", text)} <= recorded
    assert not any("vllm_" in text for text in texts)  # as the articles write them, and no release ever did


@pytest.mark.parametrize("number", CHANGED)
def test_what_a_large_fleet_is_told_to_keep_is_all_that_its_rules_read(number: str) -> None:
    rules = exported(number, fleet=Fleet(size=10_000))
    text = rules_yaml(rules)
    kept = re.compile(read(rules.release))
    wanted = set(re.findall(r"vllm:\w+|http_requests_total|process_start_time_seconds", text.partition("groups:")[2]))

    assert f"\n#   {read(rules.release)}\n" in text
    assert {name for name in wanted if not kept.fullmatch(name)} == set()
    assert not kept.fullmatch("vllm:request_prompt_tokens_bucket")


def test_an_alert_is_there_where_the_release_can_tell_it() -> None:
    newest, older, oldest = (set(alerts(exported(number))) for number in ("0.32.0", "0.19.1", "0.6.0"))

    assert newest - older == {"VllmRejects", "VllmRequestsDeferred"}
    assert older - oldest == {"VllmQueueTimeHigh", "VllmServerErrors"}
    assert newest - set(alerts(exported(plan=None))) == {"VllmFewerBlocksThanPlanned", "VllmLoadExceedsPlan"}


def test_waiting_counts_those_who_wait_for_room_where_the_release_says_why() -> None:
    assert "waiting_for_capacity" in alerts(exported("0.20.0"))["VllmQueueLong"].text
    assert "engine:oomph_waiting:sum" in alerts(exported("0.19.1"))["VllmQueueLong"].text


def test_the_planned_blocks_are_the_careful_end_of_the_plan_for_all_engines_of_a_server() -> None:
    plan = PlannedPool(blocks=1_000, least_blocks=970, engines=2)
    alert = alerts(exported(plan=plan))["VllmFewerBlocksThanPlanned"]
    enough = re.search(r'num_gpu_blocks!~"([^"]+)"', alert.text)

    assert enough is not None
    assert re.fullmatch(enough[1], "1940")  # twice 970
    assert not re.fullmatch(enough[1], "1939")
    assert "VllmLoadExceedsPlan" not in alerts(exported(plan=plan))  # the plan told no concurrency


@given(st.integers(min_value=1, max_value=10**9), st.integers(min_value=0, max_value=10**9))
def test_numbers_from_one_on_are_matched_and_no_others(least: int, number: int) -> None:
    assert (re.fullmatch(at_least(least), str(number)) is not None) == (number >= least)


@given(st.integers(min_value=1, max_value=10**9))
def test_the_number_itself_is_matched_and_the_one_below_is_not(least: int) -> None:
    assert re.fullmatch(at_least(least), str(least))
    assert not re.fullmatch(at_least(least), str(least - 1))


@pytest.mark.parametrize(("size", "interval"), [(1, "15s"), (50, "15s"), (51, "30s"), (1000, "30s"), (10_000, "60s")])
def test_a_larger_fleet_is_looked_at_less_often(size: int, interval: str) -> None:
    groups = yaml.safe_load(rules_yaml(exported(fleet=Fleet(size=size))))["groups"]

    assert {group["interval"] for group in groups} == {interval}


def test_a_tenant_is_told_apart_by_his_own_label() -> None:
    rules = exported(fleet=Fleet(tenant="team"))
    texts = {record.name: record.text for record in (*rules.records.of_engines(), *rules.records.of_models())}

    assert texts["engine:oomph_running:sum"] == (
        "sum by (job, team, namespace, pod, instance, model_name, engine) (vllm:num_requests_running)"
    )
    assert texts["model:oomph_running:sum"] == "sum by (team, model_name) (engine:oomph_running:sum)"
    assert texts["model:oomph_prefix_hit_share:ratio"] == (
        "model:oomph_prefix_hits:rate5m / (model:oomph_prefix_queries:rate5m > 0)"
    )


def test_every_page_that_an_alert_names_is_there() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guide" / "monitor.md").read_text()
    known = {page.code for page in pages()}
    told = alerts(exported()).values()

    assert {alert.rule for alert in told if alert.rule is not None} <= known
    assert [alert.name for alert in told if f"\n### {alert.name}\n" not in guide] == []


def test_a_runbook_is_a_link_where_the_pages_are_published_and_a_command_where_not() -> None:
    linked, plain = exported(fleet=Fleet(runbooks="https://docs.example/run/")), exported()
    hung, full = alerts(linked)["VllmHung"], alerts(linked)["VllmPoolSaturated"]

    assert linked.annotations(full)["runbook_url"] == "https://docs.example/run/NO002"
    assert linked.annotations(hung)["runbook_url"] == "https://docs.example/run/monitor#vllmhung"
    assert plain.annotations(full)["runbook"] == "oomph rule NO002"


def test_json_and_yaml_hold_the_same_rules() -> None:
    rules = exported(fleet=Fleet(job="a|b"))

    assert json.loads(rules_json(rules)) == yaml.safe_load(rules_yaml(rules))


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 0},
        {"size": 10**9},
        {"tenant": "a-b"},
        {"tenant": ""},
        {"tenant": "__name__"},
        {"job": 'a"b'},
        {"model": "a\nb"},
        {"startup_minutes": 0},
        {"startup_minutes": 241},
    ],
)
def test_what_cannot_stand_in_a_rule_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Fleet(**wrong)


def labels(texts: list[str]) -> set[str]:
    """All by which these fold, join or choose."""
    folds = [inner for text in texts for inner in re.findall(r"(?:by|on) \(([^()]*)\)", text)]
    chosen = {name for text in texts for name in re.findall(r"[{,](\w+)(?:=~|!~|!=|=)", text)}
    return {name.strip() for fold in folds for name in fold.split(",")} | chosen


@pytest.mark.parametrize("number", CHANGED)
def test_a_tenant_cannot_be_told_by_a_label_that_the_rules_need(number: str) -> None:
    rules = exported(number, fleet=Fleet(tenant="team", model="m"))
    held = json.loads(rules_json(rules))["groups"]
    panels = json.loads(dashboard_json(rules))["panels"]
    texts = [rule["expr"] for group in held for rule in group["rules"]]
    texts += [target["expr"] for panel in panels for target in panel.get("targets", [])]
    needed = labels(texts) - {"team", "namespace"}

    assert needed >= {"job", "instance", "pod", "model_name", "num_gpu_blocks", "finished_reason"}
    for label in needed:
        with pytest.raises(UsageError, match=f"--tenant-label {label}: the rules need this label"):
            Fleet(tenant=label)


def test_trials_have_a_job_that_matches() -> None:
    assert a_job(Fleet(job="llm-.*|vllm")) == "llm-"
    assert a_job(Fleet(job="vllm.+")) == "vllmx"
    with pytest.raises(UsageError, match="made up"):
        a_job(Fleet(job="[a-z]+"))
