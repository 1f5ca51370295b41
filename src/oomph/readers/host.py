"""The machine around the cards, from the files in which the kernel tells of it.

Knows /proc, /sys, /dev/shm and the signs of containers, of WSL and of boards whose cards have no memory of their own.
Everything is read below a root, which is `/` unless the host is mounted elsewhere; nothing needs root's rights.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from oomph.ledger.probe import Host
from oomph.readers.bounded import read_small
from oomph.readers.cgroup import memberships, read_group
from oomph.readers.printable import printable
from oomph.units import KIB, Bytes

_LINE: Final = re.compile(r"^(?P<name>\w+):\s+(?P<size>[0-9]{1,15}) kB$", re.MULTILINE)
_SHM: Final = re.compile(r"^\S+ /dev/shm tmpfs \S*\bsize=(?P<size>[0-9]{1,15})k\b", re.MULTILINE)
_SIGNS: Final = {  # in the name of a control group, or of what the root is mounted from
    "kubepods": "kubernetes",
    "libpod": "podman",
    "docker": "docker",
    "containerd": "containerd",
    "lxc": "lxc",
}


def read_host(root: Path, environment: Mapping[str, str]) -> Host:
    """What this process may see of its machine."""
    memory = _memory(root)
    group = read_group(root)
    shm_total, shm_free = _shared(root)
    version = read_small(root / "proc/version") or ""
    return Host(
        total=memory.get("MemTotal"),
        available=memory.get("MemAvailable"),
        page_cache=_page_cache(memory),
        limit=group.limit,
        used=group.used,
        used_by_cache=group.used_by_cache,
        swap_total=memory.get("SwapTotal"),
        swap_free=memory.get("SwapFree"),
        shm_total=shm_total,
        shm_free=shm_free,
        wsl="microsoft" in version.lower(),
        container=_container(root, environment),
        kernel=_line(root / "proc/sys/kernel/osrelease"),
        board=_board(root),
    )


def _memory(root: Path) -> dict[str, Bytes]:
    text = read_small(root / "proc/meminfo") or ""
    return {line["name"]: Bytes(int(line["size"]) * KIB) for line in _LINE.finditer(text)}


def _page_cache(memory: Mapping[str, Bytes]) -> Bytes | None:
    """Files in memory. The kernel counts shared memory as cached too, but cannot drop it."""
    if "Cached" not in memory:
        return None
    held = memory["Cached"] + memory.get("Buffers", 0) - memory.get("Shmem", 0)
    return Bytes(max(held, 0))


def _shared(root: Path) -> tuple[Bytes | None, Bytes | None]:
    """Total and free of /dev/shm, from itself where it is mounted, else the size that the mount table gives it."""
    folder = root / "dev/shm"
    try:
        if folder.stat().st_dev != folder.parent.stat().st_dev:
            room = os.statvfs(folder)
            return Bytes(room.f_blocks * room.f_frsize), Bytes(room.f_bavail * room.f_frsize)
    except (OSError, AttributeError):  # no such folder, or no such question on this system
        pass
    mounted = _SHM.search(read_small(root / "proc/self/mounts") or "")
    return (None if mounted is None else Bytes(int(mounted["size"]) * KIB)), None


def _container(root: Path, environment: Mapping[str, str]) -> str | None:
    """What runs us, by the strongest sign; None where nothing says that anything does."""
    if "KUBERNETES_SERVICE_HOST" in environment:
        return "kubernetes"
    groups = memberships(root)
    named = next((name for sign, name in _SIGNS.items() if sign in groups), None)
    if named is not None:
        return named
    for file, name in ((".dockerenv", "docker"), ("run/.containerenv", "podman")):
        if read_small(root / file, 1) is not None:
            return name
    return _line(root / "run/systemd/container") or _mounted_by(root)


def _mounted_by(root: Path) -> str | None:
    """Of an overlay as the root, whose it is."""
    mounts = (read_small(root / "proc/self/mounts") or "").splitlines()
    options = next((line for line in mounts if line.startswith("overlay / overlay ")), "")
    return next((name for sign, name in _SIGNS.items() if sign in options), None)


def _board(root: Path) -> str | None:
    return _line(root / "proc/device-tree/model") or _line(root / "sys/class/dmi/id/product_name")


def _line(path: Path) -> str | None:
    text = read_small(path, 4 * KIB)
    return None if text is None else printable(text.replace("\0", "")) or None
