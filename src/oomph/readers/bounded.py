"""Small files of the kernel and of the system: read at most so much, wait for nothing, follow nothing.

Knows that whoever runs beside us may put a link, a pipe or an endless file where a small one is expected.
"""

import os
import stat
from pathlib import Path
from typing import Final

from oomph.units import KIB

_LIMIT: Final = 64 * KIB
_CAREFULLY: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def read_small(path: Path, limit: int = _LIMIT) -> str | None:
    """The beginning of that file; None where there is none, or none that may be read."""
    try:
        file = os.open(path, _CAREFULLY)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        return _up_to(file, limit).decode(errors="replace")
    except OSError:
        return None
    finally:
        os.close(file)


def _up_to(file: int, limit: int) -> bytes:
    """The kernel hands out some of its files a page at a time."""
    read = b""
    while len(read) < limit and (more := os.read(file, limit - len(read))):
        read += more
    return read
