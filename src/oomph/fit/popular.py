"""What every guide says one should set, and why the proposal does not: each is forecast beside it.

Knows the popular choices. Does not argue: the forecast with the choice says what it would bring, or break.
"""

from collections.abc import Iterator
from typing import Final

from oomph.engines.vllm.levers import values
from oomph.engines.vllm.levers.startup import Change
from oomph.errors import UsageError
from oomph.fit.given import GIVEN, caches_beginnings
from oomph.fit.held import held
from oomph.fit.judge import SHARE, Judged
from oomph.fit.proposal import NotTaken, Proposal
from oomph.fit.workload import Workload
from oomph.ledger.gate import Verdict
from oomph.ledger.rest import Rest

_LENGTH: Final = "max_model_len"
_POPULAR: Final[tuple[Change, ...]] = (
    {SHARE: 0.8},
    {SHARE: 0.95},
    {"enforce_eager": True},
    {"kv_cache_dtype": "fp8"},
    {"max_num_seqs": 16},
    {"enable_prefix_caching": False},
)


def not_taken(proposal: Proposal, workload: Workload) -> Iterator[NotTaken]:
    """Of each popular choice that is not in the proposal: what it would change."""
    shorter: Change = {_LENGTH: workload.longest}
    for change in (*_POPULAR, shorter):
        now = proposal.judged
        taken = any(now.startup.flags.get(flag) == value for flag, value in change.items())
        why = None if taken or _cannot(now, change) else _why(now, change, workload)
        if why is not None:
            yield NotTaken(change=change, why=why)


def _why(now: Judged, change: Change, workload: Workload) -> str | None:
    if _given(now, change):
        return None
    changed = now.startup.but(change)
    try:
        forecast = changed.forecast()
    except UsageError as refused:
        return f"refused: {refused}"
    if Rest.of_all(forecast.gates) < now.risk and (gate := forecast.stopped_at) is not None:
        fails = "fails" if gate.verdict is Verdict.OVERFLOWS else "may fail"
        return f"it {fails} at {gate.step}: {gate.because}"
    return _told(now, held(forecast, workload, shares=caches_beginnings(changed), risk=now.risk))


def _cannot(now: Judged, change: Change) -> bool:
    """What the device or the checkpoint does not take is not popular there."""
    return "kv_cache_dtype" in change and not values.narrow_keys(now.startup, now.forecast)


def _given(now: Judged, change: Change) -> bool:
    """Where the pool is given, the share moves nothing."""
    return SHARE in change and GIVEN in now.startup.flags


def _told(now: Judged, after: int) -> str:
    before = now.held
    if after == before:
        return f"it changes nothing for this workload: {before} requests are held at once with it and without"
    if after < before:
        return f"it holds {after} requests at once instead of {before}"
    return (
        f"not needed: it would hold {after} requests at once, {now.wanted} are wanted and {before} are held without it"
    )
