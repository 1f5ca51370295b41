"""The start check on a machine that was looked at: whether a share passes, and the largest that would.

Knows that the engine compares its share of the total with what it finds free, and since when. A share is counted in
hundredths, as people write it.
"""

from dataclasses import dataclass

from oomph.engines.history import Release
from oomph.engines.vllm import facts
from oomph.engines.vllm.believed import Believed
from oomph.engines.vllm.requested import budget
from oomph.ledger.gate import Gate, Step, Verdict
from oomph.units import Bounds, Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCheck:
    """One share, and the largest ones that pass."""

    share: float
    budget: Bytes  # what that share asks for
    verdict: Verdict | None  # None where the release does not ask
    largest: (
        float | None
    )  # that passes even if the engine's context is the largest ever seen; None where none surely does
    likely: float | None  # that passes if it is as large as most
    doubt: str | None = None  # why the verdict is unsure whatever the figures say


def start_check(
    found: Believed, release: Release, share: float | None = None, *, doubt: str | None = None
) -> StartCheck:
    """What this release will say; of its default share, unless another is given."""
    doubt = doubt or found.doubt
    asked = facts.share.at(release) if share is None else share
    wanted = budget(found.total, share=asked, release=release)
    gate = Gate(step=Step.START_CHECK, needs=Bounds(wanted), has=found.free, said="")
    if not facts.start_check.at(release):
        return StartCheck(share=asked, budget=wanted, verdict=None, largest=None, likely=None, doubt=doubt)
    if doubt is not None:
        return StartCheck(share=asked, budget=wanted, verdict=Verdict.UNSURE, largest=None, likely=None, doubt=doubt)
    return StartCheck(
        share=asked,
        budget=wanted,
        verdict=gate.verdict,
        largest=largest_share(found.total, found.free.low, release),
        likely=largest_share(found.total, found.free.likely, release),
    )


def largest_share(total: Bytes, free: Bytes, release: Release) -> float | None:
    """In hundredths, the largest that asks for no more than is free; None where one hundredth is too much."""
    for hundredths in range(min(100, 100 * free // total + 1), 0, -1):
        wanted = budget(total, share=hundredths / 100, release=release)
        if wanted <= free:
            return hundredths / 100
    return None
