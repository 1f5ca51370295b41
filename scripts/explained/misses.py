"""What is not yet right, by id, for whoever works on it."""

from collections.abc import Iterable, Iterator

from explained.controls import CONTROLS
from explained.marks import Marks


def misses(all_marks: Iterable[Marks]) -> Iterator[str]:
    """One line for each record that lacks something; confirmed ones first."""
    every = sorted(all_marks, key=lambda each: (not each.answer.crash.confirmed, each.evidence, each.answer.crash.id))
    yield f"{'id':<26} {'conf':<4} {'evidence':<12} what"
    for each in every:
        crash = each.answer.crash
        if said := "; ".join(_lacks(each)):
            yield f"{crash.id:<26} {'yes' if crash.confirmed else 'no':<4} {crash.evidence[:12]:<12} {said}"
    for control in CONTROLS:
        if not control.right:
            yield f"control: {control.name}: {control.made}"


def _lacks(each: Marks) -> Iterator[str]:
    found, crash = each.answer, each.answer.crash
    if not each.good:
        ranked = ", ".join(f"{one.cause} {one.confidence:.2f} ({one.code})" for one in found.findings[:3]) or "nothing"
        yield f"cause {crash.cause}, found {found.outcome}: {ranked}"
    if not each.phase:
        yield f"phase {crash.phase}, found {found.case.phase}"
    if each.remedy is False and each.cause:
        first = found.findings[0].remedies[:1]
        yield f"repaired by {','.join(crash.levers)}, advised {first[0].lever if first else 'nothing'}"
    if each.inert:
        yield f"INERT advice {', '.join(each.inert)}"
