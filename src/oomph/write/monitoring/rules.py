"""Recording and alerting rules as a file of Prometheus, in groups that it evaluates side by side.

Knows how a rule is written down. Does not know any.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.monitoring.questions import answers
from oomph.engines.vllm.monitoring.sources import HISTOGRAMS, Source, scraped
from oomph.engines.vllm.releases import HISTORY
from oomph.ledger.planned_pool import PlannedPool
from oomph.write.monitoring.alert import Alert
from oomph.write.monitoring.fleet import MANY, Fleet
from oomph.write.monitoring.health import health
from oomph.write.monitoring.pressure import pressure
from oomph.write.monitoring.records import Record, Records
from oomph.write.monitoring.worth import worth
from oomph.write.yaml_text import Commented, Node, yaml_text

FILE: Final = "oomph.rules.yml"
GUIDE: Final = "monitor"


@dataclass(frozen=True, kw_only=True)
class Rules:
    """All rules for one release and one fleet."""

    release: Release
    fleet: Fleet
    plan: PlannedPool | None = None

    @cached_property
    def records(self) -> Records:
        """What is recorded."""
        return Records(answers=answers(self.release, job=self.fleet.job), fleet=self.fleet)

    @cached_property
    def alerts(self) -> Mapping[str, tuple[Alert, ...]]:
        """By the group that they stand in."""
        return {
            "oomph-health": tuple(health(self.records, self.release)),
            "oomph-pressure": tuple(pressure(self.records)),
            "oomph-worth": tuple(worth(self.records, self.release, self.plan)),
        }

    @property
    def groups(self) -> dict[str, Node]:
        """As the file holds them."""
        recorded = {"oomph-engines": self.records.of_engines(), "oomph-models": self.records.of_models()}
        recorded |= {f"oomph-{question}": records for question, records in self.records.of_waits()}
        made: list[Node] = [self._group(name, map(_recorded, records)) for name, records in recorded.items()]
        made += [self._group(name, map(self._alerting, alerts)) for name, alerts in self.alerts.items() if alerts]
        return {"groups": made}

    def _group(self, name: str, rules: Iterable[Node]) -> Node:
        return {"name": name, "interval": f"{self.fleet.interval}s", "rules": list(rules)}

    def _alerting(self, alert: Alert) -> Node:
        lasting: dict[str, Node] = {"for": f"{alert.lasts}m"} if alert.lasts else {}
        return {
            "alert": alert.name,
            "expr": alert.text,
            **lasting,
            "labels": {"severity": str(alert.severity)},
            "annotations": dict(self.annotations(alert)),
        }

    def annotations(self, alert: Alert) -> dict[str, str]:
        """What it says, and the page to turn to."""
        page = alert.rule or f"{GUIDE}#{alert.name.lower()}"
        said = {"summary": alert.summary, "description": alert.description}
        if self.fleet.runbooks is not None:
            return said | {"runbook_url": f"{self.fleet.runbooks.rstrip('/')}/{page}"}
        return said | {"runbook": f"oomph rule {page}"} if alert.rule else said


def _recorded(record: Record) -> Node:
    return {"record": record.name, "expr": record.text}


def rules_yaml(rules: Rules) -> str:
    """The file."""
    engines = "one engine" if rules.fleet.size == 1 else f"{rules.fleet.size:,} engines"
    made = (
        f"Rules for {engines} of vLLM {rules.release}, by oomph export prometheus.\n"
        "The names of metrics change between releases: export again when you upgrade."
    )
    if rules.fleet.size > MANY:
        made += "\nOf what an engine shows, only this is read; keep it with metric_relabel_configs:"
        made += f"\n  {read(rules.release)}"
    warning = HISTORY.warning(rules.release)
    return yaml_text(Commented(value=rules.groups, comment=made if warning is None else f"{made}\n{warning}."))


def read(release: Release) -> str:
    """The names that rules and panels read of a server, as a regular expression."""
    every = {source: scraped(source, release) for source in Source if source is not Source.UP}
    names = sorted(f"{name}_bucket" if source in HISTOGRAMS else name for source, name in every.items() if name)
    engine = "|".join(name.removeprefix("vllm:") for name in names if name.startswith("vllm:"))
    return "|".join([f"vllm:({engine})", *(name for name in names if not name.startswith("vllm:"))])


def rules_json(rules: Rules) -> str:
    """The same as JSON, which Prometheus reads as well."""
    return json.dumps(rules.groups, indent=2) + "\n"
