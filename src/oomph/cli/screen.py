"""Where an answer goes: a terminal with colours, a pipe without, or a file.

Knows what a terminal can show. Does not know what is said. A pipe never pays for `rich`.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from oomph.errors import OomphError
from oomph.ledger.ledger import Account
from oomph.write.bars import FILLS, LIKELY
from oomph.write.span import Line, Span, Style, ascii_only, joined

_COLUMNS: Final = 80  # where nobody says how wide the screen is
_STYLES: Final = {
    Style.PLAIN: "",
    Style.STRONG: "bold",
    Style.FAINT: "dim",
    Style.FLAG: "bold cyan",
    Style.FITS: "bold green",
    Style.OVERFLOWS: "bold red",
    Style.UNSURE: "bold yellow",
}
_SOLID: Final = str.maketrans({fill: " " for what, fill in FILLS.items() if isinstance(what, Account)})


def show(lines: Callable[[int], Iterable[Line]]) -> None:
    """Print lines that are made for the width of the screen."""
    made = lines(columns(sys.stdout))
    if colourful(sys.stdout):
        _print_coloured(made)
        return
    fitting = str if _unicode(sys.stdout) else ascii_only
    with until_enough():
        sys.stdout.writelines(f"{fitting(joined(line))}\n" for line in made)


def save(text: str, where: str) -> None:
    """Write a whole answer into a file, or to the standard output for `-`."""
    if where == "-":
        with until_enough():
            sys.stdout.write(text)
        return
    try:
        with open(where, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs more to import than a plan to make
            file.write(text)
    except OSError as trouble:
        message = f"the answer cannot be written to {where}: {trouble.strerror or trouble}"
        raise OomphError(message) from None


@contextmanager
def until_enough() -> Iterator[None]:
    """Whoever reads may have seen enough: then the rest goes nowhere, and the exit status stays what it is."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def columns(stream: TextIO) -> int:
    """How wide the screen is: as COLUMNS says, as the terminal says, or 80."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _COLUMNS
    except (OSError, ValueError):  # not a terminal, or not even a file
        return _COLUMNS


def colourful(stream: TextIO) -> bool:
    """Whether colours are wanted and can be shown."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in {"dumb", "unknown"}
    return not plain and stream.isatty() and _unicode(stream)


def _unicode(stream: TextIO) -> bool:
    try:
        f"{''.join(FILLS.values())}{LIKELY}✓✗│┆→".encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _print_coloured(lines: Iterable[Line]) -> None:
    from rich.console import Console  # noqa: PLC0415 - costs more than the plan
    from rich.text import Text  # noqa: PLC0415 - likewise

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for line in lines:
        console.print(Text.assemble(*(styled(span) for span in line)), end="\n")


def styled(span: Span) -> tuple[str, str]:
    """A span as rich takes it; what fills a bar becomes its colour, with the letter upon it."""
    if isinstance(span.style, Style):
        return span.text, _STYLES[span.style]
    from oomph.write.palette import ACCOUNTS  # noqa: PLC0415 - a pipe has no colours

    ground, ink = ACCOUNTS[span.style]
    if span.text.startswith(LIKELY):
        return span.text, ground
    return span.text.translate(_SOLID), f"{ink} on {ground}"
