"""The headline figures: what they are, what they shall be, and when one has become worse.

Knows which way is better for each, and how much a figure may move without anybody having made it worse. Does not know
how a figure is computed.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from scored.board import Board
from scored.components import Component
from scored.outcomes import verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One figure of the headline."""

    name: str
    words: str
    goal: float | None  # None: shown and watched, without a promise
    more: bool = False  # whether more is better
    slack: float = 0.002  # by which it may be worse before that is told

    def met(self, figure: float) -> bool | None:
        """Whether it is as good as it shall be."""
        if self.goal is None:
            return None
        return figure >= self.goal if self.more else figure <= self.goal

    def worse(self, figure: float | None, before: float) -> bool:
        """Whether it has become worse by more than the slack, or cannot be computed any more."""
        if figure is None:
            return True
        return figure < before - self.slack if self.more else figure > before + self.slack


GOALS: Final = (
    Goal(name="weights.median", words="weights: median error", goal=0.01),
    Goal(name="weights.p90", words="weights: p90 error", goal=0.03),
    Goal(name="tokens.exact", words="tokens from the measured pool: exact within its rounding", goal=0.97, more=True),
    Goal(name="pool.median", words="pool: median error", goal=0.04),
    Goal(name="pool.p90", words="pool: p90 error", goal=0.12, slack=0.01),
    Goal(name="pool.inside", words="pool: measured value within the bounds", goal=0.90, more=True, slack=0.01),
    Goal(name="pool.width", words="pool: median width of the bounds, of the device", goal=0.15),
    Goal(name="outcome.right", words="outcome: right, where we are sure", goal=0.92, more=True, slack=0.01),
    Goal(name="outcome.unsure", words="outcome: not sure", goal=0.15, slack=0.01),
    Goal(name="starts.right", words="start-up alone: right, where we are sure", goal=None, more=True, slack=0.01),
    Goal(name="starts.unsure", words="start-up alone: not sure", goal=None, slack=0.01),
    Goal(name="weights.records", words="records that determine their weights", goal=None, more=True, slack=0),
    Goal(name="pool.records", words="records that determine their pool", goal=None, more=True, slack=0),
    Goal(name="tokens.records", words="records that determine their tokens", goal=None, more=True, slack=0),
    Goal(name="outcome.records", words="records that determine their outcome", goal=None, more=True, slack=0),
)


def headline(board: Board) -> dict[str, float | None]:
    """Every figure of the headline, over the determined records of published vLLM."""
    weights, pool, tokens = (
        board.stock.score(component) for component in (Component.WEIGHTS, Component.POOL, Component.TOKENS)
    )
    whole, start = board.stock.verdicts, verdicts(board.stock.started)
    found = {
        "weights.median": weights.median,
        "weights.p90": weights.p90,
        "tokens.exact": tokens.exact,
        "pool.median": pool.median,
        "pool.p90": pool.p90,
        "pool.inside": pool.inside,
        "pool.width": pool.width,
        "outcome.right": whole.right,
        "outcome.unsure": whole.unsure,
        "starts.right": start.right,
        "starts.unsure": start.unsure,
        "weights.records": weights.count,
        "pool.records": pool.count,
        "tokens.records": tokens.count,
        "outcome.records": whole.count,
    }
    return {name: None if figure is None else round(figure, 4) for name, figure in found.items()}


def worsened(now: Mapping[str, float | None], before: Mapping[str, float | None]) -> Iterator[str]:
    """Every figure that has become worse, in words."""
    for goal in GOALS:
        was, found = before.get(goal.name), now.get(goal.name)
        if was is not None and goal.worse(found, was):
            now_words = "cannot be computed" if found is None else f"is now {found:g}"
            yield f"{goal.words} ({goal.name}): was {was:g}, {now_words}"


def written(figures: Mapping[str, float | None]) -> str:
    """As it is kept in docs/accuracy.json."""
    return json.dumps(figures, indent=2) + "\n"
