"""A log: a file, standard input, compressed or not → the lines that are worth reading, with their numbers.

Knows how logs are wrapped: gzip, UTF-16 from a Windows shell, JSON lines, colours, control characters, the escapes of
a forum. Reads as a stream: a block is looked through for a few words at once, and only lines that hold one are cut
out, so that memory is bounded however long the log or a line of it is. Does not know what a line means.
"""

import codecs
import gzip
import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import Final, cast

from oomph.errors import UnreadableError, UsageError

_BLOCK: Final = 1 << 18  # bytes looked through at once
_BEFORE: Final = 1 << 12  # bytes of an endless line that are taken before the word that was found
_AFTER: Final = 1 << 17  # and after it: all arguments of a start-up stand on one line
_DENSE: Final = 600  # lines of a block that hold a hint, after which all are given
_LONGEST: Final = _BEFORE + _AFTER  # bytes of a line
_END: Final = 1 << 16  # bytes of either end of a longer one that are read
_ENDLESS: Final = 1 << 20  # bytes without a line's end
_COLOURS: Final = re.compile(r"(?:\x1b|\x9b|\^\[|#033)\[?[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_ESCAPED: Final = re.compile(r"\\([\[\]_*<>#~`|()])")  # as forums and issue trackers hand out what was pasted
_MESSAGE: Final = ("message", "msg", "log", "textPayload", "text", "body", "event", "MESSAGE", "line", "Message")


def read_log(
    where: str, *, hints: Sequence[bytes], first_hints: Sequence[bytes], after: int = 0, ends: bool = False
) -> Iterator[tuple[int, str]]:
    """Number and text of every line that holds a hint; a block without any of the first hints is passed over.

    `after` is how many lines are given after each that holds one. With `ends`, the first block and the last are given
    whole: how a log begins and how it ends may matter whatever it says.
    """
    every, first = ([re.compile(re.escape(hint)) for hint in some] for some in (hints, first_hints))
    try:
        with _opened(where) as stream:
            for number, block, at_end in _ended(_blocks(_chunks(stream))):
                if ends and at_end:
                    yield from _cut(block, 0, len(block), number)
                elif len(block) >= _ENDLESS and b"\n" not in block:  # of one line, only the first hints are looked for
                    yield from _lines(block, number, first, 0)
                elif number == 1 or any(hint.search(block) for hint in first):
                    yield from _lines(block, number, every, after)
    except (EOFError, zlib.error, gzip.BadGzipFile) as broken:
        message = f"{where} is compressed, but cut off or damaged: {broken} (zcat gives what is left of it)"
        raise UnreadableError(message) from None
    except OSError as trouble:
        message = f"{where} cannot be read: {trouble.strerror or trouble}"
        raise UnreadableError(message) from None


def _ended(blocks: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes, bool]]:
    """Each block with whether it is the first or the last."""
    held, first = next(blocks, None), True
    for block in blocks:
        if held is not None:
            yield *held, first
        held, first = block, False
    if held is not None:
        yield *held, True


def _opened(where: str) -> AbstractContextManager[BufferedReader]:
    if where == "-":
        return nullcontext(cast("BufferedReader", sys.stdin.buffer))
    try:
        return Path(where).open("rb")
    except IsADirectoryError:
        message = f"{where} is a directory: give the log in it"
        raise UsageError(message) from None
    except (FileNotFoundError, ValueError):
        message = f"no log {where[:200]!r}: there is no such file (write - to read what is piped in)"
        raise UsageError(message) from None


def _chunks(stream: BufferedReader) -> Iterator[bytes]:
    """Plain bytes, by what the stream begins with and not by what it is called."""
    begin = stream.peek(2)[:2]
    if begin == b"\x1f\x8b":
        stream = gzip.GzipFile(fileobj=stream)  # type: ignore[assignment]  # it reads as the other does
    whole = iter(lambda: stream.read(_BLOCK), b"")
    if begin not in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        return whole
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    return (decoder.decode(chunk).encode("utf-8", "replace") for chunk in whole)


def _blocks(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Whole lines, with the number of the first; a line without end is cut."""
    number, carried = 1, b""
    for chunk in chunks:
        held = carried + chunk
        cut = held.rfind(b"\n") + 1
        if cut == 0 and len(held) < _ENDLESS:
            carried = held
            continue
        block, carried = held[: cut or None], held[cut:] if cut else b""
        yield number, block
        number += block.count(b"\n")
    if carried:
        yield number, carried


def _lines(block: bytes, number: int, hints: Sequence[re.Pattern[bytes]], after: int) -> Iterator[tuple[int, str]]:
    """The lines that hold a hint and those after them, each once, cut where they are endless."""
    counted = 0
    for begin, end in _merged(sorted(_found(block, hints, after))):
        number += block.count(b"\n", counted, begin)
        counted = begin
        yield from _cut(block, begin, end, number)


def _cut(block: bytes, begin: int, end: int, number: int) -> Iterator[tuple[int, str]]:
    for line in block[begin:end].split(b"\n"):
        for part in (line,) if len(line) <= _LONGEST else (line[:_END], line[-_END:]):
            for text in _unwrapped(part.decode(errors="replace")):
                yield number, text
        number += 1


def _merged(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans that overlap, as one."""
    held: tuple[int, int] | None = None
    for begin, end in spans:
        if held is not None and begin <= held[1]:
            held = held[0], max(held[1], end)
            continue
        if held is not None:
            yield held
        held = begin, end
    if held is not None:
        yield held


def _found(block: bytes, hints: Sequence[re.Pattern[bytes]], after: int) -> set[tuple[int, int]]:
    spans = set()
    for hint in hints:
        found = hint.search(block)
        while found is not None:
            at = found.start()
            begin, line_end = block.rfind(b"\n", 0, at) + 1, _line_end(block, at)
            end = line_end
            for _ in range(after):
                end = _line_end(block, end + 1)
            spans.add((max(begin, at - _BEFORE), min(end, at + _AFTER)))
            found = hint.search(block, min(line_end, at + _AFTER))
        if len(spans) > _DENSE:
            return {(0, len(block))}
    return spans


def _line_end(block: bytes, at: int) -> int:
    end = block.find(b"\n", at)
    return len(block) if end < 0 else end


def _unwrapped(text: str) -> Iterator[str]:
    """What was logged, without what logged it; a message may have lines of its own, and a progress bar repeats."""
    if text.isprintable() and "{" not in text[:200] and not any(sign in text for sign in ("\\", "^[", "#033")):
        yield from filter(str.strip, [text])
        return
    for part in re.split(r"[\r\n]+", _message(text) or text):
        if clean := _CONTROL.sub("", _COLOURS.sub("", _ESCAPED.sub(r"\1", part))).strip():
            yield clean


def _message(text: str) -> str | None:
    """Of a line of JSON, its message, with the process that vLLM names beside it."""
    begin = text.find("{", 0, 200)
    if begin < 0 or not any(f'"{key}"' in text for key in _MESSAGE):
        return None
    try:
        held = json.loads(text[begin:])
    except (ValueError, RecursionError):
        return None
    parts = [held, *(part for part in held.values() if isinstance(part, dict))]  # as one cloud puts it: jsonPayload
    said = next((part[key] for part in parts for key in _MESSAGE if isinstance(part.get(key), str)), None)
    who, pid = held.get("processName"), held.get("process")
    return f"({who} pid={pid}) {said}" if said and isinstance(who, str) and isinstance(pid, int) else said
