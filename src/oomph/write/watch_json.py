"""What is watched as the contract `oomph.watch/1`: sizes in whole bytes, null where nothing is known.

Every key is always there. Rates are of the last minute, and null until two looks were taken.
"""

import json
from typing import Final

from oomph.diagnose.serving.fleet import Fleet
from oomph.diagnose.serving.judge import Judged, Standing
from oomph.diagnose.serving.notice import Notice

SCHEMA: Final = "oomph.watch/1"


def watch_json(fleet: Fleet, *, one_of_many: bool = False) -> str:
    """One object, with a line end; one of many is on a line of its own."""
    return json.dumps(_fleet(fleet), indent=None if one_of_many else 2) + "\n"


def _fleet(fleet: Fleet) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "at": fleet.at,
        "interval": fleet.interval,
        "state": fleet.state,
        "endpoints": [_endpoint(standing) for standing in fleet.standings],
        "devices": [
            {"index": device.index, "name": device.name, "total": device.total, "used": device.used}
            for device in fleet.memory
        ],
        "findings": [_finding(notice) for notice in fleet.notices],
    }


def _endpoint(standing: Standing) -> dict[str, object]:
    answer = standing.answer
    return {
        "endpoint": standing.endpoint,
        "answered": answer.trouble is None,
        "trouble": answer.trouble,
        "words": answer.words,
        "took": round(answer.took, 6),
        "healthy": answer.healthy,
        "findings": [_finding(notice) for notice in standing.notices],
        "engines": [_engine(engine) for engine in standing.engines],
    }


def _engine(engine: Judged) -> dict[str, object]:
    course, last = engine.course, engine.course.last
    return {
        "engine": last.engine,
        "model": last.model,
        "at": last.at,
        "started": last.started,
        "resident": last.resident,
        "looks": len(course.scrapes),
        "pool": {
            "used": last.kv_used,
            "tokens": last.tokens,
            "blocks": last.blocks,
            "block_tokens": last.block_tokens,
        },
        "running": last.running,
        "waiting": last.waiting,
        "waiting_by": dict(last.waiting_by),
        "asleep": last.asleep,
        "preemptions": last.preemptions,
        "preemptions_per_second": course.rate("preemptions"),
        "prefix": {"queries": last.prefix_queries, "hits": last.prefix_hits, "hit_rate": last.prefix_hit_rate},
        "finished": dict(last.finished),
        "rejected": dict(last.rejected),
        "requests_per_second": course.rate("requests"),
        "prompt_tokens_per_second": course.rate("prompt_tokens"),
        "generation_tokens_per_second": course.rate("generation_tokens"),
        "findings": [_finding(notice) for notice in engine.notices],
    }


def _finding(notice: Notice) -> dict[str, object]:
    return {
        "name": notice.name,
        "level": notice.level,
        "summary": notice.summary,
        "evidence": list(notice.evidence),
        "do": list(notice.do),
    }
