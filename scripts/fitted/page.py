"""docs/accuracy-fit.md: what `fit` proposes to those who could not start, in words and tables.

Knows how the page is laid out. Does not know how a figure is computed.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from fitted.asking import Answer, Capacity
from fitted.failed import Failed, Reason
from fitted.goals import GOALS, headline
from fitted.marks import Marks
from oomph.diagnose.typed import typed
from oomph.engines.vllm.levers.startup import Change

_ELSEWHERE: Final = ("memory of the host", "other hardware")
_ROUNDS: Final = ("quantization", "kv_cache_dtype")


def page(found: Sequence[Marks], records: Sequence[Failed]) -> str:
    """The whole page."""
    parts = (
        _head(found, records),
        _headline(found),
        _compared(found),
        _asked(found),
        _unforeseen(found),
        _not_asked(records),
        _how(),
    )
    return "\n".join(line for part in parts for line in (*part, "")).rstrip() + "\n"


def _head(found: Sequence[Marks], records: Sequence[Failed]) -> Iterator[str]:
    yield "# What `fit` says to those who could not start"
    yield ""
    yield "Written by `scripts/score_fit`; do not edit. How accurate forecasts are: [accuracy.md](accuracy.md)."
    yield ""
    yield (
        f"{len(records)} public start-ups of vLLM were refused or died before they served. {len(found)} of them say "
        "enough to be asked again: `oomph fit` with the same model, devices and release, all flags about memory open."
    )


def _headline(found: Sequence[Marks]) -> Iterator[str]:
    yield "## The headline"
    yield ""
    yield from _table("", "")
    figures = headline(found)
    for goal in GOALS:
        yield _row(goal.words, str(figures[goal.name]))


def _compared(found: Iterable[Marks]) -> Iterator[str]:
    yield "## Beside what is known to work"
    yield ""
    yield (
        "The longest request, and how many of the asked length are held at once. Theirs: as printed, else as forecast. "
        "Nothing, and what failed again, is worse."
    )
    yield ""
    yield from _table("record", "source", "their flags", "theirs", "ours", "", "because")
    for each in found:
        working = each.answer.reading.working
        if working is not None and each.compared is not None:
            yield _row(
                each.answer.record.id,
                working.source,
                _flags(working.flags),
                _capacity(each.answer.theirs),
                _capacity(each.answer.ours),
                each.compared,
                "; ".join(_remarks(each)),
            )


def _remarks(each: Marks) -> Iterator[str]:
    best = each.answer.fitted.proposal
    change = {} if best is None else best.change
    yield from ("what failed, again",) if each.repeated else ()
    yield from (f"it rounds: {_flags({flag: change[flag]})}" for flag in _ROUNDS if flag in change)
    yield from (each.answer.reading.remark,) if each.answer.reading.remark else ()


def _capacity(found: Capacity | None) -> str:
    return "nothing" if found is None else f"{found.length:,} tokens; {found.users} × the asked length"


def _asked(found: Iterable[Marks]) -> Iterator[str]:
    yield "## All that were asked"
    yield ""
    yield (
        "*Forecast of it*: the gate at which the command that failed stops, or may stop. *Proposal*: sure, likely, or "
        "why there is none. *Remarks*: what stands in for what the record leaves open, and what is known to be amiss."
    )
    yield ""
    yield from _table(
        "record", "model", "devices, release", "it failed", "forecast of it", "asked", "proposal", "remarks"
    )
    for each in found:
        answer = each.answer
        yield _row(
            answer.record.id,
            answer.record.model,
            f"{answer.reading.gpu}, {answer.reading.release}",
            answer.record.happened,
            "passes" if each.gate is None else each.gate,
            f"{answer.workload.users} × {answer.workload.longest:,}",
            _proposal(each),
            "; ".join((*answer.reading.assumed, *filter(None, (answer.reading.remark,)))),
        )


def _proposal(each: Marks) -> str:
    best = each.answer.fitted.proposal
    if best is None:
        return f"nothing: {_why(each.answer)}"
    again = " (**what failed, again**)" if each.repeated else ""
    return f"{each.outcome}: {_flags(best.change)}{again}"


def _why(answer: Answer) -> str:
    """The gate in the way of the defaults, and what would help."""
    gate = answer.startup.forecast().stopped_at
    stopped = "" if gate is None else f"by default it stops at {gate.step}; "
    helps = [words for words in answer.fitted.instead if not words.startswith(_ELSEWHERE)]
    return f"{stopped}{'; '.join(helps) or 'no more of the same device helps'}"


def _unforeseen(found: Iterable[Marks]) -> Iterator[str]:
    yield "## What the forecast does not see"
    yield ""
    yield "The command that failed passes every gate of the forecast, so a proposal is no evidence."
    yield ""
    yield from _table("record", "it failed", "why it is not seen")
    for each in found:
        if not each.foreseen:
            yield _row(each.answer.record.id, each.answer.record.happened, each.answer.reading.remark)


def _not_asked(records: Sequence[Failed]) -> Iterator[str]:
    yield "## What cannot be asked"
    yield ""
    yield from _table("because", "records", "")
    for reason in Reason:
        some = [record.id for record in records if record.reason is reason]
        yield _row(reason, str(len(some)), ", ".join(some))


def _how() -> Iterator[str]:
    yield "## How it is counted"
    yield ""
    yield (
        "What a record says of precision, adapters and the cache's format stays; share, lengths, sequences, steps, "
        "graphs, ranks and pool are open. The length is the one that was asked for, else the model's whole context. "
        "One user, or as many as the working configuration holds. Where a record does not name its release, the newest "
        "of its day; where a checkpoint's config is not at hand, the recipe that its name says: the last column names "
        "every such assumption. A proposal is held against the forecast, not against the engine: nobody ran it."
    )


def _flags(change: Change) -> str:
    """As they are typed, variables too."""
    words = (f"{flag}={value}" if flag.isupper() else typed(flag, value) for flag, value in change.items())
    return " ".join(f"`{word}`" for word in words) or "the defaults"


def _table(*names: str) -> Iterator[str]:
    yield _row(*names)
    yield _row(*("---" for _ in names))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
