"""What is sent to a running engine to prove it, and what became of each request.

Knows asks, scenes and outcomes as facts. Does not know how they travel (`live`), nor what they mean (`diagnose`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from oomph.ledger.scrape import Scrape
from oomph.units import Bytes


class Failure(StrEnum):
    """Why a request did not end as it was asked to."""

    REFUSED = "connection refused"
    CUT = "connection lost"
    SILENT = "no answer"  # given up, because nothing moved any more
    SERVER = "server error"  # 5xx
    REJECTED = "request rejected"  # 4xx
    IN_STREAM = "error inside an answer"  # the status was 200, and then came an error
    ABORTED = "aborted"  # as its finish reason says
    INEXACT = "wrong count"  # it ended well, but not with the tokens that were asked for
    GARBLED = "not an answer"
    OURS = "no connection to be had here"  # by a limit of this machine, which is no fault of the server


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request, to the token."""

    prompt: int  # tokens
    answer: int  # tokens, of each of its answers
    prefix: int = 0  # of the prompt's tokens, those that all requests share
    answers: int = 1  # `n`
    logprobs: int | None = None
    prompt_logprobs: int | None = None

    @property
    def tokens(self) -> int:
        """Of prompt and one answer."""
        return self.prompt + self.answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What happens together: users who begin at once or one after the other, once or again and again."""

    name: str
    asks: tuple[Ask, ...]  # one per user
    seconds: float = 0.0  # for which users who are answered ask again; 0: everybody asks once
    ramp: float = 0.0  # seconds over which users join
    after: tuple[Ask, ...] = ()  # sent when every one of `asks` has begun to be answered
    killer: bool = False  # waiting is allowed; nothing may break

    @property
    def users(self) -> int:
        """Who ask at once, at the most."""
        return len(self.asks) + len(self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one request. Times are seconds since the run began."""

    user: int
    turn: int  # the how manieth of this user in this scene, from 0
    ask: Ask
    sent: float
    ended: float
    first: float | None = None  # when its first token was here
    pieces: int = 0  # in which the answer came
    gaps: tuple[float, ...] = ()  # seconds from piece to piece; of a long scene not every request keeps them
    prompt_tokens: int | None = None  # as the server counted them
    answer_tokens: int | None = None  # likewise, over all answers; of a broken answer, the pieces that were here
    failure: Failure | None = None
    said: str = ""  # by whom it failed

    @property
    def took(self) -> float:
        """From sending to the end."""
        return self.ended - self.sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Memory of a device at one moment."""

    at: float
    used: Bytes
    total: Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the server itself counted over a span of time; None where it did not say."""

    preemptions: int | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    finished: int | None = None
    rejected: int | None = None
    queued: float | None = None  # seconds that all requests together waited inside the engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A scene as it was played."""

    scene: Scene
    begin: float
    end: float
    outcomes: tuple[Outcome, ...]
    scrapes: tuple[Scrape, ...] = ()  # all engines behind the endpoint as one
    devices: tuple[Held, ...] = ()
    counted: Counted = field(default_factory=Counted)
    hung: float | None = None  # seconds for which nothing moved, where it was given up
    gone: str | None = None  # how the server was missed, where it was
    health: int | None = None  # what /health answered at the end; None: nothing

    @property
    def failed(self) -> Mapping[Failure, int]:
        """How many of each kind."""
        counts: dict[Failure, int] = {}
        for outcome in self.outcomes:
            if outcome.failure is not None:
                counts[outcome.failure] = counts.get(outcome.failure, 0) + 1
        return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What a server says of itself before any load."""

    url: str
    model: str
    release: str | None = None
    length: int | None = None  # the longest prompt and answer together
    engines: int = 1
    blocks: int | None = None  # of one engine's pool, the one that is never given among them
    block_tokens: int | None = None
    pool_tokens: int | None = None
    prefix_caching: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What a plan had said of the same engine."""

    release: str | None = None
    model: str | None = None
    length: int | None = None
    blocks: int | None = None
    block_tokens: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the user would not accept: seconds that 99 of 100 must stay below; None: no wish."""

    first_token: float | None = None
    between_tokens: float | None = None
    whole: float | None = None
    may_wait: bool = False  # requests may queue
    may_preempt: bool = False
