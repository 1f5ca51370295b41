"""Which buffer llama.cpp could not get: from what it says of it, else from what it had already got, else from its size.

Knows the order in which they are asked for: weights, cache, compute, and a pool while it runs. Does not know causes.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Said
from oomph.engines import llama_cpp_refusals as llamacpp
from oomph.units import Bounds


class Buffer(StrEnum):
    """What llama.cpp keeps on a device."""

    WEIGHTS = "weights"
    CACHE = "cache"  # of keys and values, or of states
    COMPUTE = "compute"  # of a graph: reserved once for the largest step
    POOL = "pool"  # of kernels, that grows while it runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One that it could not get."""

    buffer: Buffer
    told: bool  # it says which; else it follows from what came before, or only from the size
    likely: bool  # it follows from what came before
    said: Said
    size: Bounds | None = None
    device: int | None = None


_TELLS: Final = (
    (Buffer.POOL, llamacpp.POOL),
    (Buffer.CACHE, llamacpp.CACHE),
    (Buffer.COMPUTE, llamacpp.GRAPH),
    (Buffer.WEIGHTS, llamacpp.WEIGHTS),
)


def refusal(case: Case) -> Refusal | None:
    """The one that ended it; none where it was not refused, or where it went on without after that."""
    log = _fatal(case)
    asked = [(said, found) for said in log if (found := llamacpp.refused(said.text)) is not None]
    told = next(((buffer, said) for buffer, pattern in _TELLS for said in log if pattern.search(said.text)), None)
    pool = told is not None and told[0] is Buffer.POOL
    if pool and not any(llamacpp.OVERFLOW.search(said.text) for said in log):
        told = None
    if not asked and told is None:
        return None
    line, (size, device) = asked[0] if asked else (told[1] if told else log[0], (None, None))
    if told is not None:
        return Refusal(buffer=told[0], told=True, likely=True, said=line, size=size, device=device)
    buffer, likely = _implied(case, line, size)
    return Refusal(buffer=buffer, told=False, likely=likely, said=line, size=size, device=device)


def retried(case: Case) -> Said | None:
    """The line in which it gives up its copies, and asks again for less."""
    return case.line(llamacpp.RETRIED)


def _fatal(case: Case) -> tuple[Said, ...]:
    """All of the log; or what comes after the last retry."""
    last = max((said.line for said, _ in case.lines(llamacpp.RETRIED)), default=0)
    return tuple(said for said in case.log if said.line > last)


def _implied(case: Case, refused: Said, size: Bounds | None) -> tuple[Buffer, bool]:
    """What it had got before this line was refused. A cache is a round number of MiB, and a graph's buffer is not."""
    before = [said.text for said in case.log if said.line < refused.line]
    if any(llamacpp.CACHED.search(text) or llamacpp.COPIES.search(text) for text in before):
        return Buffer.COMPUTE, True
    round_number = size is not None and llamacpp.whole(size)
    loaded = any(llamacpp.LOADED.search(text) for text in before)
    if loaded or any(llamacpp.CONTEXT.search(text) for text in before):
        return (Buffer.CACHE if round_number else Buffer.COMPUTE), True
    return (Buffer.CACHE if round_number else Buffer.COMPUTE), False
