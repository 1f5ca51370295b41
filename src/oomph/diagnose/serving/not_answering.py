"""The endpoint does not answer, or answers something else.

## What happened
Nobody listens, nothing comes back in time, the status is no success, or the page says nothing of vLLM.

## Why
The server is down or still starting (it listens only once the model is loaded), too busy to answer, not vLLM, or was
started with `--disable-log-stats`, which takes its metrics away.

## What to do
Look whether the process lives and what its log says; give the address of the engine itself.
"""

from collections.abc import Sequence
from itertools import takewhile

from oomph.diagnose.serving.notice import Level, Notice
from oomph.diagnose.serving.words import counted, seconds
from oomph.ledger.answer import Answer, Trouble

_DO = {
    Trouble.UNREACHABLE: "is it running, and done with loading? `oomph explain LOG` says why one that was is not",
    Trouble.SILENT: "it accepts and does not answer: see whether its process stands still (py-spy dump --pid)",
    Trouble.REFUSED: "give the address of the engine itself, where /metrics is",
    Trouble.GARBAGE: "give the address of vLLM itself; was it started with --disable-log-stats?",
}


def check(answers: Sequence[Answer]) -> Notice | None:
    """What the last look met, and since when."""
    last = answers[-1]
    if last.trouble is None:
        return None
    failed = list(takewhile(lambda answer: answer.trouble is not None, reversed(answers)))
    before = [answer for answer in answers if answer.trouble is None]
    since = f"for {seconds(last.at - failed[-1].at)}" if len(failed) > 1 else "at this look"
    return Notice(
        name=f"endpoint-{last.trouble}",
        level=Level.ERROR,
        summary=f"{last.words or last.trouble}, {since}",
        evidence=(
            counted(len(failed), "look") + " without an answer",
            *((f"it last answered {seconds(last.at - before[-1].at)} ago",) if before else ()),
        ),
        do=(_DO[last.trouble],),
    )
