"""Which devices a CUDA process will see, and in which order: what `CUDA_VISIBLE_DEVICES` leaves of a machine.

Knows the forms of that variable (numbers, UUIDs, their prefixes, MIG slices) and that one process sees one slice at
most. Does not know how CUDA orders cards that differ: its guess of which is faster is written nowhere.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from oomph.ledger.probe import Gpu, Maker, Probe, Slice

_VARIABLES: Final = {
    Maker.NVIDIA: ("CUDA_VISIBLE_DEVICES",),
    Maker.AMD: ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
}
_ORDER: Final = "CUDA_DEVICE_ORDER"
_NUMBER: Final = re.compile(r"\s*\+?(?P<number>[0-9]{1,9})")  # what follows the digits is passed over, as strtoul does
_INSTANCE: Final = re.compile(r"MIG-(?P<card>GPU-[0-9a-fA-F-]+)/[0-9]+/[0-9]+")  # as drivers before 470 named slices


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One device as the process counts it: a card, or a slice of one."""

    ordinal: int  # the N of cuda:N
    gpu: Gpu
    slice: Slice | None = None

    @property
    def part(self) -> Gpu | Slice:
        """Where its memory is told."""
        return self.gpu if self.slice is None else self.slice


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """What a process will see, what it will not, and why."""

    places: tuple[Place, ...]
    hidden: Mapping[int, str]  # by the index of a card: why it is not seen
    said: str | None = None  # the variable as it is set: CUDA_VISIBLE_DEVICES=1,0
    ordered: bool = True  # whether `ordinal` is CUDA's own; False where cards differ and nobody says which is first
    lost: tuple[int, ...] = ()  # cards that would be seen, were they not broken: CUDA may refuse to start with them
    guessed: str | None = None  # why the slice is only the likeliest of several
    notes: tuple[str, ...] = ()


def visible(probe: Probe) -> Visible:
    """The devices that a process with this environment will find."""
    said = _said(probe)
    notes: list[str] = []
    if said is None:
        found: list[_Found] = [(gpu, None) for gpu in probe.gpus]
    else:
        found = list(_named(said.partition("=")[2], probe.gpus, notes))
    usable = list(_usable(found))
    kept = _one_slice(usable, notes)
    guessed = _guessed(said, kept)
    notes += [] if guessed is None else [guessed]
    counted = _counted(kept)
    ordered = counted is not None or len(probe.gpus) == 1 or not _may_be_reordered(said, probe)
    if not ordered:
        numbers = "the numbers here" if said is None else f"{said} may mean other cards: the numbers here"
        notes.append(
            f"cards differ and {_ORDER} is not PCI_BUS_ID: CUDA counts the fastest first, {numbers} are by bus"
        )
    places = tuple(Place(ordinal=number, gpu=gpu, slice=part) for number, (gpu, part) in enumerate(counted or kept))
    hidden = _hidden(probe, places, said)
    return Visible(
        places=places,
        hidden=hidden,
        said=said,
        ordered=ordered,
        lost=tuple(gpu.index for gpu, _ in found if gpu.error is not None),
        guessed=guessed,
        notes=tuple(notes),
    )


def _said(probe: Probe) -> str | None:
    if any(gpu.total is None and gpu.seen is not None and not gpu.listed for gpu in probe.gpus):
        return None  # only CUDA told of these, and it has heard the variable already
    maker = next((gpu.maker for gpu in probe.gpus), Maker.NVIDIA)
    found = (f"{name}={probe.environment[name]}" for name in _VARIABLES[maker] if name in probe.environment)
    return next(found, None)


_Found = tuple[Gpu, Slice | None]


