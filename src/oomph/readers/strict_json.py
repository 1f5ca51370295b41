"""A small JSON file written by strangers → a dict, or one clear refusal.

Knows limits: bytes, nesting, digits, and an estimate of what the parsed object will take, made before it is parsed.
Does not know what any key means. Two liberties of the field are kept, because real configs need them and transformers
reads them: `Infinity` is a number (Mamba's `time_step_limit`), and of two equal keys the last one counts.
"""

import json
import re
from typing import Final

from oomph.errors import UnreadableError
from oomph.units import MIB, Bytes

LIMIT: Final = Bytes(8 * MIB)  # of a file; the largest seen is a quantization map of some 5 MiB
_FOOTPRINT_LIMIT: Final = 48 * MIB
_NESTING_LIMIT: Final = 64  # real configs nest 5 deep; what walks them later may recurse
_DIGITS_LIMIT: Final = 40
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def read_object(raw: bytes, *, file: str) -> dict[str, object]:
    """Parse one JSON object; `file` is what messages call it."""
    if len(raw) > LIMIT:
        message = f"{file} is larger than {LIMIT}, as no config is, and is not read (is it the right file?)"
        raise UnreadableError(message)
    if _footprint(raw) > _FOOTPRINT_LIMIT:
        message = f"{file} has more entries than any config, and is not read (is it the right file?)"
        raise UnreadableError(message)
    try:
        value = json.loads(raw.decode(), parse_int=_whole)
    except RecursionError:
        message = f"{file} nests deeper than {_NESTING_LIMIT} levels, and is not read (is it the right file?)"
        raise UnreadableError(message) from None
    except ValueError as error:  # of JSON, of UTF-8, or of a number
        message = f"{file} is not JSON: {_met(error, raw)} (download or write it again)"
        raise UnreadableError(message) from None
    if not isinstance(value, dict):
        message = f"{file} holds a JSON {type(value).__name__}, not an object in braces (is it the right file?)"
        raise UnreadableError(message)
    _check_nesting(value, file)
    if _SURROGATE.search(raw):
        _check_printable(value, file)
    return value


def _footprint(raw: bytes) -> int:
    """What parsing will take, at most: the text, and for each bracket and comma what Python keeps for it."""
    return (
        len(raw)
        * 3  # the text, the strings cut from it, and the pieces of the longest
        * (1 if raw.isascii() else 4)  # one character beyond the basic plane makes every one of them wide
        + 240 * (raw.count(b"{") + raw.count(b"["))  # a dict of one entry
        + 190 * raw.count(b",")  # an entry of a growing dict: its slot, its key and its value
    )


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS_LIMIT:
        message = f"a number of {len(digits)} digits"
        raise ValueError(message)
    return int(digits)


def _met(error: ValueError, raw: bytes) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    if not raw.strip():
        return "it is empty"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, line {error.lineno} column {error.colno}; it begins with {raw[:40]!r}"
    return str(error)[:80]


def _check_nesting(value: object, file: str) -> None:
    level: list[object] = [value]
    for _ in range(_NESTING_LIMIT):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent if isinstance(parent, list) else ())
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    message = f"{file} nests deeper than {_NESTING_LIMIT} levels, and is not read (is it the right file?)"
    raise UnreadableError(message)


def _check_printable(value: object, file: str) -> None:
    """Half a character cannot be printed, and would fail only when it is."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        message = f"{file} holds half of a surrogate pair, which is no character (write it again)"
        raise UnreadableError(message) from None
