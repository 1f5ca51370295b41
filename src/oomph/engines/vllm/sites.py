"""Which statement of vLLM's a line of its log comes from: what fails before it was up, or after.

Knows the statements in which the engine core and its workers tell the exception that ends them, by the number that
their logger prints with every line of the traceback: `[core.py:1142]`. Excerpts seldom keep the sentence, and nearly
always keep the number. Does not know what failed.
"""

from collections.abc import Iterable
from contextlib import suppress
from enum import Enum, auto
from functools import cache
from typing import Final

from oomph.engines.history import Release, Since
from oomph.engines.vllm.releases import HISTORY
from oomph.errors import UnknownRelease


class Site(Enum):
    """What the speaker was doing."""

    STARTING = auto()  # the engine core, before it was up
    RUNNING = auto()  # the engine core, since
    LOADING = auto()  # a worker, before it had its weights
    CALLED = auto()  # a worker, in anything that it was asked for since: the profile, a step


# The line that says "EngineCore failed to start."; two lines below it, "EngineCore encountered a fatal error.".
_FAILED_TO_START: Final = Since(
    {
        "0.8.5": 396,  # v1/engine/core.py
        "0.9.0": 500,  # v1/engine/core.py
        "0.9.1": 515,  # v1/engine/core.py
        "0.9.2": 586,  # v1/engine/core.py
        "0.10.0": 632,  # v1/engine/core.py
        "0.10.1": 700,  # v1/engine/core.py
        "0.10.2": 718,  # v1/engine/core.py
        "0.11.0": 708,  # v1/engine/core.py
        "0.11.1": 842,  # v1/engine/core.py
        "0.12.0": 843,  # v1/engine/core.py
        "0.13.0": 866,  # v1/engine/core.py
        "0.14.0": 936,  # v1/engine/core.py
        "0.15.0": 946,  # v1/engine/core.py
        "0.16.0": 1006,  # v1/engine/core.py
        "0.17.0": 1100,  # v1/engine/core.py
        "0.18.0": 1099,  # v1/engine/core.py
        "0.19.0": 1108,  # v1/engine/core.py
        "0.20.0": 1136,  # v1/engine/core.py
        "0.21.0": 1140,  # v1/engine/core.py
        "0.22.0": 1165,  # v1/engine/core.py
        "0.23.0": 1195,  # v1/engine/core.py
        "0.24.0": 1231,  # v1/engine/core.py
        "0.26.0": 1330,  # v1/engine/core.py
        "0.27.0": 1349,  # v1/engine/core.py
        "0.28.0": 1346,  # v1/engine/core.py
        "0.29.0": 1374,  # v1/engine/core.py
        "0.30.0": 1366,  # v1/engine/core.py
        "0.31.0": 1433,  # v1/engine/core.py
        "0.32.0": 1510,  # v1/engine/core.py
    }
)
# The line that says "WorkerProc failed to start."
_WORKER_FAILED_TO_START: Final = Since(
    {
        "0.8.0": 349,  # v1/executor/multiproc_executor.py
        "0.8.2": 350,  # v1/executor/multiproc_executor.py
        "0.8.3": 354,  # v1/executor/multiproc_executor.py
        "0.8.4": 353,  # v1/executor/multiproc_executor.py
        "0.8.5": 435,  # v1/executor/multiproc_executor.py
        "0.9.0": 487,  # v1/executor/multiproc_executor.py
        "0.9.1": 492,  # v1/executor/multiproc_executor.py
        "0.9.2": 487,  # v1/executor/multiproc_executor.py
        "0.10.0": 511,  # v1/executor/multiproc_executor.py
        "0.10.1": 559,  # v1/executor/multiproc_executor.py
        "0.10.2": 585,  # v1/executor/multiproc_executor.py
        "0.11.0": 597,  # v1/executor/multiproc_executor.py
        "0.11.1": 743,  # v1/executor/multiproc_executor.py
        "0.12.0": 750,  # v1/executor/multiproc_executor.py
        "0.13.0": 751,  # v1/executor/multiproc_executor.py
        "0.14.0": 749,  # v1/executor/multiproc_executor.py
        "0.15.0": 772,  # v1/executor/multiproc_executor.py
        "0.16.0": 783,  # v1/executor/multiproc_executor.py
        "0.17.0": 800,  # v1/executor/multiproc_executor.py
        "0.18.0": 852,  # v1/executor/multiproc_executor.py
        "0.19.0": 857,  # v1/executor/multiproc_executor.py
        "0.20.0": 870,  # v1/executor/multiproc_executor.py
        "0.23.0": 888,  # v1/executor/multiproc_executor.py
        "0.24.0": 898,  # v1/executor/multiproc_executor.py
        "0.26.0": 901,  # v1/executor/multiproc_executor.py
        "0.27.0": 912,  # v1/executor/multiproc_executor.py
        "0.28.0": 941,  # v1/executor/multiproc_executor.py
        "0.29.0": 944,  # v1/executor/multiproc_executor.py
        "0.31.0": 948,  # v1/executor/multiproc_executor.py
        "0.32.0": 953,  # v1/executor/multiproc_executor.py
    }
)
# The line that says "WorkerProc hit an exception."
_WORKER_HIT: Final = Since(
    {
        "0.8.0": 375,  # v1/executor/multiproc_executor.py
        "0.8.2": 379,  # v1/executor/multiproc_executor.py
        "0.8.3": 383,  # v1/executor/multiproc_executor.py
        "0.8.4": 380,  # v1/executor/multiproc_executor.py
        "0.8.5": 470,  # v1/executor/multiproc_executor.py
        "0.9.0": 522,  # v1/executor/multiproc_executor.py
        "0.9.1": 527,  # v1/executor/multiproc_executor.py
        "0.9.2": 522,  # v1/executor/multiproc_executor.py
        "0.10.0": 546,  # v1/executor/multiproc_executor.py
        "0.10.1": 596,  # v1/executor/multiproc_executor.py
        "0.10.2": 654,  # v1/executor/multiproc_executor.py
        "0.11.0": 671,  # v1/executor/multiproc_executor.py
        "0.11.1": 815,  # v1/executor/multiproc_executor.py
        "0.12.0": 822,  # v1/executor/multiproc_executor.py
        "0.13.0": 824,  # v1/executor/multiproc_executor.py
        "0.14.0": 822,  # v1/executor/multiproc_executor.py
        "0.15.0": 852,  # v1/executor/multiproc_executor.py
        "0.16.0": 863,  # v1/executor/multiproc_executor.py
        "0.17.0": 880,  # v1/executor/multiproc_executor.py
        "0.18.0": 932,  # v1/executor/multiproc_executor.py
        "0.19.0": 949,  # v1/executor/multiproc_executor.py
        "0.20.0": 962,  # v1/executor/multiproc_executor.py
        "0.23.0": 987,  # v1/executor/multiproc_executor.py
        "0.24.0": 1000,  # v1/executor/multiproc_executor.py
        "0.25.0": 1004,  # v1/executor/multiproc_executor.py
        "0.26.0": 1007,  # v1/executor/multiproc_executor.py
        "0.27.0": 1018,  # v1/executor/multiproc_executor.py
        "0.28.0": 1047,  # v1/executor/multiproc_executor.py
        "0.29.0": 1055,  # v1/executor/multiproc_executor.py
        "0.31.0": 1058,  # v1/executor/multiproc_executor.py
        "0.32.0": 1063,  # v1/executor/multiproc_executor.py
    }
)


