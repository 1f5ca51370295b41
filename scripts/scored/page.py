"""docs/accuracy.md: how far forecasts lie from what start-ups measured, in words and tables.

Knows how the page is laid out. Does not know how a figure is computed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from oomph.ledger.gate import Verdict
from oomph.units import GIB
from scored import common_case, tables
from scored.board import Board
from scored.components import Component
from scored.derived import derived
from scored.goals import GOALS, headline
from scored.outcomes import ended, verdicts
from scored.reasons import POOLS, RIVALS
from scored.svg import Strip
from scored.tables import percent


def page(board: Board) -> str:
    """The whole page."""
    parts = (_head, _headline, _components, _verdicts, _groups, _worst, _settings, _others, _rivals, _open, _how)
    return "\n".join(line for part in parts for line in (*part(board), "")).rstrip() + "\n"


def strips(board: Board) -> tuple[Strip, ...]:
    """The rows of the plot."""
    shown = (
        Component.WEIGHTS,
        Component.TOKENS,
        Component.POOL,
        Component.TOLD,
        Component.ACTIVATION,
        Component.GRAPHS,
    )
    ours = [Strip(name=each.value, errors=[point.error for point in board.stock.points[each]]) for each in shown]
    return (*ours, Strip(name="pool, by other tools", errors=POOLS, others=True))


def _head(board: Board) -> Iterator[str]:
    determined = sum(row.record.determined for row in board.rows)
    yield "# How accurate the forecast is"
    yield ""
    yield (
        "Written by `scripts/score`; do not edit. How often failures are explained right: "
        "[accuracy-explain.md](accuracy-explain.md)."
    )
    yield ""
    yield (
        f"{len(board.rows)} public start-ups of vLLM, from logs in repositories and from issue threads, are forecast "
        f"from what their records say, and held against what they printed. {determined} records determine everything "
        "that a forecast takes; of the others, each figure is scored where nothing is open that it depends on. "
        "Printed figures are rounded: an error counts from the nearest value that rounds to the printed one."
    )
    yield ""
    yield "Each forecast is made with a calibration that has seen no record of the same source (repository or thread)."
    yield ""
    yield "![Errors of each component, one dot per start-up](accuracy.svg)"


def _headline(board: Board) -> Iterator[str]:
    yield "## The headline"
    yield ""
    yield "Records of published vLLM that determine the figure."
    yield ""
    yield from tables.rule("", "goal", "measured", "")
    figures = headline(board)
    for goal in GOALS:
        found = figures[goal.name]
        if found is not None and not goal.name.endswith(".records"):
            met = {True: "met", False: "**not met**", None: ""}[goal.met(found)]
            sign = "≥" if goal.more else "≤"
            shown = f"{percent(found)}{_of(goal.name, board)}"
            yield tables.row(goal.words, "" if goal.goal is None else f"{sign} {goal.goal * 100:g} %", shown, met)
    yield ""
    yield f"The outcome rests on {ended(board.stock.verdicts)}."


def _of(name: str, board: Board) -> str:
    """Of how many a share of verdicts is."""
    sure, every = board.stock.verdicts.decided, board.stock.verdicts.count
    started = verdicts(board.stock.started)
    counts = {
        "outcome.right": sure,
        "outcome.unsure": every,
        "starts.right": started.decided,
        "starts.unsure": started.count,
    }
    return f" of {counts[name]}" if name in counts else ""


def _components(board: Board) -> Iterator[str]:
    yield "## By component"
    yield ""
    yield "Errors are of the likely value; a relative error says little of what is near 0, so GiB stand beside it."
    yield ""
    yield from tables.components(board.stock)
    yield ""
    yield tables.weighed(board.stock)


def _verdicts(board: Board) -> Iterator[str]:
    yield "## Verdicts"
    yield ""
    yield from tables.endings(board.stock.verdicts)
    yield ""
    yield "Of the start-up alone, without the worst step in service: " + tables.sentence(verdicts(board.stock.started))
    wrong = [each for each in board.stock.told if each.said.value != "unsure" and not each.right]
    if wrong:
        yield ""
        yield "Wrong: " + "; ".join(f"{each.id} ({each.said}, was: {each.ended})" for each in wrong) + "."


def _groups(board: Board) -> Iterator[str]:
    yield "## The pool by family, device and release"
    for title, key in (("Family", tables.family), ("Device", tables.device), ("Release", tables.series)):
        yield ""
        yield from tables.groups(title, board, key)
    yield ""
    middle = tables.by_source(board)
    yield f"Some sources have many records. With every source counted once, the median error is {percent(middle)}."


def _settings(board: Board) -> Iterator[str]:
    found = tuple(derived(row.record for row in board.rows))
    yield "## Settings that nobody gave"
    yield ""
    yield (
        "Forecasts take the settings that a log prints. Of records whose arguments are quoted whole, "
        f"{len(found)} printed settings were not given; from device, model and release we derive "
        f"{sum(each.same for each in found)} of them as printed."
    )
    yield ""
    for each in found:
        if not each.same:
            yield f"- {each.id}: `{each.name}` was {each.printed:g}, we derive {each.ours:g}"


def _worst(board: Board) -> Iterator[str]:
    yield "## The ten pools that are farthest off"
    yield ""
    yield from tables.worst(board, 10)


def _others(board: Board) -> Iterator[str]:
    yield "## Other builds"
    yield ""
    yield "Forks, Unsloth's patched engine, ROCm, an unpublished commit, weights kept on the CPU: in no figure above."
    yield ""
    yield from tables.components(board.altered)
    yield ""
    yield "Over these: " + tables.sentence(board.altered.verdicts)
    yield ""
    yield "## Records that do not state their release"
    yield ""
    yield "Nothing else is open that the figure needs; the newest release of the record's day stands in."
    yield ""
    yield from tables.components(board.dated)
    yield ""
    yield "Over these: " + tables.sentence(board.dated.verdicts)


def _rivals(board: Board) -> Iterator[str]:
    del board
    found = common_case.ours()
    yield "## Beside other tools"
    yield ""
    yield from tables.rule("tool", "error", "basis")
    if found.pool is not None:
        off = found.pool.likely / common_case.POOL - 1
        bounds = f"{found.pool.likely / GIB:.2f} ({found.pool.low / GIB:.2f} to {found.pool.high / GIB:.2f})"
        right = "right" if found.verdict is Verdict.OVERFLOWS else "not sure"
        yield tables.row(
            "**oomph**", f"{off * 100:+.0f} % ({bounds} for 4.50 GiB), verdict {right}", "the one start-up below"
        )
    for rival in RIVALS:
        yield tables.row(rival.name, rival.error, rival.basis)
    yield ""
    yield (
        "The start-up: Qwen3-8B in bf16, a card of about 24 GB (we took 23.57 GiB), vLLM of October 2025 (we took "
        "0.11.0), utilization 0.90, length 40,960. Its log says 4.50 GiB for the pool, and refuses. Errors are of the "
        "pool, as each tool printed it. It is in no figure above."
    )


def _open(board: Board) -> Iterator[str]:
    yield "## What records leave open"
    yield ""
    reasons = Counter(reason for row in board.rows for reason in row.record.open)
    yield from tables.rule("open", "records")
    yield from (tables.row(reason.value, str(count)) for reason, count in reasons.most_common())
    yield ""
    refused = [row for row in board.rows if row.record.model is not None and row.alone.refused is not None]
    yield from _refusals(row.record.id + ": " + str(row.alone.refused) for row in refused)


def _refusals(lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield "Not forecast:"
        yield ""
        yield from (f"- {line}" for line in found)


def _how(board: Board) -> Iterator[str]:
    del board
    yield "## How to read it"
    yield ""
    yield (
        "*Error*: the likely value against the measured one, as a share of that. *p90*: nine of ten errors are no "
        "larger. *Inside*: the measured value lies between our low and our high; weights have neither. *Width*: "
        "high less low, of the device's memory. *Tokens*: what our planner makes of the pool as it was printed, "
        "against the printed number of tokens; a pool printed with two decimals stands for a range, and so do its "
        "tokens. A verdict counts as right where we are sure and the start-up ended so, at a gate of that kind: "
        "refusals are start-check, pool-size and one-request, out of memory at start are load, profile, "
        "graph-profile, capture and warm-up."
    )
