"""Where the repository is, and its own files: what git tracks or would."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def files(*suffixes: str) -> list[Path]:
    """Tracked and new files with these endings; all of them where none is named."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - git is git
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    return sorted(path for path in paths if path.is_file() and (not suffixes or path.suffix in suffixes))
