"""A real Prometheus scrapes the real vLLM and pages of older releases: rules record, alerts fire, panels show.

Minutes count as seconds here, so that what lasts five minutes is seen in five seconds.
"""

import concurrent.futures
import json
import os
import signal
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from live.exposed import exposed
from live.scraping import PROMETHEUS, Prometheus, hurried, scraping
from live.served import Served, served
from oomph.engines.vllm.releases import HISTORY
from oomph.write.monitoring.dashboard import dashboard_json
from oomph.write.monitoring.fleet import FEW, MANY, Fleet
from oomph.write.monitoring.rules import Rules, rules_yaml

NEWEST = "0.32.0"
OLDER = ("0.19.1", "0.8.5", "0.6.6")
SIZES = (FEW, MANY, MANY + 1)  # each is pictured in its own way


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    if PROMETHEUS is None:
        reason = "no prometheus on the path (Debian: apt-get install prometheus)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


def exported(number: str, *, size: int = 1) -> Rules:
    return Rules(release=HISTORY.release(number), fleet=Fleet(size=size))


def queries(rules: Rules) -> list[str]:
    """Of every panel, as Grafana sends them where nothing was chosen."""
    panels = json.loads(dashboard_json(rules))["panels"]
    texts = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    for variable in ("tenant", "model_name", "instance", "engine"):
        texts = [text.replace(f"${variable}", ".*") for text in texts]
    return [text.replace("$__rate_interval", "10s") for text in texts]


def unanswered(prometheus: Prometheus, number: str) -> list[str]:
    """Queries of the dashboards of all sizes that return nothing, and recorded series that are not there."""
    asked = [query for size in SIZES for query in queries(exported(number, size=size))]
    asked += [rule["name"] for rule in prometheus.rules() if rule["type"] == "recording"]
    return [query for query in dict.fromkeys(asked) if not prometheus.series(query)]


def unwell(prometheus: Prometheus) -> list[str]:
    return [f"{rule['name']}: {rule.get('lastError')}" for rule in prometheus.rules() if rule["health"] != "ok"]


def written(rules: Rules) -> int:
    return rules_yaml(rules).count("expr:")


@pytest.mark.parametrize("number", OLDER)
def test_rules_and_panels_of_an_older_release_find_its_names(number: str, tmp_path: Path) -> None:
    rules = exported(number)
    with (
        exposed(rules.release) as target,
        scraping(tmp_path, targets=[target], rules=hurried(rules_yaml(rules))) as prometheus,
    ):
        prometheus.until(lambda: not unanswered(prometheus, number), f"every query answered of {number}", patience=25)

        assert unwell(prometheus) == []
        assert len(prometheus.rules()) == written(rules)
        assert not unanswered(prometheus, number)


@contextmanager
def loaded(server: Served, *, clients: int) -> Iterator[None]:
    """So many clients, each with one request after the other, until the block is left."""
    enough = threading.Event()

    def client(seed: int) -> None:
        while not enough.is_set():
            body = {"model": server.model, "prompt": [5 + seed] * 60, "max_tokens": 200, "ignore_eos": True}
            asked = urllib.request.Request(  # noqa: S310 - loopback
                f"{server.url}/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
            )
            try:
                urllib.request.urlopen(asked, timeout=30).read()  # noqa: S310 - likewise
            except OSError:  # refused, or the engine is gone
                enough.wait(0.2)

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        for seed in range(clients):
            pool.submit(client, seed)
        try:
            yield
        finally:
            enough.set()


@pytest.fixture(scope="module")
def ours(engine: None) -> Iterator[Served]:  # noqa: ARG001 - asked for so that it skips or fails
    """A server that may be broken: 64 blocks of 32 tokens, where one request takes 9; 20 may be in it."""
    flags = ("--max-num-seqs", "16", "--max-num-queued-reqs", "20")
    with served(blocks=64, length=512, flags=flags) as one:
        yield one


def test_the_real_engine_under_load_hung_and_gone_fires_what_it_should(ours: Served, tmp_path: Path) -> None:
    rules = exported(NEWEST)
    target = ours.url.removeprefix("http://")
    with (
        scraping(tmp_path, targets=[target], rules=hurried(rules_yaml(rules))) as prometheus,
        loaded(ours, clients=28),
    ):
        under_load = {"VllmPreempts", "VllmPoolSaturated", "VllmRejects", "VllmServerErrors"}
        prometheus.until(lambda: not unanswered(prometheus, NEWEST), "every query answered")
        prometheus.until(lambda: prometheus.firing() >= under_load, f"firing under load: {under_load}")
        assert unwell(prometheus) == []
        assert len(prometheus.rules()) == written(rules)
        assert not prometheus.firing() & {"VllmDown", "VllmNoneUp", "VllmHung", "VllmRestarted"}

        os.kill(ours.engine_pid, signal.SIGSTOP)
        prometheus.until(lambda: "VllmHung" in prometheus.firing(), "firing while hung: VllmHung")
        assert "VllmDown" not in prometheus.firing()

        os.kill(ours.engine_pid, signal.SIGKILL)
        gone = {"VllmDown", "VllmNoneUp"}
        prometheus.until(lambda: prometheus.firing() >= gone, f"firing when gone: {gone}")
        prometheus.until(lambda: "VllmHung" not in prometheus.firing(), "no longer firing: VllmHung")
