"""The arguments that vLLM prints when it starts → the flags with which it was started.

Knows both notations: a dict of what is not default, and, up to 0.8, a Namespace of everything. Values are read as
literals, one by one, and never run; one that is no literal is kept as its text, so that it is not taken for absent.
Does not know what a flag does.
"""

import ast
import json
from collections.abc import Iterator
from functools import cache
from typing import Final

from oomph.engines.vllm.flags.find import FLAGS
from oomph.ledger.settings import Flags, Value

_LONGEST: Final = 100_000  # characters of all of them
_LONGEST_VALUE: Final = 20_000
_SECRET: Final = frozenset({"api_key", "hf_token"})


@cache
def _names() -> frozenset[str]:
    return (frozenset(flag.key for flag in FLAGS) | {"model"}) - _SECRET


def read_arguments(text: str) -> tuple[str | None, Flags]:
    """The model and the flags; what is no flag of the command line, and what is secret, is left out."""
    given: dict[str, Value] = {}
    model: str | None = None
    for name, written in _items(text[:_LONGEST]):
        value = _value(written)
        if name in {"model", "model_tag"} and isinstance(value, str):
            model = value if name == "model" or model is None else model
        elif name in _names() and value is not None:
            given[name] = value
    return model, Flags(given)


def _items(text: str) -> Iterator[tuple[str, str]]:
    """Names and values as they are written, of `{'a': 1, 'b': 2}` or `Namespace(a=1, b=2)`."""
    begin = min((at for at in map(text.find, "{(") if at >= 0), default=len(text))
    for item in _split(text[begin + 1 :]):
        name, _, value = item.partition("=" if text[begin : begin + 1] == "(" else ":")
        yield name.strip().strip("'\""), value.strip()


def _split(text: str) -> Iterator[str]:
    """At the commas that are in no bracket and no quotes, up to the bracket that closes."""
    depth, quote, begin, escaped = 0, "", 0, False
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote and not escaped else quote
            escaped = sign == "\\" and not escaped
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth < 0:
                yield text[begin:at]
                return
        elif sign == "," and depth == 0:
            yield text[begin:at]
            begin = at + 1
    # Without its closing bracket the last item may be cut short, so it is not believed.


def _value(written: str) -> Value:
    """A value as a flag would have it: JSON for what has keys, a tuple for numbers, its text for what is no literal."""
    if len(written) > _LONGEST_VALUE:
        return None
    try:
        value = ast.literal_eval(written)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return written or None
    if isinstance(value, list | tuple) and all(type(each) is int for each in value):
        return tuple(value)
    if isinstance(value, dict | list | tuple | set):
        return _json(value) or written
    return value if isinstance(value, bool | int | float | str) else None


def _json(value: object) -> str | None:
    try:
        return json.dumps(value, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return None
