"""More memory stays in use after every sleep: something is not given back.

## What happened

After `sleep` the engine says what it freed and what is still in use. What is still in use grew from one time to the
next, until the trainer beside it, or the next wake-up, found too little.

```log fires
(Worker pid=7) INFO 05-01 10:00:00 [gpu_worker.py:179] Sleep mode freed 43.82 GiB memory, 4.11 GiB memory is still in use.
(Worker pid=7) INFO 05-01 11:00:00 [gpu_worker.py:179] Sleep mode freed 43.80 GiB memory, 7.90 GiB memory is still in use.
(Worker pid=7) INFO 05-01 12:00:00 [gpu_worker.py:179] Sleep mode freed 43.81 GiB memory, 11.57 GiB memory is still in use.
```

```log silent
(Worker pid=7) INFO 05-01 10:00:00 [gpu_worker.py:179] Sleep mode freed 43.82 GiB memory, 4.11 GiB memory is still in use.
(Worker pid=7) INFO 05-01 11:00:00 [gpu_worker.py:179] Sleep mode freed 43.80 GiB memory, 4.14 GiB memory is still in use.
(Worker pid=7) INFO 05-01 12:00:00 [gpu_worker.py:179] Sleep mode freed 43.81 GiB memory, 4.12 GiB memory is still in use.
```

## Why

Only what was allocated in the pool of sleep mode is given back: graphs, workspaces of kernels, cached outputs of
encoders and everything outside of PyTorch stay. The figure is of the device, so that a neighbour's growth shows in it
too.

## What to do

Restart the engine from time to time, and compare releases.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.finding import Finding, Remedy, Said
from oomph.ledger.observation import Line
from oomph.units import MIB, Bounds

CAUSE: Final = "sleep_residual_growth"

_GROWN: Final = 512 * MIB  # by so much at least from the first to the last
_TWICE: Final = 2


def check(case: Case) -> Finding | None:
    """What each rank says after sleeping, in order: more and more."""
    for line, held in _ranks(case).values():
        if _grows(held):
            return _finding(line, held)
    return None


def _finding(lines: list[Line], held: list[Bounds]) -> Finding:
    first, last = lines[0], lines[-1]
    return Finding(
        code="GR001",
        name="more-held-after-each-sleep",
        cause=CAUSE,
        confidence=0.9 if len(held) > _TWICE else 0.75,
        summary=f"what stays in use while the engine sleeps grew from {held[0].likely} to {held[-1].likely} in {len(held)} turns",
        lines=tuple(Said(line=each.line, text=each.text, rank=each.rank) for each in (first, last)),
        arithmetic=(" → ".join(str(size.likely) for size in _few(held)),),
        remedies=(_RESTART, _WITHOUT),
        unhelpful={
            "--gpu-memory-utilization": "what grows is outside the pool",
            "PYTORCH_CUDA_ALLOC_CONF": "it sleeps in an allocator of its own, and what stays is not in fragments",
        },
        missing=("nvidia-smi per process: a neighbour's growth shows in the same figure",),
    )


def _ranks(case: Case) -> Mapping[str, tuple[list[Line], list[Bounds]]]:
    found: dict[str, tuple[list[Line], list[Bounds]]] = {}
    for line in _slept(case):
        held = line.figures.get("held")
        if isinstance(held, Bounds):
            lines, sizes = found.setdefault(line.rank, ([], []))
            lines.append(line)
            sizes.append(held)
    return found


def _slept(case: Case) -> Iterator[Line]:
    return (line for line in (() if case.observation is None else case.observation.lines) if line.name == "slept")


def _grows(held: list[Bounds]) -> bool:
    """Never much less than before, and much more in the end than at first."""
    steady = all(later.high >= earlier.low for earlier, later in pairwise(held))
    return len(held) >= _TWICE and steady and held[-1].low - held[0].high > _GROWN


def _few(held: list[Bounds]) -> list[Bounds]:
    """Five of them at most, the first and the last among them."""
    step = max(1, -(-(len(held) - 1) // 4))
    return [*held[:-1:step], held[-1]]


_RESTART: Final = Remedy(
    change={},
    act="restart the engine every few turns, by what is still in use after a sleep",
    lever="restart_periodically",
    price="one start-up each time",
)
_WITHOUT: Final = Remedy(
    change={},
    act="do without --enable-sleep-mode, if the device has room for both",
    lever="disable_sleep_mode",
    price="the engine keeps its weights and its pool all the time",
)
