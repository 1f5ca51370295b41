"""Lines as people paste them: the newest first, one sentence broken into several lines.

Knows by which beginnings a sentence about memory is known to go on, and that a line with no prefix of its own may be
its rest, even from the middle of a word. Does not know what is said. Holds a bounded number of lines.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice, pairwise
from typing import Final, TypeAlias

from oomph.engines import pytorch
from oomph.engines.prefix import bare
from oomph.engines.unwrap import unwrapped
from oomph.engines.vllm.lines import SENTENCES

Numbered: TypeAlias = tuple[int, str]

_LOOK: Final = 400  # lines by which the order of time is told
_HELD: Final = 20_000  # lines of a log that is turned around: the first ones, and as many last ones
_CLOCK: Final = re.compile(
    r"(?:(?:[0-9]{4}-)?(?P<date>[0-9]{2}-[0-9]{2})[T ]|(?P<named>[A-Z][a-z]{2} [ 0-9][0-9]) )"
    r"(?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})"
)
_PREFIX: Final = 200  # characters in which a clock stands

_OPENS: Final = (
    *("Free memory on device", "Available memory on node", "To serve at least one", "The model's max seq len"),
    *("Error in memory profiling", "No available memory for", "ut of memory", "Tried to allocate", "total capac"),
    *("NVML_SUCCESS ==", "memory in use", "exceeds available Mamba", "Memory on the node", "oom-kill:"),
)
_FRESH: Final = re.compile(
    r"\s*(?:$|[(\[{`#>*$]|- |[0-9]+[.:)]|(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|NCCL)\b|File \"|Traceback "
    r"|During handling"
    r"|The above exception|[\w.]{1,120}(?:Error|Exception|Interrupt|OfResources)\b|ggml_|llama_|common_|HOST |GPU [0-9]"
    r"|(?:CUDA|HIP|XPU) out of memory|No available memory|To serve at least|The model's max seq|Error in memory"
    r"|raise |return |self\.|[\w./-]{1,80}\s*\| |Killed|/|\.\.\.|…)"
)
_ACCOUNT: Final = re.compile(  # of PyTorch, whose sentences end before it does: c10/cuda/CUDACachingAllocator.cpp
    r"Tried to allocate|GPU (?:[0-9]{1,3} )?has a total capac|Process (?:[0-9]{1,10} )?has "
    r"|Including non-PyTorch memory|[Tt]his process has |Of the allocated memory|If reserved "
)
_ENDS: Final = (".", "!", ";", "}", "]")  # of a sentence: nothing goes on after it
_REST: Final = 5  # lines that one may go on for
_LONG: Final = 2_000  # characters of a joined line
_PIECE: Final = 9  # characters by which a piece of a sentence is told from chance


def straightened(lines: Iterable[Numbered]) -> Iterator[Numbered]:
    """In the order of time, with broken sentences whole; each line with the number at which it begins."""
    return joined((number, text.strip()) for number, text in in_time(unwrapped(lines)))


def in_time(lines: Iterable[Numbered]) -> Iterator[Numbered]:
    """The oldest first, by the clocks at the beginning of the log."""
    rest = iter(lines)
    looked = list(islice(rest, _LOOK))
    if not _backwards([text for _, text in looked]):
        return chain(looked, rest)
    first = [*looked, *islice(rest, _HELD)]
    return chain(reversed(deque(rest, maxlen=_HELD)), reversed(first))


def _backwards(texts: list[str]) -> bool:
    """Whether clocks run backwards, more than a little: ranks that speak at once may be a second off."""
    timed = [((found["date"] or found["named"]) + found["time"], text) for text in texts if (found := _clock(text))]
    clocks = [clock for clock, _ in timed]
    down = sum(after < before for before, after in pairwise(clocks))
    up = sum(after > before for before, after in pairwise(clocks))
    if down == 1 and up == 0:  # of few lines: an error before what led to it
        return "rror" in timed[0][1] and "INFO" in timed[-1][1]
    return down > 1 and down > 4 * up and clocks[-1] < clocks[0]


def _clock(text: str) -> re.Match[str] | None:
    return _CLOCK.search(text, 0, _PREFIX)


def joined(lines: Iterable[Numbered]) -> Iterator[Numbered]:
    """Each sentence about memory on one line."""
    held: Numbered | None = None
    last = left = 0
    ended = False
    for number, text in lines:
        if held is not None and left and abs(number - last) <= 1 and _goes_on(plain := bare(text), told=ended):
            held, last, left = (held[0], _joined(held[1], plain)), number, left - 1
            ended = plain.endswith(_ENDS)
            continue
        if held is not None:
            yield held
        held, last = (number, text), number
        left = _REST if len(text) < _LONG and any(begun in text for begun in _OPENS) else 0
        ended = text.rstrip().endswith(_ENDS)
    if held is not None:
        yield held


def _goes_on(plain: str, *, told: bool) -> bool:
    """Whether a line is the rest of a sentence; after a whole one, only where PyTorch's account goes on."""
    return _ACCOUNT.match(plain) is not None or not (told or _FRESH.match(plain))


def _joined(begun: str, rest: str) -> str:
    """With a space, unless that breaks a word of a known sentence."""
    end = begun[-_LONG:]
    apart, together = f"{end} {rest}", f"{end}{rest}"
    glue = "" if sum(p in together for p in _pieces()) > sum(p in apart for p in _pieces()) else " "
    return f"{begun}{glue}{rest[:_LONG]}"[: 2 * _LONG]


@cache
def _pieces() -> frozenset[str]:
    """What stands between the gaps of known sentences."""
    templates = [sentence.template for sentence in (*SENTENCES, *pytorch.OVERFLOW)]
    found = (piece for template in templates for piece in re.split(r"\{[a-z0-9_:]+\}", template))
    return frozenset(piece for piece in found if len(piece) >= _PIECE)
