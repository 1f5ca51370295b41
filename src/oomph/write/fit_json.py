"""A proposal as the contract `oomph.fit/1`: whole bytes, every key always there, null where nothing is known."""

import json

from oomph.fit.hardware import Hardware
from oomph.fit.played import Played
from oomph.fit.proposal import Fitted, NotTaken, Proposal
from oomph.fit.sizing import Sized
from oomph.fit.workload import Workload
from oomph.ledger.command import Command
from oomph.ledger.gate import Gate
from oomph.ledger.lengths import Lengths
from oomph.write import objects
from oomph.write.manifest.shell_line import vllm_line

SCHEMA = "oomph.fit/1"


def fit_json(answer: Fitted, command: Command | None) -> str:
    """One object, with a line end."""
    return json.dumps({"schema": SCHEMA, **_fitted(answer, command), "hardware": None}, indent=2) + "\n"


def sized_json(answer: Sized, command: Command | None) -> str:
    """The same for what is owned or is the least; `hardware` is everything that holds the workload."""
    hardware = [_hardware(each) for each in answer.found]
    return json.dumps({"schema": SCHEMA, **_fitted(answer.best, command), "hardware": hardware}, indent=2) + "\n"


def _fitted(answer: Fitted, command: Command | None) -> dict[str, object]:
    return {
        "release": answer.release,
        "workload": _workload(answer.workload),
        "verdict": "overflows" if not answer.holds else "unsure" if answer.unsure else "fits",
        "preference": answer.preference,
        "risk": answer.risk.name.lower(),
        "proposal": None if answer.proposal is None else _proposal(answer.proposal),
        "command": None if command is None else vllm_line(command),
        "played": None if answer.played is None else _played(answer.played),
        "others": [_proposal(other) for other in answer.others],
        "not_taken": [_not_taken(each) for each in answer.not_taken],
        "instead": list(answer.instead),
        "settings": answer.settings,
        "forecasts": answer.forecasts,
    }


def _workload(workload: Workload) -> dict[str, object]:
    return {
        "prompt": _lengths(workload.prompt),
        "answer": _lengths(workload.answer),
        "users": workload.users,
        "prefix": workload.prefix,
        "text_only": workload.text_only,
        "step_seconds": workload.step,
    }


def _lengths(lengths: Lengths) -> dict[str, object]:
    return {
        "p50": lengths.p50,
        "p99": lengths.p99,
        "most": lengths.most,
        "count": lengths.count,
        "basis": lengths.basis,
    }


def _proposal(proposal: Proposal) -> dict[str, object]:
    forecast, start = proposal.forecast, proposal.judged.startup
    kv = forecast.kv
    return {
        "model": None if start.model is None else start.model.name,
        "flags": dict(start.flags),
        "change": dict(proposal.change),
        "prices": dict(proposal.prices),
        "gpus": proposal.gpus,
        "device": {"name": forecast.device.name, "total": int(forecast.device.total)},
        "users": proposal.judged.users,
        "verdict": forecast.verdict,
        "pool": None if forecast.pool is None else objects.bounds(forecast.pool),
        "blocks": None if kv is None else kv.blocks,
        "tokens": None if kv is None else kv.tokens,
        "step_floor_seconds": proposal.floor,
        "gates": [_gate(gate) for gate in forecast.gates],
    }


def _played(played: Played) -> dict[str, object]:
    seen = played.seen
    return {
        "users": played.users,
        "users_without_waiting_for_room": None if played.calm is None else played.calm.users,
        "steps": seen.steps,
        "peak_running": seen.peak_running,
        "peak_waiting": seen.peak_waiting,
        "waits_for_room_at_step": seen.waits_for_room,
        "preemptions": seen.preemptions,
        "first_preemption_at_step": seen.first_preemption,
        "peak_usage": round(seen.peak_usage, 4),
    }


def _gate(gate: Gate) -> dict[str, object]:
    return {"name": gate.step, "verdict": gate.verdict, "spare": objects.bounds(gate.spare)}


def _not_taken(each: NotTaken) -> dict[str, object]:
    return {"change": dict(each.change), "why": each.why}


def _hardware(each: Hardware) -> dict[str, object]:
    return {
        "gpu": each.key,
        "count": each.count,
        "name": each.device.name,
        "memory": int(each.memory),
        "change": dict(each.change),
        "step_floor_seconds": each.floor,
    }
