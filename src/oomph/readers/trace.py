"""A trace of requests, or an engine that counted them → the traffic they make.

Knows JSONL of lengths, a page of vLLM's metrics in a file, and the address of a running engine. A file of any size is
read once in bounded memory: lengths are counted exactly, and some thousand requests are kept as they came. A line
that says no lengths is refused by its number; where more than one in a hundred does, so is the file.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import IO, Final

from oomph.engines.vllm.scraped import LONGEST, scrapes
from oomph.errors import UnreadableError, UsageError
from oomph.ledger.scrape import Scrape
from oomph.ledger.traffic import Traffic
from oomph.readers.counted import Counted, traffic_of
from oomph.readers.trace_line import request
from oomph.units import MIB

_LINE: Final = 16 * MIB  # of one line; logged answers with their text are some 100 KiB
_EARLY: Final = 10_000  # lines after which a file of mostly refused lines is given up


def read_traffic(where: str) -> Traffic:
    """From a file, `-` for what is piped in, or the address of an engine."""
    if where.startswith(("http://", "https://")):
        from oomph.readers.scrape import scrape_once  # noqa: PLC0415 - brings a client of HTTP

        at_most, found = scrape_once(where)
        return _counted_by_engine(found, where, at_most=at_most)
    with _opened(where) as file:
        first = file.readline(_LINE)
        lines = chain((first,), iter(lambda: file.readline(_LINE), b""))
        if first.lstrip()[:1] in {b"#", b"v", b"p"}:
            return _page(lines, where)
        return _trace(lines, where)


@contextmanager
def _opened(where: str) -> Iterator[IO[bytes]]:
    try:
        with nullcontext(sys.stdin.buffer) if where == "-" else open(where, "rb") as file:  # noqa: PTH123 - as typed
            yield file
    except OSError as trouble:
        message = f"the trace {where} cannot be read: {trouble.strerror or trouble} (give a file, - or http://…)"
        raise UsageError(message) from None


def _page(lines: Iterable[bytes], where: str) -> Traffic:
    text, size = [], 0
    for line in lines:
        text.append(line)
        size += len(line)
        if size > LONGEST:
            message = f"{where} begins like a page of metrics and is larger than any ({LONGEST:,} bytes)"
            raise UnreadableError(message)
    found = scrapes(b"".join(text).decode(errors="replace"), at=0.0)
    return _counted_by_engine(found, where, at_most=None)


def _counted_by_engine(found: tuple[Scrape, ...], where: str, *, at_most: int | None) -> Traffic:
    made = traffic_of(found, source=where, at_most=at_most)
    if isinstance(made, str):
        message = f"{where}: {made}"
        raise UnreadableError(message)
    return made


def _trace(lines: Iterable[bytes], where: str) -> Traffic:
    counted = Counted()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(line) >= _LINE:
            message = f"line {number} of {where} is longer than {_LINE:,} bytes: one request a line is read"
            raise UnreadableError(message)
        try:
            counted.add(request(_object(line)))
        except (ValueError, RecursionError) as wrong:
            counted.refuse(f"line {number}: {_said(wrong)}")
            if number >= _EARLY and counted.too_many_refused:
                break
    return _traffic(counted, where)


def _object(line: bytes) -> dict[str, object]:
    read = json.loads(line)
    if not isinstance(read, dict):
        message = "is no JSON object in braces"
        raise ValueError(message)  # noqa: TRY004 - one kind of refusal for all that a line may be
    return read


def _said(wrong: Exception) -> str:
    if isinstance(wrong, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
        return "is no JSON"
    return str(wrong)


def _traffic(counted: Counted, where: str) -> Traffic:
    if not counted.count:
        hint = f" ({counted.refused[0]})" if counted.refused else ""
        message = (
            f"{where} holds no request{hint}: write one JSON object with prompt_tokens and completion_tokens a line"
        )
        raise UnreadableError(message)
    if counted.too_many_refused:
        message = (
            f"{counted.refused_count:,} of {counted.count + counted.refused_count:,} lines of {where} say no lengths, "
            f"more than one in a hundred: {'; '.join(counted.refused[:3])}"
        )
        raise UnreadableError(message)
    return counted.traffic(where)
