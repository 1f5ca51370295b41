"""What is said the same way of every explanation, on a terminal and on a page: the answer, the subject, what to do.

Knows words. Does not know where they are put.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.case import Case, Phase
from oomph.diagnose.explain import Outcome
from oomph.diagnose.explanation import Explanation
from oomph.diagnose.finding import Finding, Remedy
from oomph.diagnose.moment import device_total
from oomph.diagnose.reconcile import Compared
from oomph.ledger.gate import Verdict
from oomph.units import Bounds
from oomph.write import sentences

ENGINE: Final = "vLLM"  # of which a bare flag is, where the log does not say
_WHEN: Final = {
    Phase.LOAD: "while loading",
    Phase.PROFILE: "in the profile run",
    Phase.GRAPH_PROFILE: "in the graph profile",
    Phase.KV_ALLOC: "while the pool was made",
    Phase.GRAPH_CAPTURE: "while graphs were captured",
    Phase.WARM_UP: "in the warm-up",
    Phase.SERVING_PREFILL: "while serving, reading a prompt",
    Phase.SERVING_DECODE: "while serving",
    Phase.IDLE_GROWTH: "after growing over time",
    Phase.HOST: "on the host",
}


def answer(found: Explanation) -> str:
    """What failed and why, in one sentence."""
    root = found.root
    if found.outcome is Outcome.NO_MEMORY_FAILURE:
        return sentences.sentence(root.summary if root is not None else "no memory failure is in this log")
    if root is None:
        return sentences.sentence(f"memory ran out{_when(found.case)}, and no rule recognises why")
    if found.outcome is Outcome.UNSURE:
        return sentences.sentence(f"not sure; perhaps {root.summary}")
    return sentences.sentence(root.summary)


def _when(case: Case) -> str:
    return "" if case.phase is None else f" {_WHEN[case.phase]}"


def subject(found: Explanation) -> str:
    """Of what, on what, and when."""
    case = found.case
    named = case.engine or (ENGINE if case.release is not None else None)
    engine = " ".join(str(part) for part in (named, case.release) if part is not None)
    device = _device(case)
    what = f"{case.model} on {device}" if case.model and device else case.model or device
    parts = [part for part in (what, engine) if part]
    if case.phase is not None and found.outcome is not Outcome.NO_MEMORY_FAILURE:
        parts.append(f"failed {_WHEN[case.phase]}")
    return ", ".join(parts)


def _device(case: Case) -> str | None:
    if case.devices:
        many = f"{len(case.devices)} × " if len(case.devices) > 1 else ""
        return f"{many}{case.devices[0].name}"
    total = device_total(case)
    return None if total is None else f"a device of {total}"


def sureness(finding: Finding) -> str:
    """How sure, as people say it."""
    return f"{round(finding.confidence * 100)} % sure"


def deed(remedy: Remedy, engine: str | None) -> str:
    """What to type, or what to do."""
    return remedy.act or sentences.change(remedy, engine or ENGINE)


def then(remedy: Remedy, case: Case) -> str | None:
    """What the forecast says with it; None where it was not asked."""
    tried = case.startup is not None and bool(remedy.change)
    known = remedy.verdict is not Verdict.UNSURE or remedy.spare is not None
    return sentences.result(remedy) if tried or known else None


def compared(each: Compared) -> str:
    """Both sizes, and whether they are the same."""
    if each.computed is None:
        return f"{each.seen.likely} seen"
    both = f"{each.seen.likely} seen, {_ranged(each.computed)} computed"
    if each.what == "weights" and each.seen.high < each.computed.low:
        return f"{both}: what was loaded is stored in fewer bits than this config says"
    return f"{both}: {'agrees' if each.agrees else 'differs'}"


def _ranged(size: Bounds) -> str:
    low, high = str(size.low), str(size.high)
    return low if low == high else f"{low} to {high}"


def figures(found: Explanation) -> Iterator[tuple[str, str, int]]:
    """Every figure that was read: what it is of, what it is, and the line that says it."""
    observation = found.case.observation
    for rank, readings in {} if observation is None else observation.ranks.items():
        for quantity, reading in readings.items():
            value = reading.value.likely if isinstance(reading.value, Bounds) else reading.value
            yield f"{quantity}{f' of {rank}' if rank else ''}", str(value), reading.line
