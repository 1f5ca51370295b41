"""The page of a rule, and the list of all, as lines that fit the width.

Knows how Markdown is broken without being changed: paragraphs are wrapped, fences and lists are left as they are.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from oomph.diagnose.rule import Rule
from oomph.write.span import Line, Span, Style, cells, shortened, wrapped

_TEXT: Final = 100  # columns; longer lines are hard to read
_NARROWEST: Final = 40
_FENCE: Final = "```"
_MARKS: Final = ("#", "-", "|", "    ")


def page_lines(rule: Rule, *, width: int) -> Iterator[Line]:
    """The page as it is written, with its code above it."""
    width = min(max(width, _NARROWEST), _TEXT)
    yield (Span(shortened(f"# {rule.code} {rule.name}", width), Style.STRONG),)
    yield ()
    for whole, lines in groupby(_kinds(rule.page.strip().splitlines()), key=lambda each: each[0]):
        words = [text for _, text in lines]
        if whole:
            yield from ((Span(text, Style.STRONG if text.startswith("#") else Style.PLAIN),) for text in words)
        else:
            yield from ((Span(line),) for line in wrapped(" ".join(words), width))


def _kinds(lines: Iterable[str]) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it must stay as it is."""
    fenced = False
    for line in lines:
        fenced ^= line.startswith(_FENCE)
        yield fenced or not line or line.startswith((_FENCE, *_MARKS)), line


def listed(rules: Iterable[Rule], *, width: int) -> Iterator[Line]:
    """Its code, its name, and what was found, beside them or, on a narrow screen, below; nothing is cut off."""
    known = tuple(rules)
    longest = max((len(rule.name) for rule in known), default=0)
    for rule in known:
        begin = (Span(f"{rule.code}  ", Style.STRONG), Span(f"{rule.name:{longest}}  ", Style.FLAG))
        used = sum(cells(span.text) for span in begin)
        first = rule.page.strip().partition("\n")[0]
        if width - used > _NARROWEST:
            first_line, *others = wrapped(first, width - used)
            yield (*begin, Span(first_line))
        else:
            yield begin[0], Span(rule.name, Style.FLAG)
            used = cells(begin[0].text)
            others = wrapped(first, max(width, _NARROWEST) - used)
        yield from ((Span(" " * used + line),) for line in others)
