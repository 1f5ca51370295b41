"""The real promtool, asked of files in a folder."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def promtool(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What it says; a test that needs it is skipped where it is not installed, but not in CI."""
    found = shutil.which("promtool")
    if found is None:
        reason = "no promtool on the path (Debian: apt-get install prometheus)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return subprocess.run([found, *words], cwd=folder, capture_output=True, text=True, check=False)
