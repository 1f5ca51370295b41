"""Which gate a case failed at, as finely as levers are told apart there.

Knows that one phase of a log holds several gates: a start check is no load, and a pool that has no room is no profile.
Does not know any lever.
"""

import re
from collections.abc import Mapping
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.grounds.sizing import no_room
from oomph.ledger.gate import Step

_REFUSED: Final[Mapping[str, Step]] = {
    "too little free": Step.START_CHECK,
    "no pool": Step.POOL_SIZE,
    "no length fits": Step.POOL_SIZE,
    "pool below length": Step.ONE_REQUEST,
    "pool below request": Step.ONE_REQUEST,
    "sequences above states": Step.ONE_REQUEST,
}
_BEFORE_LOAD: Final = ("request_memory", "mem_get_info", "init_device", "mem_utils.py")
_NO_ROOM: Final = re.compile(r"No available memory for the cache blocks")
_NO_REQUEST: Final = re.compile(r"To serve at least one request|larger than the maximum number of tokens that can be")

# The pool as it is allocated comes after every check of its size: what helps there is what helps at a capture.
_PHASES: Final[Mapping[Phase, Step]] = {
    Phase.LOAD: Step.LOAD,
    Phase.PROFILE: Step.PROFILE,
    Phase.GRAPH_PROFILE: Step.GRAPH_PROFILE,
    Phase.KV_ALLOC: Step.CAPTURE,
    Phase.GRAPH_CAPTURE: Step.CAPTURE,
    Phase.WARM_UP: Step.WARM_UP,
    Phase.SERVING_PREFILL: Step.SERVING,
    Phase.SERVING_DECODE: Step.SERVING,
    Phase.IDLE_GROWTH: Step.SERVING,
}


def failed_gate(case: Case) -> Step | None:
    """The gate; None where none of them failed: memory of the host, or nothing that is known."""
    if case.phase in {Phase.LOAD, Phase.PROFILE, Phase.KV_ALLOC}:
        for name, step in _REFUSED.items():
            if case.spoken(name) is not None:
                return step
        if case.line(_NO_ROOM) is not None or no_room(case) is not None:
            return Step.POOL_SIZE
        if case.line(_NO_REQUEST) is not None:
            return Step.ONE_REQUEST
    if case.phase is Phase.LOAD and case.frame(*_BEFORE_LOAD) is not None and case.frame("load_model") is None:
        return Step.START_CHECK
    return None if case.phase is None else _PHASES.get(case.phase)
