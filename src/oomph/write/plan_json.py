"""A forecast as the contract `oomph.plan/1`: whole bytes, every key always there, null where nothing is known."""

import json
from typing import Final

from oomph.diagnose.finding import Finding, Remedy
from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate
from oomph.ledger.kv import GraphProfile, KvPool
from oomph.units import Bounds
from oomph.write import objects

SCHEMA: Final = "oomph.plan/1"


def plan_json(forecast: Forecast, findings: tuple[Finding, ...] = ()) -> str:
    """One object, with a line end."""
    stopped = forecast.stopped_at
    device = forecast.device
    return (
        json.dumps(
            {
                "schema": SCHEMA,
                "release": forecast.release,
                "basis": forecast.basis,
                "model": _model(forecast),
                "device": {
                    "name": device.name,
                    "total": int(device.total),
                    "free": None if device.free is None else objects.bounds(device.free),
                    "count": forecast.count,
                },
                "rank": forecast.rank,
                "settings": {
                    name: {"value": setting.value, "origin": setting.origin, "because": setting.because}
                    for name, setting in forecast.settings.items()
                },
                "verdict": forecast.verdict,
                "gate": None if stopped is None else stopped.step,
                "gates": [_gate(gate) for gate in forecast.gates],
                "skipped": {str(step): why for step, why in forecast.skipped.items()},
                "not_forecast": list(forecast.not_forecast),
                "ledger": [objects.entry(entry) for entry in forecast.ledger],
                "kv": None if forecast.kv is None else _kv(forecast.kv, forecast.pool),
                "graph_profile": None if forecast.graph_profile is None else _graph_profile(forecast.graph_profile),
                "findings": [_finding(finding) for finding in findings],
                "warnings": list(forecast.warnings),
            },
            indent=2,
        )
        + "\n"
    )


def _model(forecast: Forecast) -> dict[str, object] | None:
    if forecast.model is None:
        return None
    family = None if forecast.geometry is None else forecast.geometry.family
    return {"name": forecast.model, "family": family, "parameters": forecast.parameters}


def _kv(kv: KvPool, size: Bounds | None) -> dict[str, object]:
    return {
        "size": None if size is None else objects.bounds(size),
        "block_tokens": kv.block_tokens,
        "page": int(kv.page),
        "tensors": kv.tensors,
        "tensor": None if kv.tensor is None else int(kv.tensor),
        "bytes_per_block": int(kv.bytes_per_block),
        "blocks": kv.blocks,
        "tokens": kv.tokens,
        "concurrency": kv.concurrency,
        "need": None if kv.need is None else int(kv.need),
        "groups": [
            {"layers": group.layers, "block_tokens": group.block_tokens, "page": int(group.page)} for group in kv.groups
        ],
    }


def _graph_profile(profile: GraphProfile) -> dict[str, object]:
    return {
        "blocks": profile.blocks,
        "tensors": profile.tensors,
        "tensor": int(profile.tensor),
        "total": int(profile.total),
        "fails": None if profile.fails is None else dict(zip(("best", "worst"), profile.fails, strict=True)),
    }


def _gate(gate: Gate) -> dict[str, object]:
    return {
        "name": gate.step,
        "needs": objects.bounds(gate.needs),
        "has": objects.bounds(gate.has),
        "verdict": gate.verdict,
        "because": gate.because,
        "inert": list(gate.inert),
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "name": finding.name,
        "summary": finding.summary,
        "evidence": list(finding.evidence),
        "remedies": [_remedy(remedy) for remedy in finding.remedies],
        "beyond": list(finding.beyond),
        "does_not_help": [{"flag": flag, "why": why} for flag, why in (finding.unhelpful or {}).items()],
    }


def _remedy(remedy: Remedy) -> dict[str, object]:
    return {
        "change": dict(remedy.change),
        "price": remedy.price,
        "verdict": remedy.verdict,
        "spare": None if remedy.spare is None else objects.bounds(remedy.spare),
        "fails_at": remedy.fails_at,
    }
