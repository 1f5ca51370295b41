"""Requests are under way and nothing moves.

## What happened
At every look of the last minute the engine had requests, and nothing moved: no step, no token, no request that ended,
and its pool neither filled nor emptied. The server still answers: its own process lives.

## Why
The engine is a process of its own behind the server. It may be stopped (a debugger, SIGSTOP), hang in a collective
while it waits for a rank that is gone, or hang in a kernel. `/health` asks whether that process is there, and not
whether it works.

## What to do
Look where it stands (`py-spy dump --pid` of VLLM::EngineCore), then restart it. Let a probe send one short request
instead of trusting `/health`.
"""

from oomph.diagnose.serving.course import Course
from oomph.diagnose.serving.notice import Level, Notice
from oomph.diagnose.serving.words import seconds
from oomph.ledger.scrape import Scrape

NAME = "engine-stuck"
LOOKS = 4  # so that three intervals lie between them
SPAN = 60.0  # seconds; a single step of a healthy engine is shorter
_COUNTERS = ("steps", "generation_tokens", "prompt_tokens", "requests")
_PROGRESS = (*_COUNTERS, "kv_used")  # a step that gives nobody a token is not counted, but takes blocks for its prompt


def check(course: Course) -> Notice | None:
    """No progress over several looks, with requests at each of them."""
    still = standing_still(course)
    span = still[-1].at - still[0].at if still else 0.0
    if len(still) < LOOKS or span < SPAN:
        return None
    last = still[-1]
    alive = {True: ", though /health answers", False: ", and /health says that it is dead", None: ""}[course.healthy]
    return Notice(
        name=NAME,
        level=Level.ERROR,
        summary=f"nothing moved in {seconds(span)} with {last.running or 0} running and {last.waiting or 0} waiting"
        f"{alive}",
        evidence=(
            f"{len(still)} looks, all with {last.generation_tokens} tokens generated and {last.steps} steps",
            "the server's own page answers, because it is another process than the engine",
        ),
        do=(
            "see where it stands: py-spy dump --pid of VLLM::EngineCore; then restart it",
            "let a liveness probe send one short request: /health does not see this",
        ),
    )


def standing_still(course: Course) -> tuple[Scrape, ...]:
    """The newest looks, as far back as nothing moved while requests were there."""
    last = course.last
    if last.asleep or all(getattr(last, counter) is None for counter in _COUNTERS):
        return ()
    still: list[Scrape] = []
    for scrape in reversed(course.current):
        if _progress(scrape) != _progress(last) or not (scrape.running or scrape.waiting):
            break
        still.append(scrape)
    return tuple(reversed(still))


def _progress(scrape: Scrape) -> tuple[float | None, ...]:
    return tuple(getattr(scrape, figure) for figure in _PROGRESS)
