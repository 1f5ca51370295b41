"""The trials of every alert as a file for `promtool test rules`: on one it fires, on the others it is silent.

Knows promtool's format and the labels that series have. Does not know any alert.
"""

import re
from collections.abc import Iterator
from typing import Final

from oomph.engines.vllm.monitoring.sources import NUMBERED, Source, scraped
from oomph.errors import UsageError
from oomph.write.monitoring.alert import Alert, Sampled, Trial
from oomph.write.monitoring.fleet import Fleet
from oomph.write.monitoring.rules import FILE, Rules
from oomph.write.yaml_text import Commented, Node, yaml_text

TESTS: Final = "oomph.rules.test.yml"
_OF_SERVER: Final = frozenset({Source.UP, Source.STARTED, Source.ANSWERED})
_LABEL: Final = re.compile(r"\{\{ \$labels\.(\w+) \}\}")
_VALUE: Final = re.compile(r"\{\{ \$value[^}]*\}\}")


def trials_yaml(rules: Rules) -> str:
    """The file; it names the file of the rules beside it."""
    tests = [test for alerts in rules.alerts.values() for alert in alerts for test in _tests(rules, alert)]
    made = f"Tests of {FILE}: promtool test rules {TESTS}\nEvery alert is seen to fire, and to stay silent."
    held: dict[str, Node] = {"rule_files": [FILE], "evaluation_interval": "1m", "tests": tests}
    return yaml_text(Commented(value=held, comment=made))


def _tests(rules: Rules, alert: Alert) -> Iterator[Node]:
    expected = {
        "exp_labels": {"severity": str(alert.severity)} | _kept(rules, alert),
        "exp_annotations": {name: _printed(rules, alert, text) for name, text in rules.annotations(alert).items()},
    }
    yield _test(rules, alert, alert.fires, name=f"{alert.name} fires", expected=[expected])
    for trial in (alert.silent, *alert.silent_too):
        when = f" {trial.when}" if trial.when else ""
        yield _test(rules, alert, trial, name=f"{alert.name} stays silent{when}", expected=[])


def _test(rules: Rules, alert: Alert, trial: Trial, *, name: str, expected: list[Node]) -> Node:
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": _selector(rules, sampled), "values": sampled.values} for sampled in trial.series],
        "alert_rule_test": [{"eval_time": f"{trial.minute}m", "alertname": alert.name, "exp_alerts": expected}],
    }


def _selector(rules: Rules, sampled: Sampled) -> str:
    name = scraped(sampled.source, rules.release) or ""
    suffix = "_bucket" if "le" in sampled.labels else ""
    labels = ",".join(f'{label}="{value}"' for label, value in _labels(rules, sampled).items())
    return f"{name}{suffix}{{{labels}}}"


def _labels(rules: Rules, sampled: Sampled) -> dict[str, str]:
    """As the release and a usual scrape configuration give them."""
    fleet, source = rules.fleet, sampled.source
    labels = {"job": a_job(fleet), fleet.tenant: "a-team", "namespace": "a-team", "pod": "m-0"}
    labels["instance"] = "10.0.0.1:8000"
    if source not in _OF_SERVER and source is not Source.POOL:
        labels["model_name"] = "m"
    if rules.release in NUMBERED and source not in _OF_SERVER and source is not Source.REJECTED:
        labels["engine"] = "0"
    return labels | dict(sampled.labels)


def a_job(fleet: Fleet) -> str:
    """A name that the job's expression matches."""
    for way in (*fleet.job.split("|"), fleet.job):
        plain = way.replace(".*", "").replace(".+", "x")
        if re.fullmatch(fleet.job, plain):
            return plain
    message = f"no series can be made up for --job {fleet.job!r}: write the tests for a plain name"
    raise UsageError(message)


def _kept(rules: Rules, alert: Alert) -> dict[str, str]:
    """The labels of its series, of which the richest is asked."""
    known: dict[str, str] = {}
    for sampled in alert.fires.series:
        known |= _labels(rules, sampled)
    return {label: known[label] for label in alert.keeps if label in known}


def _printed(rules: Rules, alert: Alert, text: str) -> str:
    """As Prometheus will fill it in."""
    kept = _kept(rules, alert)
    return _VALUE.sub(alert.shows, _LABEL.sub(lambda found: kept.get(found[1], ""), text))
