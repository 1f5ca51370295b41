"""An explanation as the contract `oomph.explain/1`: whole bytes, every key always there, null where unknown."""

import json
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.explanation import Explanation
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.moment import device_total
from oomph.diagnose.reconcile import Compared
from oomph.ledger.observation import Reading
from oomph.units import Bounds
from oomph.write import objects

SCHEMA: Final = "oomph.explain/1"


def explain_json(found: Explanation) -> str:
    """One object, with a line end."""
    case = found.case
    return (
        json.dumps(
            {
                "schema": SCHEMA,
                "engine": case.engine,
                "release": None if case.release is None else str(case.release),
                "model": case.model,
                "device": _device(case),
                "platform": sorted(case.platform),
                "phase": case.phase,
                "verdict": found.outcome,
                "findings": [_finding(finding) for finding in found.findings],
                "observations": _observations(case),
                "ledger": [objects.entry(entry) for entry in found.reconciled.ledger],
                "compared": [_compared(each) for each in found.reconciled.compared],
                "forecast": None if case.forecast is None else {"verdict": case.forecast.verdict, "gate": _gate(case)},
                "notes": list(found.notes),
            },
            indent=2,
        )
        + "\n"
    )


def _device(case: Case) -> dict[str, object] | None:
    total = device_total(case)
    if total is None:
        return None
    name = case.devices[0].name if case.devices else None
    return {"name": name, "total": int(total), "count": len(case.devices) or None}


def _gate(case: Case) -> str | None:
    stopped = None if case.forecast is None else case.forecast.stopped_at
    return None if stopped is None else stopped.step


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "name": finding.name,
        "summary": finding.summary,
        "cause": finding.cause,
        "confidence": round(finding.confidence, 3),
        "evidence": [
            *({"line": said.line, "rank": said.rank or None, "text": said.text} for said in finding.lines),
            *({"line": None, "rank": None, "text": text} for text in finding.evidence),
        ],
        "arithmetic": list(finding.arithmetic),
        "remedies": [_remedy(remedy) for remedy in finding.remedies],
        "beyond": list(finding.beyond),
        "does_not_help": [{"flag": flag, "why": why} for flag, why in (finding.unhelpful or {}).items()],
        "missing": list(finding.missing),
    }


def _remedy(remedy: Remedy) -> dict[str, object]:
    return {
        "change": dict(remedy.change),
        "act": remedy.act,
        "price": remedy.price,
        "verdict": remedy.verdict,
        "spare": None if remedy.spare is None else objects.bounds(remedy.spare),
        "lever": remedy.lever,
    }


def _observations(case: Case) -> dict[str, list[dict[str, object]]]:
    """Every figure that was read, by what it is of: who says it, on which line, and what it is."""
    found: dict[str, list[dict[str, object]]] = {}
    for rank, readings in {} if case.observation is None else case.observation.ranks.items():
        for quantity, reading in readings.items():
            found.setdefault(str(quantity), []).append({"rank": rank or None, **_reading(reading)})
    return found


def _reading(reading: Reading) -> dict[str, object]:
    value = objects.bounds(reading.value) if isinstance(reading.value, Bounds) else reading.value
    return {"line": reading.line, "value": value, "text": reading.text}


def _compared(each: Compared) -> dict[str, object]:
    return {
        "what": each.what,
        "line": each.line,
        "seen": objects.bounds(each.seen),
        "computed": None if each.computed is None else objects.bounds(each.computed),
        "agrees": each.agrees,
    }
