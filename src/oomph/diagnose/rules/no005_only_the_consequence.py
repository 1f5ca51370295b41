"""The log only tells that something failed elsewhere: its cause is in lines that are not here.

## What happened

"Engine core initialization failed. See root cause above", "EngineDeadError", a broken connection between ranks: these
are said by processes that lost another one. They are never the cause.

```log fires
(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
```

```log silent
(EngineCore pid=7) ERROR 08-01 10:00:00 [core.py:1231] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
```

## Why

Every process of an engine logs for itself. The one that failed wrote its error first, often hundreds of lines earlier.

## What to do

Look for the first error of each rank, further up.
"""

import re
from typing import Final

from oomph.diagnose.case import Case
from oomph.diagnose.causes import NO_MEMORY_FAILURE
from oomph.diagnose.finding import Finding, Remedy
from oomph.ledger.observation import Quantity

CAUSE: Final = NO_MEMORY_FAILURE

HINTS: Final = (b"See root cause above", b"EngineDeadError", b"See stack trace")

_CONSEQUENCE: Final = re.compile(
    r"Engine core initialization failed|See (?:root cause|stack trace) (?:above|for)|EngineDeadError|EngineCore encountered an issue"
    r"|Engine process failed to start|WorkerProc initialization failed|ncclRemoteError|Engine loop is not running\b"
)
_CAUSE: Final = re.compile(
    r"out of memory|Cannot allocate|OutOfMemory|No available memory|KV cache is needed|Free memory on device|Error in memory profiling"
    r"|[Kk]illed|SIGKILL|137|No space left|shared memory|NVML_SUCCESS|allocate"
)
_STOPPED: Final = re.compile(
    r"trigger received signal=SIG(?:TERM|INT)|API server: shutdown triggered|KeyboardInterrupt"
)
_NO_ERROR: Final = frozenset({"Traceback"})


def check(case: Case) -> Finding | None:
    """Only such lines, and no error of its own in any other."""
    said = case.line(_CONSEQUENCE)
    if said is None or case.size(Quantity.TRIED) is not None or case.line(_CAUSE) is not None:
        return None
    own = [each for each in case.failures if each.kind not in _NO_ERROR and not _CONSEQUENCE.search(each.said.text)]
    if own or any(failure.frames for failure in case.failures):
        return None
    stopped = case.line(_STOPPED)
    return Finding(
        code="NO005",
        name="only-the-consequence",
        cause=CAUSE,
        confidence=0.3 if stopped is None else 0.75,
        summary=_UNTOLD
        if stopped is None
        else "the engine was told to stop, and what was still waiting for it says so",
        lines=tuple(line for line in (stopped, said) if line is not None),
        remedies=() if stopped is not None else (_ABOVE,),
        missing=(_FIRST_ERROR,) if stopped is None else (),
    )


_UNTOLD: Final = "a process tells that another failed; why is not in this log"
_FIRST_ERROR: Final = "the first error of each rank (EngineCore, Worker), further up, and the lines just before it"
_ABOVE: Final = Remedy(
    change={},
    act="give the log from the start of the engine on, of every process",
    lever="whole_log",
    price="none",
)
