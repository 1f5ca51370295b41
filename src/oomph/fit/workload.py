"""What shall be served: how long requests are, how many there are at once, and what they share.

Knows lengths and counts. Does not know any engine.
"""

from dataclasses import dataclass

from oomph.ledger.lengths import Lengths


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The peak that a service must hold."""

    prompt: Lengths
    answer: Lengths
    users: int  # requests at once, at the peak
    prefix: int = 0  # tokens with which every prompt begins alike
    text_only: bool = False  # nobody sends pictures or sound
    step: float | None = None  # seconds between two tokens that are wished for

    def __post_init__(self) -> None:
        if self.users < 1 or not 0 <= self.prefix <= self.prompt.p99:
            message = f"a workload of {self.users} users whose prompts share {self.prefix} of {self.prompt.p99} tokens"
            raise ValueError(message)

    @property
    def longest(self) -> int:
        """Tokens of a long prompt with a long answer: longer than 99 of 100 requests."""
        return self.prompt.p99 + self.answer.p99

    @property
    def usual(self) -> int:
        """Tokens of a prompt and an answer of the usual length."""
        return self.prompt.p50 + self.answer.p50