def _named(value: str, gpus: tuple[Gpu, ...], notes: list[str]) -> Iterator[_Found]:
    """In the order of the list, up to the first word that names nothing; a device that is named twice leaves none."""
    found: list[_Found] = []
    words = value.split(",")
    numbered = _NUMBER.match(words[0]) is not None
    for word in words:
        one = _numbered(word, gpus) if numbered else _identified(word.strip(), gpus)
        if one is None:
            if word.strip():
                notes.append(f"{word.strip()[:60]!r} names no device here: it and all that follows it are passed over")
            break
        if any(one[0] is gpu and one[1] is part for gpu, part in found):
            notes.append(f"{word.strip()[:60]!r} is named twice, and CUDA then shows no device at all")
            return
        found.append(one)
    yield from found


def _numbered(word: str, gpus: tuple[Gpu, ...]) -> _Found | None:
    number = _NUMBER.match(word)
    index = -1 if number is None else int(number["number"])
    return next(((gpu, None) for gpu in gpus if gpu.index == index), None)


def _identified(word: str, gpus: tuple[Gpu, ...]) -> _Found | None:
    """By UUID or by the beginning of one; None where it begins none, or more than one."""
    if (instance := _INSTANCE.fullmatch(word)) is not None:
        return next(((gpu, None) for gpu in gpus if gpu.uuid == instance["card"]), None)
    if len(word) <= len("GPU-"):
        return None
    known: list[tuple[str | None, _Found]] = [(gpu.uuid, (gpu, None)) for gpu in gpus]
    known += [(part.uuid, (gpu, part)) for gpu in gpus for part in gpu.slices]
    begun = [found for uuid, found in known if uuid is not None and uuid.lower().startswith(word.lower())]
    return begun[0] if len(begun) == 1 else None


def _usable(found: list[_Found]) -> Iterator[_Found]:
    """Without what cannot be computed on; a card that is cut stands for its first slice."""
    for gpu, part in found:
        if gpu.error is not None:
            continue
        if part is not None or not gpu.mig:
            yield gpu, part
        elif gpu.slices:
            yield gpu, gpu.slices[0]


def _one_slice(found: list[_Found], notes: list[str]) -> list[_Found]:
    """One process sees one slice, and beside it no whole card."""
    sliced = [each for each in found if each[1] is not None]
    if sliced and len(found) > 1:
        notes.append("a process sees one MIG slice at most, and no other device beside it")
    return sliced[:1] or found


def _guessed(said: str | None, kept: list[_Found]) -> str | None:
    """The old name of a slice counts instances, which nobody told; it is sure only where a card has but one."""
    value = "" if said is None else said.partition("=")[2].strip()
    if not _INSTANCE.match(value) or not any(len(gpu.slices) > 1 for gpu, _ in kept):
        return None
    return f"which slice {value[:60]!r} names was not resolved: the card's first is taken for it"


def _counted(found: list[_Found]) -> list[_Found] | None:
    """In CUDA's own order, where it was asked and shows just these."""
    seen = [(gpu if part is None else part).seen for gpu, part in found]
    ordinals = [each.ordinal for each in seen if each is not None and each.ordinal is not None]
    if not found or sorted(ordinals) != list(range(len(found))):
        return None
    return [found[ordinals.index(number)] for number in range(len(found))]


def _may_be_reordered(said: str | None, probe: Probe) -> bool:
    """Whether CUDA may count otherwise; a list of UUIDs is in the order in which it is written."""
    numbered = said is None or _NUMBER.match(said.partition("=")[2]) is not None
    names = {gpu.name for gpu in probe.gpus if gpu.maker is Maker.NVIDIA}
    return numbered and len(names) > 1 and probe.environment.get(_ORDER) != "PCI_BUS_ID"


def _hidden(probe: Probe, places: tuple[Place, ...], said: str | None) -> dict[int, str]:
    shown = {place.gpu.index for place in places}
    return {gpu.index: _why_hidden(gpu, said) for gpu in probe.gpus if gpu.index not in shown}


def _why_hidden(gpu: Gpu, said: str | None) -> str:
    if gpu.error is not None:
        return gpu.error
    if gpu.mig and not gpu.slices:
        return "it is in MIG mode and has no slice"
    return said if said is not None else "a slice of another card is seen instead"