_TABLES: Final = (
    ("core.py", _FAILED_TO_START, 0, Site.STARTING),
    ("core.py", _FAILED_TO_START, 2, Site.RUNNING),
    ("multiproc_executor.py", _WORKER_FAILED_TO_START, 0, Site.LOADING),
    ("multiproc_executor.py", _WORKER_HIT, 0, Site.CALLED),
)


def _table() -> dict[str, Site]:
    """By place; a place that two releases use for two things is left out."""
    found: dict[str, set[Site]] = {}
    for file, lines, more, where in _TABLES:
        for _, line in lines:
            found.setdefault(f"{file}:{line + more}", set()).add(where)
    return {place: sites.pop() for place, sites in found.items() if len(sites) == 1}


_SITES: Final = _table()


def site(place: str, known: Release | None = None) -> Site | None:
    """Of an error that is logged at `core.py:1142`; None where that is no such statement of the release."""
    return _SITES.get(place) if known is None else _of(known).get(place)


@cache
def _of(known: Release) -> dict[str, Site]:
    """The places of one release; none where it is older than the tables."""
    found = {}
    for file, lines, more, where in _TABLES:
        with suppress(UnknownRelease):
            found[f"{file}:{lines.at(known) + more}"] = where
    return found


def release_at(places: Iterable[str]) -> Release | None:
    """The newest release that logs errors at all of these places; None where more than patch releases do, or none."""
    known = [place for place in places if any(place in _of(each) for each in HISTORY.releases)]
    fitting = [each for each in HISTORY.releases if known and all(place in _of(each) for place in known)]
    return fitting[-1] if len({each.key[:2] for each in fitting}) == 1 else None
