import json

import pytest
from hypothesis import given

from oomph.diagnose.finding import Finding
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Step
from oomph.write.plan_json import plan_json
from write.forecasts import SIX, eight_ranks, seed_crash, seed_findings, without_graph_profile
from write.made import findings, forecasts

# The keys that DESIGN.md promises to others.
KEYS = {"schema", "release", "model", "device", "settings", "verdict", "gate", "gates", "ledger", "kv", "graph_profile"}


@pytest.mark.parametrize("name", SIX)
def test_the_contract_has_its_keys(name: str) -> None:
    forecast, found = SIX[name]
    plan = json.loads(plan_json(forecast(), found))

    assert plan["schema"] == "oomph.plan/1"
    assert plan.keys() >= KEYS | {"findings", "rank", "skipped", "not_forecast", "warnings", "basis"}
    for gate in plan["gates"]:
        assert gate.keys() >= {"name", "needs", "has", "verdict", "because", "inert"}
    for entry in plan["ledger"]:
        assert entry.keys() >= {"account", "size", "basis", "because"}
    assert set(plan["kv"]["size"]) == {"low", "likely", "high"}


def test_findings_carry_their_remedies_and_what_does_not_help() -> None:
    plan = json.loads(plan_json(seed_crash(), seed_findings()))
    (finding,) = plan["findings"]

    assert (finding["code"], finding["name"]) == ("GP001", "graph-profile-overflows")
    assert finding["remedies"][0]["change"] == {"max_cudagraph_capture_size": 192}
    assert finding["remedies"][0]["verdict"] == "fits"
    assert finding["remedies"][2] == {
        "change": {"enforce_eager": True},
        "price": "no CUDA graphs: every step pays for each launch",
        "verdict": "fits",
        "spare": None,
        "fails_at": None,
    }
    assert finding["does_not_help"][0] == {
        "flag": "--gpu-memory-utilization",
        "why": "the pool is made before any budget is",
    }


def test_the_failing_allocation_the_deciding_rank_and_skipped_gates_are_said() -> None:
    crash, ranks, old = (json.loads(plan_json(made())) for made in (seed_crash, eight_ranks, without_graph_profile))

    assert crash["graph_profile"]["fails"] == {"best": 8, "worst": 8}
    assert (ranks["rank"], ranks["device"]["count"]) == (3, 8)
    assert set(old["skipped"]) == {Step.GRAPH_PROFILE}


@given(forecasts(), findings)
def test_any_forecast_is_json_and_its_sizes_are_whole_bytes(forecast: Forecast, found: tuple[Finding, ...]) -> None:
    plan = json.loads(plan_json(forecast, found))

    assert plan["verdict"] == forecast.verdict
    assert all(isinstance(size, int) for gate in plan["gates"] for size in gate["needs"].values())
