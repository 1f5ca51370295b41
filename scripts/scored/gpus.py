"""The devices of a start-up, as far as the record determines them.

Knows how people write the names of the catalogue. A total that was printed goes before the catalogue's, and a name
that fits several devices is settled only where the record shows more memory in use than the others have.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oomph.ledger.catalogue import CATALOGUE
from oomph.ledger.device import Device
from oomph.units import Bounds, Bytes
from scored.prints import gib, noted

# The first line whose words a name holds, and the devices of the catalogue that are called so.
_CALLED: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("h100 nvl", ("h100-nvl",)),
    ("nc80adis_h100", ("h100-nvl",)),
    ("h100 (94 gb", ("h100-nvl",)),
    ("h100 80gb", ("h100-80gb",)),
    ("h100", ("h100-80gb", "h100-nvl")),
    ("h200", ("h200",)),
    ("h20-3e", ("h20-3e",)),
    ("b200", ("b200",)),
    ("a100-sxm4-40gb", ("a100-40gb",)),
    ("a100 80gb", ("a100-80gb",)),
    ("a100-sxm4-80gb", ("a100-80gb",)),
    ("a100", ("a100-40gb", "a100-80gb")),
    ("a40", ("a40",)),
    ("a10", ("a10",)),
    ("l40s", ("l40s",)),
    ("l20", ()),
    ("l4", ("l4",)),
    ("t4", ("t4",)),
    ("gb10", ("gb10",)),
    ("2080 ti 22gb", ("rtx-2080-ti-22gb",)),
    ("3090", ("rtx-3090",)),
    ("4080", ("rtx-4080",)),
    ("4090 48gb", ()),
    ("4090", ("rtx-4090",)),
    ("5090 laptop", ("rtx-5090-laptop",)),
    ("5070 ti", ()),
    ("5090", ("rtx-5090",)),
    ("5080", ("rtx-5080",)),
    ("pro 4500", ("rtx-pro-4500",)),
    ("pro 6000", ("rtx-pro-6000",)),
)


def device(said: Mapping[str, object]) -> Device | None:
    """The device of a record; None where its memory is not known."""
    named, total = _named(said), total_of(said)
    if total is not None:
        own = Device(name=str(said.get("gpu") or f"a device of {total.likely}"), total=total.likely)
        found = replace(named, total=total.likely) if named is not None else own
    elif named is not None:
        found = named
    else:
        return None
    free = free_of(said)
    return found if free is None else replace(found, free=_within(free, found.total))


def total_of(said: Mapping[str, object]) -> Bounds | None:
    """What the driver said the device has; where it was not printed, what the printed share of it makes."""
    printed = gib(_figure(said, "gpu_total_gib"))
    notes, share = str(said.get("notes")), _figure(said, "gpu_memory_utilization")
    asked = noted(notes, r"Requested memory: [0-9.]+ \(util\),") or noted(notes, "requested=")
    if printed is not None or asked is None:
        return printed
    share = share or noted(notes, "Requested memory:")
    budget = gib(asked)
    if share is None or budget is None:
        return None
    return Bounds(*(Bytes(round(size / share)) for size in (budget.low, budget.high)))


def free_of(said: Mapping[str, object]) -> Bounds | None:
    """What was free before the engine began."""
    return gib(_figure(said, "gpu_free_at_start_gib") or noted(str(said.get("notes")), "Initial free memory:"))


def _within(free: Bounds, total: Bytes) -> Bounds:
    return Bounds(min(free.low, total), min(free.high, total), min(free.likely, total))


def _named(said: Mapping[str, object]) -> Device | None:
    written = str(said.get("gpu") or "").lower()
    keys = next((keys for words, keys in _CALLED if words in written), ())
    fitting = [CATALOGUE[key] for key in keys if key in CATALOGUE and _holds(CATALOGUE[key], said)]
    return fitting[0] if len(fitting) == 1 else None


def _holds(device: Device, said: Mapping[str, object]) -> bool:
    """Whether all that the record shows in use at once is on the device; its printed total must be its own, too."""
    used = gib(sum(_figure(said, name) or 0 for name in ("weights_gib", "available_kv_gib")))
    total = gib(_figure(said, "gpu_total_gib"))
    close = total is None or abs(total.likely - device.total) <= device.total // 50
    return close and (used is None or used.low <= device.total)


def _figure(said: Mapping[str, object], name: str) -> float | None:
    value = said.get(name)
    return float(value) if isinstance(value, int | float) else None
