"""What to send, and when: the way up, the hold, the trials of a search, and the killers.

Knows the order and the size of every scene. Does not know what becomes of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from oomph.ledger.proof import Ask, Promise, Scene

_BURST: Final = 4  # times the users of the peak
_LOGPROBS: Final = 20  # as many as vLLM allows unasked (config/model.py, max_logprobs)

GREETING: Final = "first request"
RAMP: Final = "ramp"
HOLD: Final = "hold"
TRIAL: Final = "trial"
LOADS: Final = frozenset({RAMP, HOLD, TRIAL})  # what shows whether the peak holds


def greeting(ask: Ask) -> Scene:
    """One request alone: shows that counts are exact, warms the engine, and leaves the shared prefix in its cache."""
    return Scene(name=GREETING, asks=(ask,))


def ramp(ask: Ask, users: int, seconds: float) -> Scene:
    """Users join one after the other, and go on."""
    return Scene(name=RAMP, asks=(ask,) * users, seconds=seconds, ramp=seconds)


def hold(ask: Ask, users: int, seconds: float) -> Scene:
    """All begin at once, which is the worst that they can do to the pool, and go on."""
    return Scene(name=HOLD, asks=(ask,) * users, seconds=seconds)


def trial(ask: Ask, users: int) -> Scene:
    """All at once, once."""
    return Scene(name=TRIAL, asks=(ask,) * users)


def _longest(ask: Ask, length: int) -> Ask:
    """The whole context, but for one token of answer."""
    return Ask(prompt=length - 1, answer=1, prefix=min(ask.prefix, length - 1))


def _longest_scene(ask: Ask, users: int, length: int) -> Scene:  # noqa: ARG001 - killers are called alike
    return Scene(name="longest", asks=(_longest(ask, length),), killer=True)


def _burst_scene(ask: Ask, users: int, length: int) -> Scene:  # noqa: ARG001 - likewise
    return Scene(name="burst", asks=(ask,) * (_BURST * users), killer=True)


def _prefill_scene(ask: Ask, users: int, length: int) -> Scene:
    others = max(1, users - 1)
    return Scene(name="prefill", asks=(ask,) * others, after=(_longest(ask, length),), killer=True)


def _logprobs_scene(ask: Ask, users: int, length: int) -> Scene:  # noqa: ARG001 - likewise
    return Scene(name="logprobs", asks=(replace(ask, logprobs=_LOGPROBS),) * users, killer=True)


def _prompt_logprobs_scene(ask: Ask, users: int, length: int) -> Scene:  # noqa: ARG001 - likewise
    return Scene(name="prompt-logprobs", asks=(replace(_longest(ask, length), prompt_logprobs=1),), killer=True)


def _many_scene(ask: Ask, users: int, length: int) -> Scene:  # noqa: ARG001 - likewise
    return Scene(name="n", asks=(replace(ask, answers=max(2, users)),), killer=True)


_MAKERS: Final[Mapping[str, Callable[[Ask, int, int], Scene]]] = {
    "longest": _longest_scene,
    "burst": _burst_scene,
    "prefill": _prefill_scene,
    "logprobs": _logprobs_scene,
    "prompt-logprobs": _prompt_logprobs_scene,
    "n": _many_scene,
}

KILLERS: Final[Mapping[str, str]] = {
    "longest": "one prompt as long as the context",
    "burst": f"{_BURST} times the users, all at once",
    "prefill": "the longest prompt while all others are being answered",
    "logprobs": f"{_LOGPROBS} log probabilities with every token",
    "prompt-logprobs": "log probabilities of the longest prompt",
    "n": "as many answers to one prompt as there are users",
}


def most_at_once(names: tuple[str, ...], users: int) -> int:
    """Requests under way together in any scene."""
    return users * (_BURST if "burst" in names else 1)


def killers(names: tuple[str, ...], ask: Ask, users: int, promise: Promise) -> tuple[Scene, ...]:
    """In their own order; without a known context, as long as the load itself."""
    length = promise.length or ask.tokens
    return tuple(make(ask, users, length) for name, make in _MAKERS.items() if name in names)
