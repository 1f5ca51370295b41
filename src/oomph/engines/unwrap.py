"""Lines that a terminal has cut at its width, whole again.

Knows that such a log has a longest length which many of its lines have to the character, and that only the rest of a
line begins without anything that a line begins with. Does not know what is said. Holds a bounded number of lines.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise
from typing import Final, TypeAlias

from oomph.engines.prefix import bare

Numbered: TypeAlias = tuple[int, str]

_LOOK: Final = 400  # lines by which the width is told
_NARROWEST: Final = 60
_WIDEST: Final = 400
_OFTEN: Final = 4  # lines of just that length, of which as many go on
_LONG: Final = 32_000  # characters of a line that is put together
_BEGINS: Final = re.compile(
    r"\s*(?:$|\([A-Za-z]\w{0,60}(?: rank=[0-9]{1,5})? pid=|\[rank[0-9]|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b"
    r"|File \"|Traceback \(|During handling of|The above exception|[\^~]{3}|\[[\w/]{1,80}\.py:[0-9]"
    r"|(?:[a-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception)(?::|$)"
    r"|(?:ggml|llama|common|load|sched|srv|slot|main|print|graph|alloc)\w{0,60}: |```|#|\$ |- )"
)


def unwrapped(lines: Iterable[Numbered]) -> Iterator[Numbered]:
    """Each line with its rest, under the number at which it begins; the log as it is where it was not cut."""
    rest = iter(lines)
    looked = list(islice(rest, _LOOK))
    width = _width(looked)
    return chain(looked, rest) if width is None else _whole(chain(looked, rest), width)


def _width(lines: list[Numbered]) -> int | None:
    """The longest length, if many have it, but for a blank, and most of what follows those begins like no line does."""
    counted = Counter(len(text) for _, text in lines)
    longest = max(counted, default=0)
    if not _NARROWEST <= longest <= _WIDEST or counted[longest] + counted[longest - 1] < _OFTEN:
        return None
    after = [text for (_, full), (_, text) in pairwise(lines) if len(full) >= longest - 1]
    return longest if 2 * sum(map(_rest, after)) >= max(len(after), _OFTEN) else None


def _rest(text: str) -> bool:
    """Whether it begins with nothing that a line begins with."""
    return _BEGINS.match(text) is None and bare(text) == text.strip()


def _whole(lines: Iterable[Numbered], width: int) -> Iterator[Numbered]:
    held: Numbered | None = None
    last, ends = 0, 0  # the number and the length of what was taken last
    for number, text in lines:
        if held is not None and number == last + 1 and width - ends in {0, 1} and _rest(text) and len(held[1]) < _LONG:
            held = held[0], held[1] + " " * (width - ends) + text  # a blank at the end of a line may be lost
        else:
            if held is not None:
                yield held
            held = number, text
        last, ends = number, len(text)
    if held is not None:
        yield held
