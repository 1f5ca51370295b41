"""Write what watches running engines: rules for Prometheus with their tests, or a dashboard for Grafana."""

import argparse
import os
from typing import TYPE_CHECKING, Final

from oomph.cli.screen import save
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import OomphError, UsageError
from oomph.write.monitoring.fleet import STARTUP_MINUTES, Fleet
from oomph.write.monitoring.rules import FILE, Rules, rules_json, rules_yaml

if TYPE_CHECKING:  # most rules are exported without a plan
    from oomph.ledger.planned_pool import PlannedPool

PROMETHEUS, GRAFANA = "prometheus", "grafana"
DASHBOARD: Final = "oomph.dashboard.json"


def add(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("what", choices=(PROMETHEUS, GRAFANA), help="rules that record and alert, or a dashboard")
    parser.add_argument("--release", metavar="R", help="of the engines: 0.19.1; else the newest known")
    parser.add_argument("--fleet", metavar="N", type=int, default=1, help="how many engines; sets how often is looked")
    parser.add_argument("--plan", metavar="FILE", help="alert on less than was planned (oomph plan --json > FILE)")
    parser.add_argument("--model-name", metavar="NAME", help="of the engines that the plan is for; else all")
    parser.add_argument("--job", metavar="REGEX", default="vllm", help="how Prometheus calls the engines; vllm")
    parser.add_argument(
        "--tenant-label", metavar="LABEL", default="namespace", help="what tells tenants apart; namespace"
    )
    parser.add_argument(
        "--startup-minutes",
        metavar="N",
        type=int,
        default=STARTUP_MINUTES,
        help=f"how long a start may take before VllmDown; {STARTUP_MINUTES}",
    )
    parser.add_argument("--runbook-url", metavar="URL", help="where the pages of the rules are published")
    parser.add_argument("--tests", action="store_true", help="the tests of the alerts, for promtool test rules")
    parser.add_argument("--out", metavar="DIR", help="write files there; else the standard output")
    parser.add_argument("--json", action="store_true", help="the rules as JSON, which Prometheus reads as well")


def run(arguments: argparse.Namespace) -> int:
    """Write one file, or with --out all that were asked for."""
    _refuse(arguments)
    fleet = Fleet(
        size=arguments.fleet,
        job=arguments.job,
        tenant=arguments.tenant_label,
        runbooks=arguments.runbook_url,
        model=arguments.model_name,
        startup_minutes=arguments.startup_minutes,
    )
    release = HISTORY.read_through if arguments.release is None else HISTORY.release(arguments.release)
    files = _files(arguments, Rules(release=release, fleet=fleet, plan=_plan(arguments)))
    if arguments.out is None:
        save(files.popitem()[1], "-")  # the tests where they are asked for, for they were made last
        return 0
    _make(arguments.out)
    for name, text in files.items():
        save(text, os.path.join(arguments.out, name))  # noqa: PTH118 - pathlib costs more to import than the rules to make
    return 0


def _files(arguments: argparse.Namespace, rules: Rules) -> dict[str, str]:
    if arguments.what == GRAFANA:
        from oomph.write.monitoring.dashboard import dashboard_json  # noqa: PLC0415 - rules have no pictures

        return {DASHBOARD: dashboard_json(rules)}
    files = {FILE: rules_json(rules) if arguments.json else rules_yaml(rules)}
    if arguments.tests:
        from oomph.write.monitoring.trials import TESTS, trials_yaml  # noqa: PLC0415 - only who asks for it pays for it

        files[TESTS] = trials_yaml(rules)
    return files


def _plan(arguments: argparse.Namespace) -> "PlannedPool | None":
    if arguments.plan is None:
        return None
    from oomph.readers.planned import read_planned_pool  # noqa: PLC0415 - likewise

    return read_planned_pool(arguments.plan)


def _make(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - as above
    except OSError as trouble:
        message = f"the answer cannot be written to {folder}: {trouble.strerror or trouble}"
        raise OomphError(message) from None


def _refuse(arguments: argparse.Namespace) -> None:
    """What would be passed over in silence."""
    of_rules = {
        "--plan": arguments.plan is not None,
        "--tests": arguments.tests,
        "--runbook-url": arguments.runbook_url is not None,
        "--startup-minutes": arguments.startup_minutes != STARTUP_MINUTES,
    }
    odd = [name for name, given in of_rules.items() if given and arguments.what == GRAFANA]
    if odd:
        message = f"{odd[0]} is for rules: write oomph export {PROMETHEUS}"
        raise UsageError(message)
    if arguments.model_name is not None and arguments.plan is None:
        message = "--model-name says which engines a plan is for, and there is none: add --plan FILE"
        raise UsageError(message)
    if arguments.tests and arguments.json and arguments.out is None:
        message = "the standard output takes one answer: of --json and --tests, write one, or add --out DIR"
        raise UsageError(message)
