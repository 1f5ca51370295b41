"""Whether an answer is right, in each of the ways that are counted.

Knows what counts as right. Does not know how answers are made.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from explained.asking import Answer, answer
from explained.records import Crash, Evidence
from oomph.diagnose.explain import Outcome
from oomph.diagnose.failed_gate import failed_gate
from oomph.diagnose.sieve import vain_levers
from oomph.engines.vllm.levers.effects import idle
from oomph.ledger.gate import Step

_CANDIDATES: Final = 3
_CHECKED: Final = frozenset(  # causes that stop an engine at its start check, which logs call the load
    {
        "orphan_engine_process",
        "previous_process_memory_not_yet_reclaimed",
        "other_process_on_gpu",
        "util_exceeds_free_at_start",
        "unified_memory_pool_shared_with_host",
    }
)
_SIZED: Final = frozenset(  # and those that leave no room for a pool, which logs call the profile
    {
        "budget_below_weights_plus_activations",
        "multi_instance_accounting",
        "nccl_buffers_after_snapshot",
        "weights_replicated_per_rank",
        "uneven_ranks_min_rank_binds",
        "sampler_logits_max_num_seqs",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Of one answer."""

    answer: Answer
    cause: bool  # the first is right
    candidate: bool  # one of the first three is
    unsure: bool
    phase: bool
    remedy: bool | None  # the first is among those that are known to have helped; None where none is known
    inert: tuple[str, ...]  # levers that were advised and are idle at the gate that failed

    @property
    def evidence(self) -> Evidence:
        """How much the log shows."""
        return self.answer.crash.evidence

    @property
    def good(self) -> bool:
        """As it should be: the cause where the log shows it, the doubt and a candidate where it does not."""
        return self.candidate and self.unsure if self.evidence is Evidence.INSUFFICIENT else self.cause


def marks(crashes: Iterable[Crash], *, all_given: bool = False) -> tuple[Marks, ...]:
    """Of all."""
    return tuple(marked(answer(crash, all_given=all_given)) for crash in crashes)


def marked(found: Answer) -> Marks:
    """Held against the label."""
    crash = found.crash
    causes = [finding.cause for finding in found.findings]
    return Marks(
        answer=found,
        cause=found.cause in crash.right,
        candidate=not crash.right.isdisjoint(causes[:_CANDIDATES]),
        unsure=found.outcome is Outcome.UNSURE,
        phase=found.case.phase == crash.phase,
        remedy=_repaired(found),
        inert=tuple(sorted({*_inert_as_found(found), *_inert_as_labelled(found)})),
    )


def _repaired(found: Answer) -> bool | None:
    if not found.crash.levers:
        return None
    remedies = found.findings[0].remedies if found.findings else ()
    return bool(remedies) and remedies[0].lever in found.crash.levers


def _inert_as_found(found: Answer) -> Iterator[str]:
    """At the gate that the answer itself takes for the one that failed."""
    step = failed_gate(found.case)
    if step is None or found.crash.engine != "vllm":
        return
    for finding in found.findings:
        for remedy in finding.remedies:
            yield from vain_levers(remedy, finding, found.case, step)


def _inert_as_labelled(found: Answer) -> Iterator[str]:
    """At the gate that really failed, of what the first finding advises and the repair did not need."""
    crash = found.crash
    if crash.engine != "vllm" or not found.findings:
        return
    steps = _steps(crash)
    for remedy in found.findings[0].remedies:
        lever = remedy.lever or ""
        if steps and lever not in {*crash.levers, "alloc_conf"} and _everywhere(lever, steps, found):
            yield lever


def _everywhere(lever: str, steps: Iterable[Step], found: Answer) -> bool:
    return all(idle(lever, step, found.case.release) is not None for step in steps)


def _steps(crash: Crash) -> tuple[Step, ...]:
    checked = (Step.START_CHECK,) if crash.cause in _CHECKED else ()
    sized = (Step.POOL_SIZE, Step.ONE_REQUEST)
    return {
        "load": (*checked, Step.LOAD),
        "profile": sized[:1] if crash.cause in _SIZED - {"sampler_logits_max_num_seqs"} else (Step.PROFILE, *sized),
        "graph-profile": (Step.GRAPH_PROFILE,),
        "kv-alloc": (*sized, Step.CAPTURE),
        "graph-capture": (Step.CAPTURE,),
        "warm-up": (Step.WARM_UP,),
        "serving-prefill": (Step.SERVING,),
        "serving-decode": (Step.SERVING,),
        "idle-growth": (Step.SERVING,),
    }.get(crash.phase, ())
