"""`oomph export`: what goes where, and what is refused."""

import json
from pathlib import Path

import pytest
import yaml

from oomph.cli.main import main
from oomph.write.plan_json import plan_json
from write.forecasts import seed_crash


def test_rules_go_to_the_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["export", "prometheus", "--release", "0.8.5"])
    out = capsys.readouterr().out

    assert status == 0
    assert out.startswith("# Rules for one engine of vLLM 0.8.5")
    assert "vllm:gpu_cache_usage_perc" in out
    assert [group["name"] for group in yaml.safe_load(out)["groups"]][:2] == ["oomph-engines", "oomph-models"]


def test_a_folder_gets_the_rules_and_their_tests(tmp_path: Path) -> None:
    folder = tmp_path / "new"

    assert main(["export", "prometheus", "--tests", "--out", str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["oomph.rules.test.yml", "oomph.rules.yml"]
    assert yaml.safe_load((folder / "oomph.rules.test.yml").read_text())["rule_files"] == ["oomph.rules.yml"]


def test_tests_alone_go_to_the_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "prometheus", "--tests"]) == 0
    assert "alert_rule_test" in capsys.readouterr().out


def test_rules_as_json_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    main(["export", "prometheus"])
    written = yaml.safe_load(capsys.readouterr().out)

    assert main(["export", "prometheus", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == written


def test_a_dashboard_is_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "grafana", "--out", str(tmp_path)]) == 0
    assert main(["export", "grafana"]) == 0
    assert (tmp_path / "oomph.dashboard.json").read_text() == capsys.readouterr().out


def test_a_plan_gives_the_measure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(plan_json(seed_crash()))
    blocks = json.loads(plan.read_text())["kv"]["blocks"]
    status = main(["export", "prometheus", "--plan", str(plan), "--model-name", "qwen"])
    out = capsys.readouterr().out

    assert status == 0
    assert f"where the plan said {blocks} " in out
    assert 'vllm:num_requests_running{model_name="qwen"}' in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["prometheus", "--release", "0.5.0"], "older than the first release"),
        (["prometheus", "--fleet", "0"], "--fleet 0"),
        (["prometheus", "--tenant-label", "a b"], "--tenant-label"),
        (["prometheus", "--tenant-label", "engine"], "the rules need this label"),
        (["prometheus", "--tenant-label", "le"], "the rules need this label"),
        (["prometheus", "--startup-minutes", "0"], "--startup-minutes 0"),
        (["prometheus", "--plan", "none.json"], "no plan"),
        (["prometheus", "--model-name", "m"], "--plan FILE"),
        (["prometheus", "--json", "--tests"], "one answer"),
        (["grafana", "--tests"], "oomph export prometheus"),
        (["grafana", "--startup-minutes", "9"], "oomph export prometheus"),
        (["grafana", "--plan", "none.json"], "oomph export prometheus"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")

    assert main(["export", "grafana", "--out", str(tmp_path / "file" / "below")]) == 3
    assert "cannot be written" in capsys.readouterr().err
