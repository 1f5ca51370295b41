"""An answer as it grows, event by event, until it is an outcome.

Knows the events of a completions endpoint, and each way in which they can say that something went wrong. Does not know
how they travel, and has no clock: every moment is told to it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from oomph.ledger.proof import Ask, Failure, Outcome

SAID: Final = 160  # signs of what a server said
_BROKEN: Final = frozenset({"abort", "error"})  # finish reasons


@dataclass(slots=True, kw_only=True, eq=False)
class Reply:
    """Of one request that is on its way."""

    ask: Ask
    user: int
    turn: int
    sent: float
    begun: Callable[[], object]  # called when its first token is here
    first: float | None = None
    last: float = 0.0
    gaps: list[float] = field(default_factory=list)
    pieces: int = 0
    usage: dict[str, object] = field(default_factory=dict)
    done: bool = False
    failure: Failure | None = None
    said: str = ""

    def add(self, raw: bytes, now: float) -> bool:
        """One event; whether a piece of the answer was in it."""
        if raw == b"[DONE]":
            self.done = True
            return False
        event = json.loads(raw)
        if (error := event.get("error")) is not None:
            self.fail(Failure.IN_STREAM, words(error))
            return False
        self.usage = event.get("usage") or self.usage
        choices = event.get("choices") or ()
        for choice in choices:
            if choice.get("finish_reason") in _BROKEN:
                self.fail(Failure.ABORTED, f"finish_reason {choice['finish_reason']}")
        if choices:
            self._count(now)
        return bool(choices)

    def _count(self, now: float) -> None:
        self.pieces += 1
        if self.first is None:
            self.first = now
            self.begun()
        else:
            self.gaps.append(now - self.last)
        self.last = now

    def fail(self, failure: Failure, said: str) -> None:
        """The first failure is the one that counts."""
        if self.failure is None:
            self.failure, self.said = failure, said[:SAID]

    def outcome(self, now: float) -> Outcome:
        """What became of it; counted by the server's own figures, which must be what was asked for."""
        prompt, tokens = self.usage.get("prompt_tokens"), self.usage.get("completion_tokens")
        wanted = self.ask.answer * self.ask.answers
        if (prompt, tokens) != (self.ask.prompt, wanted):
            self.fail(
                Failure.INEXACT,
                f"asked for {self.ask.prompt} + {wanted} tokens, the server counted {prompt} + {tokens}",
            )
        streamed = self.ask.prompt_logprobs is None
        return Outcome(
            user=self.user,
            turn=self.turn,
            ask=self.ask,
            sent=self.sent,
            ended=now,
            first=self.first if streamed else None,
            pieces=self.pieces,
            gaps=tuple(self.gaps) if self.ask.answers == 1 else (),  # of several answers at once, gaps mean nothing
            prompt_tokens=prompt if isinstance(prompt, int) else None,
            answer_tokens=tokens if isinstance(tokens, int) else self.pieces,
            failure=self.failure,
            said=self.said,
        )


def words(error: object) -> str:
    """The message alone, out of whatever an error is wrapped in."""
    if isinstance(error, str):
        try:
            error = json.loads(error)
        except ValueError:
            return " ".join(str(error).split())[:SAID]
    for key in ("error", "message"):
        if isinstance(error, dict) and key in error:
            return words(error[key])
    return str(error)[:SAID]
