"""The same logs as other tools hand them out: behind timestamps and names, in JSON, coloured, quoted, broken.

Knows how logs are wrapped. An explanation must not depend on it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Final

from explained.marks import Marks, marks

_BROKEN: Final = 110  # columns of a terminal from which was pasted


def _each(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda log: "\n".join(change(line) for line in log.splitlines()) + "\n"


def _broken(line: str) -> str:
    return "\n".join(wrap(line, _BROKEN, break_on_hyphens=False, drop_whitespace=False)) or line


WRAPPINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "as it is": lambda log: log,
    "Kubernetes": _each(lambda line: f"2026-05-01T10:00:00.123456789Z stderr F {line}"),
    "Docker Compose": _each(lambda line: f"vllm-server-1  | {line}"),
    "journald": _each(lambda line: f"May 01 10:00:00 host-7 vllm[4242]: {line}"),
    "JSON lines": _each(
        lambda line: json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "2026-05-01T10:00:00Z"})
    ),
    "colours": _each(lambda line: f"\x1b[31m{line}\x1b[0m"),
    "a quote": _each(lambda line: f"> {line}"),
    "line ends of Windows": lambda log: log.replace("\r\n", "\n").replace("\n", "\r\n"),
    f"broken at {_BROKEN} columns": _each(_broken),
}


def held(all_marks: Sequence[Marks]) -> Iterator[tuple[str, float, float]]:
    """Of each wrapping, how often cause and phase are right in it, of all records."""
    for name, wrapping in WRAPPINGS.items():
        found = marks(replace(each.answer.crash, log=wrapping(each.answer.crash.log)) for each in all_marks)
        yield name, sum(each.good for each in found) / len(found), sum(each.phase for each in found) / len(found)
