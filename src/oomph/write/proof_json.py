"""A proof as the contract `oomph.proof/1`: seconds, tokens, whole bytes; every key always there, null if not known."""

import json
from dataclasses import asdict
from typing import Final

from oomph.diagnose.proof.judge import Judged
from oomph.diagnose.proof.proof import Proof
from oomph.ledger.proof import Ask, Scene

SCHEMA: Final = "oomph.proof/1"


def proof_json(proof: Proof) -> str:
    """One object, with a line end."""
    sums, left = proof.accounts, proof.headroom
    return (
        json.dumps(
            {
                "schema": SCHEMA,
                "result": proof.result,
                "users": {"asked": proof.users, "held": proof.held, "broke": proof.broke},
                "server": asdict(proof.promise),
                "load": _ask(proof.ask),
                "room": None if proof.room is None else asdict(proof.room),
                "stages": [_stage(each) for each in proof.stages],
                "not_run": [_scene(scene) for scene in proof.not_run],
                "headroom": {
                    "kv": left.kv,
                    "tokens": left.tokens,
                    "users": left.users,
                    "device": None
                    if left.device is None
                    else {"used": int(left.device.used), "total": int(left.device.total)},
                },
                "accounts": {
                    "sent": sums.sent,
                    "finished": sums.finished,
                    "failed": dict(sums.failed),
                    "prompt_tokens": sums.prompt_tokens,
                    "answer_tokens": sums.answer_tokens,
                    "server": asdict(sums.counted),
                    "balanced": sums.balanced,
                    "agrees": sums.agrees,
                },
                "plan": [asdict(row) for row in proof.compared],
                "notes": list(proof.notes),
            },
            indent=2,
        )
        + "\n"
    )


def _ask(ask: Ask) -> dict[str, object]:
    return asdict(ask)


def _scene(scene: Scene) -> dict[str, object]:
    return {
        "name": scene.name,
        "users": scene.users,
        "seconds": scene.seconds,
        "ramp": scene.ramp,
        "killer": scene.killer,
    }


def _stage(each: Judged) -> dict[str, object]:
    stage = each.stage
    return {
        **_scene(stage.scene),
        "result": each.result,
        "why": list(each.why),
        "begin": stage.begin,
        "end": stage.end,
        "requests": len(stage.outcomes),
        "failed": dict(stage.failed),
        "server": asdict(stage.counted),
        "kv_peak": each.kv_peak,
        "running_peak": each.running_peak,
        "waiting_peak": each.waiting_peak,
        "hung": stage.hung,
        "gone": stage.gone,
        "health": stage.health,
        "latency": {
            "first_token": _spread(each.speed.first_token),
            "between_tokens": _spread(each.speed.between_tokens),
            "whole": _spread(each.speed.whole),
        },
        "throughput": {
            "answer_tokens_per_second": each.speed.answer_rate,
            "tokens_per_second": each.speed.total_rate,
            "by_second": _spread(each.speed.by_second),
        },
        "samples": [
            {"at": scrape.at, "kv": scrape.kv_used, "running": scrape.running, "waiting": scrape.waiting}
            for scrape in stage.scrapes
        ],
    }


def _spread(spread: object) -> object:
    return None if spread is None else asdict(spread)  # type: ignore[call-overload]  # a Spread, which is a dataclass
