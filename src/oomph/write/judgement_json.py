"""A probe and what it means as the contract `oomph.probe/1`: the probe's own keys, and beside them `judgement`.

Whole bytes, every key always there, null where nothing is known. A saved answer is a probe again: who reads it passes
over the judgement and judges anew.
"""

import json

from oomph.diagnose.machine.holders import Holder
from oomph.diagnose.machine.judgement import Judged, Judgement
from oomph.diagnose.machine.remarks import Remark
from oomph.engines.vllm.believed import Believed
from oomph.engines.vllm.releases import HISTORY
from oomph.engines.vllm.start_check import StartCheck
from oomph.ledger.claims import Claim
from oomph.ledger.probe import Probe
from oomph.ledger.visible import Visible
from oomph.write import objects
from oomph.write.probe_json import probe_object


def judged_json(probe: Probe, found: Judgement) -> str:
    """One object, with a line end."""
    return json.dumps(probe_object(probe) | {"judgement": _judgement(found)}, indent=2) + "\n"


def _judgement(found: Judgement) -> dict[str, object]:
    return {
        "engine": HISTORY.engine,
        "release": str(found.release),
        "visible": _visible(found.visible),
        "devices": [_device(each) for each in found.devices],
        "expandable_segments_break": dict(found.segments),
        "remarks": [_remark(each) for each in found.remarks],
    }


def _visible(seen: Visible) -> dict[str, object]:
    return {
        "said": seen.said,
        "indices": [place.gpu.index for place in seen.places],
        "hidden": {str(index): why for index, why in seen.hidden.items()},
        "notes": list(seen.notes),
    }


def _device(found: Judged) -> dict[str, object]:
    place, device = found.place, found.device
    return {
        "ordinal": place.ordinal,
        "index": place.gpu.index,
        "uuid": place.part.uuid,
        "slice": None if place.slice is None else place.slice.name,
        "name": place.gpu.name if device is None else device.name,
        "cut": None if device is None else device.cut,
        "believed": None if found.believed is None else _believed(found.believed),
        "start_check": None if found.check is None else _check(found.check),
        "smallest": None if found.smallest is None else _claim(found.smallest),
        "claims": [_claim(claim) for claim in found.claims],
        "holders": [_holder(holder) for holder in found.holders],
        "unexplained": None if found.unexplained is None else int(found.unexplained),
        "remarks": [_remark(each) for each in found.remarks],
    }


def _believed(found: Believed) -> dict[str, object]:
    return {
        "total": int(found.total),
        "total_from": found.total_from.source,
        "now": objects.bounds(found.now),
        "free": objects.bounds(found.free),
        "free_from": found.free_from.source,
        "really": int(found.really),
    }


def _check(check: StartCheck) -> dict[str, object]:
    return {
        "share": check.share,
        "budget": int(check.budget),
        "verdict": check.verdict,
        "largest": check.largest,
        "likely": check.likely,
        "doubt": check.doubt,
    }


def _claim(claim: Claim) -> dict[str, object]:
    free = None if claim.free is None else int(claim.free)
    return {"source": claim.source, "size": int(claim.size), "free": free, "because": claim.because}


def _holder(holder: Holder) -> dict[str, object]:
    process = holder.process
    holds = None if process.holds is None else int(process.holds)
    return {"pid": process.pid, "name": process.name, "kind": holder.kind, "holds": holds}


def _remark(remark: Remark) -> dict[str, object]:
    return {"name": remark.name, "words": remark.words, "do": remark.do}
