"""A pasted `vllm serve …` → model and flags, by the table of its release.

Knows how argparse would take the words. Does not know what a flag does.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm.flags.find import find
from oomph.engines.vllm.flags.flag import Flag, Kind
from oomph.engines.vllm.given import human
from oomph.errors import UsageError
from oomph.ledger.settings import Flags, Value

_STARTERS: Final = (("vllm", "serve"), ("python", "-m", "vllm.entrypoints.openai.api_server"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What a start command says."""

    model: str | None
    flags: Flags


def read_command(words: Iterable[str], release: Release) -> Command:
    """Read the words after the shell has split them; refuse what this release would refuse."""
    rest = _without_starter(list(words))
    model: str | None = None
    flags: dict[str, Value] = {}
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            if model is not None:
                message = f"two models are named: {model!r} and {word!r} (did a value lose its flag?)"
                raise UsageError(message)
            model = word
            continue
        name, equals, joined = _split(word)
        flag = find(name, release)
        values = [joined] if equals else _values(flag, rest)
        flags[flag.key] = _value(flag, name, values)
    return Command(model=_text(flags.get("model")) or model, flags=Flags(flags))


def _split(word: str) -> tuple[str, str, str]:
    """Name, equals sign and value; a key of a JSON flag, and the level behind `-O`, may be joined to the name."""
    name, equals, joined = word.partition("=")
    if name.startswith("-O") and name[2:].isdecimal():
        return "-O", "=", name[2:]
    flag, dot, key = name.partition(".")
    return (flag, equals, f"{key}={joined}") if dot else (name, equals, joined)


def _without_starter(words: list[str]) -> list[str]:
    for starter in _STARTERS:
        if tuple(words[: len(starter)]) == starter or (words[:1] == ["python3"] and tuple(words[1:3]) == starter[1:]):
            return words[len(starter) :]
    return words


def _values(flag: Flag, rest: list[str]) -> list[str]:
    """Take the words that belong to this flag: none for a switch, all numbers for a list of sizes, else one."""
    if flag.kind is Kind.SWITCH:  # old releases let some of them be followed by what they shall be
        return [rest.pop(0)] if rest and rest[0].lower() in _TRUTH else []
    taken: list[str] = []
    while rest and (not taken or (flag.name in _LISTS and rest[0].isdecimal())):
        if rest[0].startswith("--"):
            break
        taken.append(rest.pop(0))
    return taken


_TRUTH: Final = {"true": True, "false": False}
_LISTS: Final = frozenset({"--cudagraph-capture-sizes", "--cuda-graph-sizes"})


def _value(flag: Flag, name: str, values: list[str]) -> Value:
    if flag.kind is Kind.SWITCH:
        said = _TRUTH.get(values[0].lower()) if values else True
        if said is None:
            message = f"{name}={values[0]}: a switch says only true or false"
            raise UsageError(message)
        return said is not name.startswith("--no-")
    if not values:
        message = f"{name} needs a value: {flag.kind}"
        raise UsageError(message)
    try:
        if flag.name in _LISTS:
            return tuple(sorted(max(int(value), 1) for value in values))
        return _within(flag, name, _number(flag, values[0]))
    except ValueError:
        message = f"{name} {values[0]}: vLLM takes {flag.kind} here"
        raise UsageError(message) from None


def _number(flag: Flag, text: str) -> Value:
    match flag.kind:
        case Kind.WHOLE:
            return human(text) if flag.name in _SIZES else int(text)
        case Kind.HUMAN:
            return -1 if text == "auto" else human(text)
        case Kind.FRACTION:
            return float(text)
        case _:
            return text


def _within(flag: Flag, name: str, value: Value) -> Value:
    """Refuse what vLLM would refuse, and what no machine can have."""
    if isinstance(value, float) and not math.isfinite(value):
        message = f"{name} {value}: not a number that means anything"
        raise UsageError(message)
    if (
        flag.name in _POSITIVE
        and isinstance(value, int)
        and value < 1
        and (flag.name, value) != ("--max-model-len", -1)
    ):
        message = f"{name} {value}: at least 1 is needed"
        raise UsageError(message)
    if flag.name == "--gpu-memory-utilization" and isinstance(value, float) and not 0 < value <= 1:
        message = f"{name} {value:g}: a share of the device's memory, above 0 and at most 1"
        raise UsageError(message)
    return value


_SIZES: Final = frozenset({"--kv-cache-memory-bytes"})
_POSITIVE: Final = frozenset(
    {
        "--block-size",
        "--decode-context-parallel-size",
        "--data-parallel-size",
        "--max-cudagraph-capture-size",
        "--max-model-len",
        "--max-num-batched-tokens",
        "--max-num-seqs",
        "--num-gpu-blocks-override",
        "--pipeline-parallel-size",
        "--prefill-context-parallel-size",
        "--tensor-parallel-size",
    }
)


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None
