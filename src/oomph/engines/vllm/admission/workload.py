"""Who asks for what, and when: requests, and the users that send them.

Knows lengths in tokens and times in steps of the engine. Does not know how long a step takes: a caller that thinks in
seconds divides by the time of a step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, count, islice
from math import log


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One prompt and its answer; requests of one family begin with the same tokens."""

    prompt_tokens: int
    answer_tokens: int
    prefix_tokens: int = 0  # of the prompt, shared by all requests of the family
    family: int = 0

    def __post_init__(self) -> None:
        if self.prompt_tokens < 1 or self.answer_tokens < 1:
            message = f"a request has at least one token of prompt and one of answer: {self}"
            raise ValueError(message)
        if not 0 <= self.prefix_tokens <= self.prompt_tokens or self.family < 0:
            message = f"the shared prefix is part of the prompt: {self}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Sends each request when the former one is answered, the first one before the step `start`."""

    requests: tuple[Request, ...]
    start: int = 1
    pause: int = 0  # steps of thinking between an answer and the next request


def burst(requests: Sequence[Request], start: int = 1) -> tuple[User, ...]:
    """All at once, whoever is still being answered."""
    return tuple(User(requests=(request,), start=start) for request in requests)


def closed_loop(users: int, requests: Sequence[Request], *, pause: int = 0, stagger: int = 0) -> tuple[User, ...]:
    """So many users, each with all these requests one after the other; each begins `stagger` steps after the former."""
    return tuple(
        User(requests=tuple(requests), start=1 + number * stagger, pause=pause) for number in range(max(users, 0))
    )


def constant(requests: Sequence[Request], *, per_step: float) -> tuple[User, ...]:
    """At a steady rate, whether or not the former ones are answered."""
    return tuple(User(requests=(request,), start=1 + int(number / per_step)) for number, request in enumerate(requests))


def poisson(requests: Sequence[Request], *, per_step: float, seed: int = 0) -> tuple[User, ...]:
    """At random with this mean rate; the same seed gives the same arrivals."""
    times = accumulate(-log(1 - chance) / per_step for chance in islice(_chances(seed), len(requests)))
    return tuple(User(requests=(request,), start=1 + int(time)) for time, request in zip(times, requests, strict=True))


def _chances(seed: int) -> Iterator[float]:
    """Numbers from 0 to 1 without order, by a linear congruence: the middle draws no lots."""
    state = seed
    for _ in count():
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % (1 << 64)
        yield (state >> 11) / (1 << 53)
