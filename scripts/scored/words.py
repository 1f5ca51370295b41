"""The arguments of a start-up as a record quotes them: a command, an `LLM(…)` call, a dict or a Namespace of a log.

Knows how to take what is plainly there and to say where something was left out. It refuses nothing: a record is a
quotation, and may be cut. Does not know what a flag does.
"""

import ast
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from oomph.engines.vllm.flags.engine import ENGINE
from oomph.engines.vllm.flags.find import FLAGS
from oomph.engines.vllm.flags.flag import Flag, Kind
from oomph.engines.vllm.formulas.batches import Usage
from oomph.ledger.settings import Value

_ENGINE: Final = {flag.key for flag in ENGINE}
_BY_NAME: Final = {name: flag for flag in FLAGS for name in (flag.name, *flag.short)} | {
    "--tensor-parallel": next(flag for flag in ENGINE if flag.name == "--tensor-parallel-size")
}
_ASIDE: Final = {"model", "served_model_name", "revision", "seed", "tokenizer", "tokenizer_mode", "trust_remote_code"}
# What only a server is given; an offline engine has no log of its statistics, so that flag is on the list of its log.
_SERVER: Final = ("model_tag", "host", "port", "served_model_name", "chat_template", "tool_call_parser", "api_key")
_HARMLESS: Final = re.compile(r"--chat-template \.\.\.|--model \.\.\./\S+|serve \.\.\./\S+|\{%.*%\}")
_CALL: Final = re.compile(r"(?:LLM|Namespace)\((?P<inside>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the arguments of a start-up say."""

    flags: Mapping[str, Value] = field(default_factory=dict)  # of the engine, by their long names
    usage: Usage | None = None  # None where nothing tells
    whole: bool = False  # nothing was left out: what is not said has its default


def words(text: str | None) -> Words:
    """Read what a record quotes."""
    if text is None:
        return Words()
    if text.startswith("{"):
        return _mapping(dict(_pairs(text.strip()[1:-1], ":")), cut="..." in _HARMLESS.sub("", text))
    if (call := _CALL.match(text)) is not None:
        said, offline = dict(_pairs(call["inside"].removesuffix(")"), "=")), text.startswith("LLM")
        usage = Usage.OFFLINE if offline else Usage.SERVER  # a Namespace lists defaults too, the cut end of it as well
        return Words(flags=_of_engine(said), usage=usage, whole=offline or "max_num_seqs" in said)
    return _command(text)


def _mapping(said: dict[str, Value], *, cut: bool) -> Words:
    offline = said.get("disable_log_stats") is True and not said.keys() & set(_SERVER)
    return Words(
        flags=_of_engine(said),
        usage=Usage.OFFLINE if offline else Usage.SERVER,
        whole=not cut and bool(said.keys() & {"model", "model_tag", "runner", "compilation_config"}),
    )


def _of_engine(said: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in said.items() if name in _ENGINE - _ASIDE and value is not None}


def _pairs(text: str, between: str) -> Iterator[tuple[str, Value]]:
    for part in _apart(text):
        name, found, value = part.partition(between)
        if found and re.fullmatch(r"[a-z_0-9]+", bare := name.strip().strip("'\"")):
            yield bare, _literal(value.strip())


def _apart(text: str) -> Iterator[str]:
    """The parts between commas that stand in no bracket and no quotes."""
    depth, quote, begun = 0, "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[place - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[begun:place]
            begun = place + 1
    yield text[begun:]


def _literal(text: str) -> Value:
    """A value as Python wrote it; what is no literal stays text, and an object that has no text is nothing."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None if text.startswith(("<", "...")) else text.removeprefix("torch.")
    if isinstance(value, bool | int | float | str):
        return value
    return json.dumps(value, default=str) if isinstance(value, dict | list | tuple) else None


_SWITCHES: Final = {"true": True, "false": False}


def _command(text: str) -> Words:
    plain = _HARMLESS.sub("", text)
    cut = "..." in plain or "as above" in plain or "TP" in re.sub(r"\S*=\S*", "", plain)
    rest = _split(plain)
    flags: dict[str, Value] = {}
    while rest:
        name, _, joined = rest.pop(0).partition("=")
        if (flag := _named(name)) is None:
            continue
        if flag.kind is Kind.SWITCH:
            flags[flag.key] = _SWITCHES.get(joined.lower(), True) is not name.startswith("--no-")
        elif joined or (rest and not rest[0].startswith("--")):
            flags[flag.key] = _typed(flag, joined or rest.pop(0))
    starts = "vllm serve" in text or "api_server" in text
    return Words(flags=_of_engine(flags), usage=Usage.SERVER if "--" in text else None, whole=starts and not cut)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text) if '={"' not in text and ' {"' not in text else text.split()
    except ValueError:
        return text.split()


def _named(written: str) -> Flag | None:
    name = "--" + written[2:].replace("_", "-") if written.startswith("--") else written
    return _BY_NAME.get(name) or _BY_NAME.get(name.replace("--no-", "--", 1))


def _typed(flag: Flag, text: str) -> Value:
    text = text.rstrip(";,")
    try:
        if flag.kind in {Kind.WHOLE, Kind.HUMAN}:
            return int(text)
        return float(text) if flag.kind is Kind.FRACTION else text
    except ValueError:
        return text
