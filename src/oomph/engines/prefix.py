"""What stands before a line because of what carried it, not because of who said it.

Knows the prefixes of Compose, Kubernetes, container runtimes, journald, the kernel's ring buffer, clocks, and quotes.
Does not know any engine's own prefix.
"""

import re
from typing import Final

_FOREIGN: Final = re.compile(
    r"""(?:
      (?:>[ \t]?){1,8}                                                              # quoted in a thread
    | [A-Za-z0-9][\w./-]{0,80}[ \t]{0,40}\|[ \t]                                    # docker compose
    | \[?(?:pod|container)/[\w./-]{1,200}\]?[ \t]                                   # kubectl logs --prefix
    | \[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?
      (?:Z|[ ]?[+-][0-9]{2}:?[0-9]{2})?\]?[ \t]+(?:std(?:out|err)[ ][FP][ ])?     # a clock, that of a runtime
    | [A-Z][a-z]{2}[ ][ 0-9][0-9][ ][0-9]{2}:[0-9]{2}:[0-9]{2}[ ]\S{1,100}[ ][\w./@-]{1,80}(?:\[[0-9]{1,10}\])?:[ ]
    | \[[A-Z][a-z]{2}[ ][A-Z][a-z]{2}[ ]{1,2}[0-9]{1,2}[ ][0-9:]{8}[ ][0-9]{4}\][ ]       # dmesg -T
    | \[[ ]{0,8}[0-9]{1,10}\.[0-9]{1,6}\][ ]                                        # dmesg
    | (?:TRACE|DEBUG|INFO|WARN|ERROR)[ ]{1,4}PyProcess[ ]\S{1,80}:[ ]               # a model server of DJL
    | \|[ \t]                                                                       # a group of exceptions
    | [\w.-]{1,40}\[[0-9]{1,10}\]:[ ]                                              # a process in a journal
    | (?:HOST|[0-9]{1,4}(?:\.[0-9]{2,3}){3})[ ](?=[EWID][ ])                        # llama.cpp's clock
    | [EWID][ ](?=(?:ggml|llama|common|srv|sched|load|main|graph|slot)\w*)                     # llama.cpp's level
    )""",
    re.VERBOSE,
)
_LAYERS: Final = 6  # of carriers, one in the other


def bare(text: str) -> str:
    """The line as it was said."""
    text = text.strip()
    for _ in range(_LAYERS):
        found = _FOREIGN.match(text)
        if found is None:
            return text
        text = text[found.end() :].lstrip()
    return text
