"""Another process answers than before.

## What happened
Its counters fell, or it says that it began later than the one that answered before. What ran in the old one is lost.

## Why
It crashed and was started again, it was rolled out anew, or its container was killed for memory.

## What to do
Read the end of the old log: `oomph explain` says why it ended. If the address leads to several servers by turns, watch
each by its own address: figures of one cannot be compared with those of another.
"""

from itertools import pairwise

from oomph.diagnose.serving.course import Course, anew
from oomph.diagnose.serving.notice import Level, Notice
from oomph.diagnose.serving.words import counted, seconds
from oomph.ledger.scrape import Scrape

RESTARTED, TURNS = "restarted", "servers-take-turns"
_AGAIN = 2  # restarts that were seen: from there on it is no accident
_OLD = 900.0  # seconds after which it is no news


def check(course: Course) -> Notice | None:
    """How often, when last, and what ran before; of long ago nothing is said."""
    times = [(before, after) for before, after in pairwise(course.scrapes) if anew(before, after)]
    lately = [(before, after) for before, after in times if course.last.at - _began(before, after) <= _OLD]
    if not lately:
        return None
    if any(_back(before, after) for before, after in lately):
        return _turns(course)
    before, after = lately[-1]
    lost, ago = before.running or 0, course.last.at - _began(before, after)
    again = f", for the {counted(len(times), 'time')} that was seen" if len(times) >= _AGAIN else ""
    return Notice(
        name=RESTARTED,
        level=Level.ERROR if len(times) >= _AGAIN else Level.WARNING,
        summary=f"began anew {seconds(ago)} ago{again}; {counted(lost, 'request')} ran before",
        evidence=(f"tokens generated {before.generation_tokens} → {after.generation_tokens}",),
        do=("read the end of the old log: `oomph explain LOG` says why it ended",),
    )


def _began(before: Scrape, after: Scrape) -> float:
    """As the process says, whose clock is not ours; else when it was first seen, which of kept looks may be later."""
    said = after.started
    return said if said is not None and before.at <= said <= after.at else after.at


def _back(before: Scrape, after: Scrape) -> bool:
    """Whether the one that answers now is older than the one that answered before."""
    return before.started is not None and after.started is not None and after.started < before.started


def _turns(course: Course) -> Notice:
    return Notice(
        name=TURNS,
        level=Level.WARNING,
        summary="several servers answer by turns at this address, so nothing can be said of any",
        evidence=(f"processes began at {len({scrape.started for scrape in course.scrapes})} different times",),
        do=("watch each server by its own address, not through what spreads the load",),
    )
