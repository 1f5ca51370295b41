"""What other processes hold of the device, by the account that PyTorch gives when it runs out.

Knows that in a container a process does not recognise itself, so that one that is listed alone is the engine. Does not
know who they are.
"""

from collections.abc import Iterator
from typing import Final

from oomph.diagnose.case import Case
from oomph.engines import pytorch
from oomph.ledger.observation import Quantity
from oomph.units import Bounds, Bytes

_SOME: Final = 25  # of a device: what others hold below a 25th of it decides nothing


def held_by_others(case: Case) -> Bytes | None:
    """At least this much, as the first account says; None where it lists nobody else."""
    if (foreign := case.size(Quantity.FOREIGN)) is not None:
        return foreign.likely
    listed = [] if case.failure is None else list(_listed(case.failure.said.text))
    return Bytes(sum(listed) - max(listed)) if len(listed) > 1 else None


def crowded(case: Case) -> bool:
    """Whether others hold enough to matter."""
    others, total = held_by_others(case), case.size(Quantity.DEVICE_TOTAL)
    return others is not None and total is not None and others * _SOME >= total.likely


def _listed(text: str) -> Iterator[int]:
    for name, figures in pytorch.pieces(text):
        if name == "a process" and isinstance(holds := figures["in_use"], Bounds):
            yield int(holds.likely)
