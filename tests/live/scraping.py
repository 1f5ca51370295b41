"""A real Prometheus on loopback, with given targets and given rules; ended by its process, and nothing of it is left.

Time can run sixty times faster for the rules: what they say in minutes then counts in seconds.
"""

import json
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

PROMETHEUS: Final = shutil.which("prometheus")
_PATIENCE: Final = 60.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Prometheus:
    """One that runs."""

    url: str

    def asked(self, path: str, **words: str) -> Any:  # noqa: ANN401 - JSON has any shape
        """What its API answers."""
        address = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(words)}"
        with urllib.request.urlopen(address, timeout=10) as answer:  # noqa: S310 - loopback
            return json.load(answer)["data"]

    def series(self, text: str) -> list[dict[str, Any]]:
        """What a query returns now."""
        found: list[dict[str, Any]] = self.asked("query", query=text)["result"]
        return found

    def rules(self) -> list[dict[str, Any]]:
        """Every rule, with how it went when it was last evaluated."""
        return [rule for group in self.asked("rules")["groups"] for rule in group["rules"]]

    def firing(self) -> set[str]:
        """Alerts by name."""
        return {alert["labels"]["alertname"] for alert in self.asked("alerts")["alerts"] if alert["state"] == "firing"}

    def until(self, met: Callable[[], object], what: str, *, patience: float = _PATIENCE) -> None:
        """Wait for it, or fail by its name."""
        end = time.monotonic() + patience
        while not met():
            assert time.monotonic() < end, f"in {patience:.0f} s: not {what}"
            time.sleep(0.25)


def hurried(rules: str) -> str:
    """Minutes become seconds, and every group is looked at each second."""
    rules = re.sub(r"\[(\d+)m\]", r"[\1s]", rules).replace("[1h]", "[60s]")
    rules = re.sub(r'for: "(\d+)m"', r'for: "\1s"', rules)
    return re.sub(r'interval: "\d+s"', 'interval: "1s"', rules)


@contextmanager
def scraping(
    folder: Path, *, targets: list[str], rules: str, every: str = "1s", own_labels: bool = False
) -> Iterator[Prometheus]:
    """Scrapes each second as the job `vllm`, and itself; with labels of their own, targets say who they are."""
    assert PROMETHEUS is not None
    (folder / "rules.yml").write_text(rules)
    port = _free_port()
    jobs = {"vllm": targets, "itself": [f"127.0.0.1:{port}"]}
    config = {
        "global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
        "rule_files": ["rules.yml"],
        "scrape_configs": [
            {"job_name": job, "honor_labels": own_labels, "static_configs": [{"targets": asked}]}
            for job, asked in jobs.items()
        ],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                PROMETHEUS,
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'series'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        running = Prometheus(url=f"http://127.0.0.1:{port}")
        running.until(lambda: process.poll() is None and _answers(running), (folder / "log").read_text()[-2000:])
        yield running
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder / "series", ignore_errors=True)


def _answers(running: Prometheus) -> bool:
    try:
        return bool(running.asked("status/buildinfo"))
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port: int = door.getsockname()[1]
        return port
