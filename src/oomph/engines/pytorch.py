"""What PyTorch says when it runs out of device memory, whoever uses it.

Knows the allocator's sentence piece by piece, because pastes break it into lines and cut its end, and both accounts
that it has given: up to 2.0 in parentheses, since then in words. The file of all of them is
`c10/cuda/CUDACachingAllocator.cpp`. Does not know who asked, nor for what.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Final, TypeAlias

from oomph.engines.history import span
from oomph.engines.sentence import Notation, Sentence
from oomph.ledger.observation import Figure, Quantity
from oomph.units import GIB, KIB, MIB, TIB, Bounds

_UNITS: Final = {"bytes": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB}


def printed(text: str) -> Bounds:
    """What `758.67 MiB` may have been: two decimals of the unit, and bytes whole."""
    number, _, name = text.partition(" ")
    unit, half = _UNITS[name], Fraction(0 if name == "bytes" else 1, 200)
    middle = Fraction(number)
    low, high = (middle - half) * unit, (middle + half) * unit
    return Bounds(low.__ceil__(), high.__floor__(), round(middle * unit))


def _write(size: int) -> str:
    """As `format_size` there: the next unit begins above 1024, not at it."""
    if size <= KIB:
        return f"{int(size)} bytes"
    name = "KiB" if size <= MIB else "MiB" if size <= GIB else "GiB"
    return f"{size / _UNITS[name]:.2f} {name}"


NOTATIONS: Final = {
    "size": Notation(pattern=r"[0-9]{1,15}(?:\.[0-9]{1,2})? (?:bytes|[KMGT]iB)", read=printed, write=_write),
    "whole": Notation(pattern=r"[0-9]{1,18}", read=int, write=str),
}


def _says(name: str, template: str, since: str, until: str | None = None) -> Sentence:
    """A line of the table; its releases are PyTorch's."""
    return Sentence(name=name, template=template, span=span(since, until), notations=NOTATIONS)


OVERFLOW: Final = (
    _says("tried", "Tried to allocate {tried:size}", "1.0"),
    _says("capacity", "{total:size} total capacity;", "1.0", "2.1"),
    _says("allocated", "{allocated:size} already allocated;", "1.0", "2.1"),
    _says("capacity", "{free:size} free;", "1.0", "2.1"),
    _says("reserved", "{reserved:size} reserved in total by PyTorch", "1.0", "2.1"),
    _says("capacity", "has a total capacty of {total:size} of which {free:size} is free", "2.1", "2.2"),
    _says("capacity", "has a total capacity of {total:size} of which {free:size} is free", "2.2"),
    _says("this process", "this process has {in_use:size} memory in use", "2.1"),
    _says("a process", "Process {pid:whole} has {in_use:size} memory in use", "2.1"),
    _says("a process", "Process has {in_use:size} memory in use", "2.1"),
    _says("allocated", "Of the allocated memory {allocated:size} is allocated by PyTorch", "2.1"),
    _says("in private pools", "with {private:size} allocated in private pools", "2.4"),
    _says("unused", "{unused:size} is reserved by PyTorch but unallocated", "2.1"),
)

_MEANS: Final = {
    "tried": Quantity.TRIED,
    "total": Quantity.DEVICE_TOTAL,
    "free": Quantity.DEVICE_FREE,
    "allocated": Quantity.ALLOCATED,
    "private": Quantity.PRIVATE,
    "unused": Quantity.RESERVED,
}


Piece: TypeAlias = tuple[str, Mapping[str, Figure]]  # of the sentence: its name above, and its figures


def pieces(text: str) -> Iterator[Piece]:
    """Every piece that stands in a line; of processes there may be several."""
    for sentence in OVERFLOW:
        for found in sentence.pattern.finditer(text):
            yield sentence.name, {name: gap.read(found[name]) for name, gap in sentence.gaps.items()}


def account(said: Iterable[Piece]) -> dict[Quantity, Bounds]:
    """What the pieces of one failure say together."""
    pieces = list(said)
    sizes = [(gap, size) for _, figures in pieces for gap, size in figures.items() if isinstance(size, Bounds)]
    found = {_MEANS[gap]: size for gap, size in reversed(sizes) if gap in _MEANS}
    found.update(_processes(pieces))
    reserved = next((size for gap, size in sizes if gap == "reserved"), None)
    if reserved is not None and Quantity.ALLOCATED in found:
        found[Quantity.RESERVED] = _least_nothing(reserved - found[Quantity.ALLOCATED])
    if {Quantity.IN_USE, Quantity.ALLOCATED, Quantity.RESERVED} <= found.keys():
        inside = found[Quantity.ALLOCATED] + found[Quantity.RESERVED]
        found[Quantity.OUTSIDE] = _least_nothing(found[Quantity.IN_USE] - inside)
    return found


def _processes(said: Iterable[Piece]) -> dict[Quantity, Bounds]:
    """Who holds memory there. In a container it does not know itself: the only one that it lists is itself."""
    held = [(name, size) for name, piece in said if isinstance(size := piece.get("in_use"), Bounds)]
    own = [size for name, size in held if name == "this process"][:1] or [size for _, size in held if len(held) == 1]
    if not own:
        return {}
    others = [size for name, size in held if name == "a process"] if len(held) > 1 else []
    return {Quantity.IN_USE: own[0]} | ({Quantity.FOREIGN: sum(others, Bounds(0))} if others else {})


def _least_nothing(size: Bounds) -> Bounds:
    """A remainder is never below nothing, whatever rounding makes of it."""
    return Bounds(max(size.low, 0), max(size.high, 0), max(size.likely, 0))
