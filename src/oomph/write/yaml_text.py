"""Plain values → YAML, with comments where a person needs one.

Knows just enough YAML to be read back as the same values by every reader of YAML 1.1 and 1.2: block style, and
quotes around every string that is not a harmless word. Does not know what is written.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

_WORD: Final = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*")
_TAKEN: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))  # something else in YAML 1.1
_QUOTED: Final = re.compile(r"""[ -&(-~]*"[ -&(-~]*""")  # double quotes, and no single ones
_UNPRINTABLE: Final = re.compile(  # YAML 1.2, section 5.1, and what some readers take for a line end
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)

Plain: TypeAlias = "str | int | float | bool | Mapping[str, Node] | Sequence[Node] | None"
Node: TypeAlias = "Plain | Commented"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commented:
    """A value with what is to be said above it."""

    value: Plain
    comment: str


def yaml_text(*documents: Node) -> str:
    """One or more documents, with a line end."""
    return "---\n".join("".join(f"{line}\n" for line in _whole(document)) for document in documents)


def _whole(document: Node) -> Iterator[str]:
    yield from _comment(document)
    yield from _lines(_bare(document))


def _lines(value: Plain) -> Iterator[str]:
    """A value as a block of lines that begin at the margin."""
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from _comment(each)
            yield from _pair(_scalar(key), _bare(each))
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for each in value:
            yield from _comment(each)
            first, *rest = _lines(_bare(each))
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _scalar(value)


def _pair(key: str, value: Plain) -> Iterator[str]:
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str) and value:
        yield f"{key}:"
        yield from (f"  {line}" for line in _lines(value))
    else:
        yield f"{key}: {_scalar(value)}"


def _bare(node: Node) -> Plain:
    return node.value if isinstance(node, Commented) else node


def _comment(node: Node) -> Iterator[str]:
    if isinstance(node, Commented):
        yield from (f"# {_escaped(line)}".rstrip() for line in node.comment.splitlines())


def _scalar(value: Plain) -> str:
    if isinstance(value, str):
        if _WORD.fullmatch(value) and value.lower() not in _TAKEN:
            return value
        return f"'{value}'" if _QUOTED.fullmatch(value) else _escaped(json.dumps(value, ensure_ascii=False))
    if isinstance(value, float):
        return _fraction(value)
    return json.dumps(value if value is None or isinstance(value, int) else type(value)())  # else {} or []


def _fraction(value: float) -> str:
    """With a point, without which YAML 1.1 reads 1e+16 as a word."""
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else f"{'-' if value < 0 else ''}.inf"
    digits, letter, exponent = repr(value).partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{letter}{exponent}"


def _escaped(text: str) -> str:
    """JSON leaves out only what JSON must not hold; YAML has more signs that it does not take as they are."""
    return _UNPRINTABLE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)
