"""The control groups around this process, version 1 or 2: what they let it have, of host memory and of cards.

Knows that a limit anywhere above counts, and that a container often sees its own group as the root. Reads only below
the given root.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oomph.readers.bounded import read_small
from oomph.units import Bytes

_DEEPEST: Final = 32  # groups above one another
_NO_LIMIT: Final = 1 << 60  # version 1 writes the largest number of pages for none


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The tightest limit on host memory, and what is used under it."""

    limit: Bytes | None = None
    used: Bytes | None = None
    used_by_cache: Bytes | None = None


def read_group(root: Path) -> Group:
    """Of all groups around us, the one that lets us have the least."""
    limited = [
        (limit, folder, used)
        for controller, mount, most, used in (
            ("", "sys/fs/cgroup", "memory.max", "memory.current"),
            ("memory", "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
        )
        for folder in _around(root, controller, root / mount)
        if (limit := _limit(read_small(folder / most))) is not None
    ]
    if not limited:
        return Group()
    limit, folder, used = min(limited, key=lambda each: each[0])
    return Group(limit=limit, used=_limit(read_small(folder / used)), used_by_cache=_cached(folder))


def read_device_limits(root: Path) -> dict[str, Bytes]:
    """How much memory of each card our groups let us have, by its place on the bus; drivers of 2026 can do this."""
    least: dict[str, Bytes] = {}
    for folder in _around(root, "", root / "sys/fs/cgroup"):
        for line in (read_small(folder / "dmem.max") or "").splitlines():
            region, _, most = line.partition(" ")
            parts, limit = region.split("/"), _limit(most)
            if len(parts) == 3 and parts[2].startswith("v") and limit is not None:  # noqa: PLR2004 - maker/place/vidmem
                least[parts[1].lower()] = min(limit, least.get(parts[1].lower(), limit))
    return least


def memberships(root: Path) -> str:
    """The kernel's own list of our groups."""
    return read_small(root / "proc/self/cgroup") or ""


def _around(root: Path, controller: str, mount: Path) -> Iterator[Path]:
    """Our group and all above it, as far as they can be seen; the last is the mount itself."""
    path = next((path for names, path in _member_of(root) if controller in names), "/")
    parts = [part for part in path.split("/") if part not in {"", ".", ".."}][:_DEEPEST]
    for depth in range(len(parts), -1, -1):
        yield mount.joinpath(*parts[:depth])


def _member_of(root: Path) -> Iterator[tuple[list[str], str]]:
    for line in memberships(root).splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        yield names.split(","), path


def _limit(text: str | None) -> Bytes | None:
    written = (text or "").strip()
    if not (written.isascii() and written.isdecimal() and len(written) <= len(str(_NO_LIMIT))):
        return None
    return Bytes(written) if int(written) < _NO_LIMIT else None


def _cached(folder: Path) -> Bytes | None:
    """Files that the kernel may drop; of shared memory, which it may not, there are none in it."""
    lines = dict(line.split(" ", 1) for line in (read_small(folder / "memory.stat") or "").splitlines() if " " in line)
    sizes = [
        next((size for key in (f"total_{kind}", kind) if (size := _limit(lines.get(key))) is not None), None)
        for kind in ("active_file", "inactive_file")
    ]
    known = [size for size in sizes if size is not None]
    return Bytes(sum(known)) if known else None
