"""Requests are turned away, or end in an error.

## What happened
The counter of requests refused at the door, or of those that ended in an error, rose in the last minute.

## Why
Refused: a limit of the queue was reached (`--max-num-queued-reqs`, counted from 0.32.0 on), which is what it is for.
Error: the engine gave a request up, for example because its KV could not be loaded; its client saw status 500.

## What to do
Refused: add an engine, or accept it: a full queue helps nobody. Error: read the log of that minute.
"""

from oomph.diagnose.serving.course import Course
from oomph.diagnose.serving.notice import Level, Notice
from oomph.diagnose.serving.words import counted, seconds

NAME = "requests-turned-away"


def check(course: Course) -> Notice | None:
    """What rose in the last minute."""
    recent = course.recent()
    first, last = recent[0], recent[-1]
    refused = sum(last.rejected.values()) - sum(first.rejected.values()) if first.rejected else 0
    failed = last.finished.get("error", 0) - first.finished.get("error", 0) if first.finished else 0
    if refused <= 0 and failed <= 0:
        return None
    said = [
        *([f"{counted(failed, 'request')} ended in an error"] if failed > 0 else []),
        *([f"{counted(refused, 'request')} refused at the door"] if refused > 0 else []),
    ]
    return Notice(
        name=NAME,
        level=Level.ERROR if failed > 0 else Level.WARNING,
        summary=f"{' and '.join(said)} in {seconds(last.at - first.at)}",
        evidence=tuple(f"refused for {reason}: {count:,} in all" for reason, count in last.rejected.items() if count),
        do=("read the log of that minute" if failed > 0 else "add an engine, or accept it: a full queue helps nobody",),
    )
