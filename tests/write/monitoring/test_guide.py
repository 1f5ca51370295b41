"""The page about monitoring: what it tells to write instead is read by Prometheus and shown by the release."""

import json
import re
from pathlib import Path

from oomph.engines.history import release
from oomph.engines.vllm.metrics import shown
from write.monitoring.promtool import promtool

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "monitor.md"
NEWEST = release("0.32.0")


def rows() -> list[list[str]]:
    """Of the table of rules that are passed around."""
    table = GUIDE.read_text().partition("| as written |")[2].partition("\n\n")[0]
    return [line.strip("|").split(" | ") for line in table.splitlines()[2:]]


def instead() -> list[str]:
    found = [text for row in rows() for text in re.findall(r"`([^`]+)`", row[1])]
    return [text.replace("$__rate_interval", "5m") for text in found if "vllm:" in text]


def test_each_alert_and_panel_of_the_articles_has_its_answer() -> None:
    assert len(rows()) == 8
    assert all(re.search(r"vllm_|…", row[0]) for row in rows())
    assert len(instead()) >= 7


def test_what_to_write_instead_is_promql(tmp_path: Path) -> None:
    rules = [{"record": f"of:guide:{number}", "expr": text} for number, text in enumerate(instead())]
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "guide", "rules": rules}]}))
    done = promtool(tmp_path, "check", "rules", "rules.yml")

    assert done.returncode == 0, done.stderr


def test_what_to_write_instead_has_the_names_of_the_release() -> None:
    names = {metric.scraped for metric in shown(NEWEST)}
    written = {name.removesuffix("_bucket") for text in instead() for name in re.findall(r"vllm:\w+", text)}

    assert len(written) >= 7
    assert written <= names
