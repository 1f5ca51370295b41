"""One request of a trace, under the names that the field gives to lengths and times.

Knows OpenAI's `usage`, alone or inside a logged answer; the Mooncake trace (`input_length`, `output_length`, a
timestamp in milliseconds); and what benchmarks write (`prompt_len`, `output_len`). Does not know files.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Final

PROMPT: Final = (
    "prompt_tokens", "input_length", "prompt_len", "input_tokens", "input_len", "prompt_length", "num_prompt_tokens",
)  # fmt: skip
ANSWER: Final = (
    "completion_tokens", "output_length", "output_len", "output_tokens", "answer_tokens", "generation_tokens",
    "completion_length", "num_generation_tokens",
)  # fmt: skip
TIME: Final = ("timestamp", "arrival_time", "arrived_at", "start_time", "created", "ts")
SECONDS: Final = ("duration", "latency", "e2e_latency")
MILLISECONDS: Final = ("duration_ms", "latency_ms", "e2e_latency_ms")

_INSIDE: Final = ((), ("usage",), ("response", "usage"), ("response", "body", "usage"), ("body", "usage"))
_LONGEST: Final = 100_000_000  # tokens: no request has so many
_UNITS: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))  # from so large a number on, so many of its units are a second


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One line."""

    prompt: int
    answer: int
    at: float | None = None  # seconds, of any clock
    lasted: float | None = None  # seconds


def request(line: Mapping[str, object]) -> Request:
    """The lengths of a line; refuses, as ValueError, one that does not say both."""
    for path in _INSIDE:
        inside = _at(line, path)
        prompt, answer = _first(inside, PROMPT), _first(inside, ANSWER)
        if prompt is not None and answer is not None:
            return Request(prompt=_tokens(*prompt), answer=_tokens(*answer), at=_when(line), lasted=_lasted(line))
        if prompt is not None or answer is not None:
            name = (prompt or answer or ("", 0))[0]
            message = f"has {name} but no length of the {'answer' if prompt is not None else 'prompt'}"
            raise ValueError(message)
    message = "says no lengths (prompt_tokens and completion_tokens, or input_length and output_length)"
    raise ValueError(message)


def _at(line: Mapping[str, object], path: tuple[str, ...]) -> Mapping[str, object]:
    for name in path:
        inside = line.get(name)
        line = inside if isinstance(inside, dict) else {}
    return line


def _first(line: Mapping[str, object], names: tuple[str, ...]) -> tuple[str, object] | None:
    return next(((name, line[name]) for name in names if line.get(name) is not None), None)


def _tokens(name: str, value: object) -> int:
    count = _number(value)
    if count is None or count != int(count) or not 0 <= count <= _LONGEST:
        message = f"has {name} {str(value)[:20]}, which is no count of tokens"
        raise ValueError(message)
    return int(count)


def _number(value: object) -> float | None:
    """As JSON has them, which truth values and endless ones are not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:
        return None


def _when(line: Mapping[str, object]) -> float | None:
    named = _first(line, TIME)
    if named is None:
        return None
    name, value = named
    if isinstance(value, str):
        return _written(value)
    number = _number(value)
    if number is None:
        return None
    if "input_length" in line and name == "timestamp":  # as Mooncake writes it: milliseconds since its beginning
        return number / 1e3
    return next((number / unit for least, unit in _UNITS if abs(number) >= least), number)


def _written(text: str) -> float | None:
    try:
        read = datetime.fromisoformat(text[:40])
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _lasted(line: Mapping[str, object]) -> float | None:
    for names, unit in ((SECONDS, 1.0), (MILLISECONDS, 1e3)):
        for name in names:
            number = _number(line.get(name))
            if number is not None and number >= 0:
                return number / unit
    return None
