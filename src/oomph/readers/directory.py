"""A model in a directory of this disk: its file names, its small files, its headers.

Knows the disk. Does not know which files matter.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from oomph.errors import UnreadableError
from oomph.ledger.checkpoint import Tensor
from oomph.readers import safetensors


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """One directory, as it was when it was listed."""

    path: Path
    source: str
    names: frozenset[str]

    @classmethod
    def open(cls, path: Path, *, source: str | None = None) -> Self:
        """List what is in it; folders in it do not count."""
        try:
            with os.scandir(path) as entries:
                names = frozenset(entry.name for entry in entries if entry.is_file())
        except OSError as error:
            message = f"{path} cannot be listed: {error.strerror} (check its permissions)"
            raise UnreadableError(message) from None
        return cls(path=path, source=source or str(path), names=names)

    def content(self, name: str, *, limit: int) -> bytes:
        """The bytes of a small file; of one beyond the limit, just enough to see that it is."""
        return read_small(self.path / name, limit=limit)

    def headers(self, names: Sequence[str]) -> Iterator[tuple[Tensor, ...]]:
        """The tensors of each file, one file after the other."""
        return (safetensors.read_file(self.path / name) for name in names)


def read_small(path: Path, *, limit: int) -> bytes:
    """Read a file up to one byte beyond the limit."""
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror} (check its permissions)"
        raise UnreadableError(message) from None
