"""A pasted `vllm serve …` → model and flags, by the table of its release.

Knows how argparse would take the words. Does not know what a flag does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from oomph.engines.history import Release
from oomph.engines.vllm import notation
from oomph.engines.vllm.flags.find import find
from oomph.engines.vllm.flags.flag import Flag, Kind
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
        name, equals, joined = word.partition("=")
        flag = find(name, release)
        values = [joined] if equals else _values(flag, rest)
        flags[flag.key] = _value(flag, name, values)
    return Command(model=_text(flags.get("model")) or model, flags=Flags(flags))


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
            return tuple(int(value) for value in values)
        match flag.kind:
            case Kind.WHOLE:
                return int(values[0])
            case Kind.HUMAN:
                return -1 if values[0] == "auto" else notation.human(values[0])
            case Kind.FRACTION:
                return float(values[0])
            case _:
                return values[0]
    except ValueError:
        message = f"{name} {values[0]}: vLLM takes {flag.kind} here"
        raise UsageError(message) from None


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None
