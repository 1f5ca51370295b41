"""Lines of Prometheus' text format, as far as they are wanted.

Knows how one sample is written: name, labels, value. Looks for a name and reads its lines, where a parser would read
them all. A line that is no sample is passed over. Does not know any metric.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, TypeAlias

Labels: TypeAlias = Mapping[str, str]

_LABEL: Final = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')
_ESCAPED: Final = re.compile(r"\\(.)")
_LONGEST: Final = 16_384  # characters of one line; that of cache_config_info has some 1,200
_SHORT: Final = 80  # characters of a value
_MOST: Final = 100_000  # samples of one name
_EXACT: Final = 1 << 53  # above it a float no longer counts ones


def samples(page: str, name: str) -> Iterator[tuple[Labels, float]]:
    """Labels and value of each line of this name, in a page that begins with a line end.

    The format keeps a metric together, up to the remarks before the next: to look for more behind them would be to read
    the page again for every name. Within a histogram of several engines the lines of one name are not neighbours.
    """
    head = f"\n{name}{{"
    begin = page.find(head)
    ends = page.find("\n#", begin)
    ends = len(page) if ends < 0 else ends
    for _ in range(_MOST):
        if begin < 0:
            return
        after = begin + len(head)
        end = page.find("\n", after)
        end = len(page) if end < 0 else end
        sample = _sample(page[after:end]) if end - after <= _LONGEST else None
        if sample is not None:
            yield sample
        begin = page.find(head, end, ends)


def bare(page: str, name: str) -> float | None:
    """The value of a name that has no labels."""
    head = f"\n{name} "
    begin = page.find(head)
    return None if begin < 0 else _value(page[begin + len(head) : begin + len(head) + _SHORT].split("\n", 1)[0])


def number(text: str) -> float | None:
    """A value as Prometheus writes it, which is more than Python's own notation in nothing and less in underscores."""
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def whole(value: float | None) -> int | None:
    """A count; None for what counts nothing: less than none, no number, or more than a float can tell apart."""
    return int(value) if value is not None and 0 <= value <= _EXACT else None


def _sample(rest: str) -> tuple[Labels, float] | None:
    """What stands behind a name and its brace."""
    inside, _, value = rest.partition("} ")
    labels = labelled(inside)
    if labels is None:  # a brace inside a label's own text, or no space behind the last
        inside, _, value = rest.rpartition("}")
        labels = labelled(inside)
    read = _value(value)
    return None if labels is None or read is None else (labels, read)


def _value(rest: str) -> float | None:
    """A time may stand behind it, which is not wanted."""
    words = rest.split(None, 1)
    return number(words[0]) if words else None


@lru_cache(maxsize=4096)  # the same labels come again with every metric and every scrape
def labelled(text: str) -> Labels | None:
    """`engine="0",model_name="m"` by name; None where it is not written like this."""
    labels: dict[str, str] = {}
    at = 0
    while at < len(text):
        label = _LABEL.match(text, at)
        if label is None:
            return None
        labels[label[1]] = _ESCAPED.sub(_plain, label[2]) if "\\" in label[2] else label[2]
        at = label.end()
    return labels


def _plain(escaped: re.Match[str]) -> str:
    return {"n": "\n", "\\": "\\", '"': '"'}.get(escaped[1], escaped[0])
