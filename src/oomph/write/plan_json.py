"""A forecast as the contract `oomph.plan/1`: whole bytes, every key always there, null where nothing is known."""

import json
from typing import Final

from oomph.ledger.forecast import Forecast
from oomph.ledger.gate import Gate
from oomph.ledger.ledger import Entry
from oomph.units import Bounds

SCHEMA: Final = "oomph.plan/1"


def plan_json(forecast: Forecast) -> str:
    """One object, with a line end."""
    stopped = forecast.stopped_at
    device = forecast.device
    return (
        json.dumps(
            {
                "schema": SCHEMA,
                "release": forecast.release,
                "basis": forecast.basis,
                "model": None if forecast.model is None else {"name": forecast.model},
                "device": {
                    "name": device.name,
                    "total": int(device.total),
                    "free": None if device.free is None else _bounds(device.free),
                    "count": forecast.count,
                },
                "settings": {
                    name: {"value": setting.value, "origin": setting.origin, "because": setting.because}
                    for name, setting in forecast.settings.items()
                },
                "verdict": forecast.verdict,
                "gate": None if stopped is None else stopped.step,
                "gates": [_gate(gate) for gate in forecast.gates],
                "not_forecast": list(forecast.not_forecast),
                "ledger": [_entry(entry) for entry in forecast.ledger],
                "kv": None,
                "graph_profile": None,
                "findings": [],
                "warnings": list(forecast.warnings),
            },
            indent=2,
        )
        + "\n"
    )


def _bounds(size: Bounds) -> dict[str, int]:
    return {"low": int(size.low), "likely": int(size.likely), "high": int(size.high)}


def _gate(gate: Gate) -> dict[str, object]:
    return {
        "name": gate.step,
        "needs": _bounds(gate.needs),
        "has": _bounds(gate.has),
        "verdict": gate.verdict,
        "because": gate.because,
        "inert": list(gate.inert),
    }


def _entry(entry: Entry) -> dict[str, object]:
    return {
        "account": entry.account,
        "size": _bounds(entry.size),
        "basis": entry.basis,
        "because": entry.because,
    }
