"""docs/accuracy-explain.md: how often explanations are right, in words and tables.

Knows how the page is laid out. Does not know how a figure is computed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from explained.controls import CONTROLS
from explained.goals import GOALS, headline, share
from explained.marks import Marks
from explained.records import Evidence
from explained.wrapped import held


def page(all_marks: Sequence[Marks]) -> str:
    """The whole page."""
    parts = (_head, _headline, _by_evidence, _by_cause, _controls, _wrapped, _how)
    return "\n".join(line for part in parts for line in (*part(all_marks), "")).rstrip() + "\n"


def _head(all_marks: Sequence[Marks]) -> Iterator[str]:
    confirmed = sum(each.answer.crash.confirmed for each in all_marks)
    yield "# How often explanations are right"
    yield ""
    yield "Written by `scripts/score_explain`; do not edit. How accurate forecasts are: [accuracy.md](accuracy.md)."
    yield ""
    yield (
        f"{len(all_marks)} public failures whose log was kept are explained and held against the cause that their "
        f"thread found; in {confirmed} of them the cause was confirmed, by the fix or by a thread with the same "
        "signature. The headline counts only those."
    )


def _headline(all_marks: Sequence[Marks]) -> Iterator[str]:
    yield "## The headline"
    yield ""
    yield from _table("", "goal", "measured", "")
    figures = headline(all_marks)
    for goal in GOALS:
        found = figures[goal.name]
        met = {True: "met", False: "**not met**", None: ""}[goal.met(found)]
        yield _row(goal.words, _goal(goal.goal, less=goal.less), _figure(found, count=goal.less), met)


def _goal(goal: float | None, *, less: bool) -> str:
    return "" if goal is None else f"{goal:g}" if less else f"≥ {goal * 100:g} %"


def _figure(found: float | None, *, count: bool = False) -> str:
    return "" if found is None else f"{found:g}" if count else f"{found * 100:.1f} %"


def _by_evidence(all_marks: Sequence[Marks]) -> Iterator[str]:
    yield "## By what the log shows"
    yield ""
    yield (
        "Sufficient: the log shows the cause, and nothing else is given. Needs more: the arguments, the release and "
        "the GPU of the record are given beside the log, as a command line would. Insufficient: the log does not "
        "show it; right is to say so, and to have the cause among the first three candidates."
    )
    yield ""
    yield from _table("evidence", "confirmed", "records", "cause first", "among three", "unsure", "phase", "remedy")
    for evidence in Evidence:
        for confirmed in (True, False):
            some = [
                each for each in all_marks if each.evidence is evidence and each.answer.crash.confirmed is confirmed
            ]
            if some:
                yield _row(evidence.replace("_", " "), "yes" if confirmed else "no", str(len(some)), *_shares(some))


def _shares(some: Iterable[Marks]) -> Iterator[str]:
    every = tuple(some)
    yield _figure(share(each.cause for each in every))
    yield _figure(share(each.candidate for each in every))
    yield _figure(share(each.unsure for each in every))
    yield _figure(share(each.phase for each in every))
    yield _figure(share(each.remedy for each in every))


def _by_cause(all_marks: Sequence[Marks]) -> Iterator[str]:
    yield "## By cause"
    yield ""
    yield "All records, confirmed or not; right as above."
    yield ""
    yield from _table("cause", "records", "right")
    by_cause = defaultdict(list)
    for each in all_marks:
        by_cause[each.answer.crash.cause].append(each.good)
    for cause, right in sorted(by_cause.items(), key=lambda item: (-len(item[1]), item[0])):
        yield _row(f"`{cause}`", str(len(right)), str(sum(right)))


def _controls(all_marks: Sequence[Marks]) -> Iterator[str]:
    del all_marks
    yield "## What is no such failure"
    yield ""
    yield "Logs of our own making that look like the engine ran out of memory, and what is made of them."
    yield ""
    yield from _table("log", "answer", "")
    for control in CONTROLS:
        yield _row(control.name, control.made.removesuffix(" -"), "" if control.right else "**wrong**")


def _wrapped(all_marks: Sequence[Marks]) -> Iterator[str]:
    yield "## As other tools hand them out"
    yield ""
    yield "All records, with the same log behind prefixes, in JSON, coloured, quoted, or broken into lines."
    yield ""
    yield from _table("log", "cause", "phase")
    for name, cause, phase in held(all_marks):
        yield _row(name, _figure(cause), _figure(phase))


def _how(all_marks: Sequence[Marks]) -> Iterator[str]:
    del all_marks
    yield "## How it is counted"
    yield ""
    yield (
        "A cause is right where it is the record's label or its finer one. A first remedy is right where the thread "
        "was repaired by the same lever. A lever is idle where the table in `engines/vllm/levers/effects.py` says so, "
        "at the gate that the explanation takes for the failed one, and at every gate of the labelled phase."
    )


def _table(*names: str) -> Iterator[str]:
    yield _row(*names)
    yield _row(*("---" for _ in names))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
